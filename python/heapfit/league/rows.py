# SPDX-License-Identifier: Apache-2.0
"""A row of the league: the figures of one entrant on one recording."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Final

PLAIN: Final = "plain"  # nothing of any recording is in it
THIS_RUN: Final = "this run"  # learned from the recording that it is measured on
OTHER_RUN: Final = "another run"  # from another run of the same program

CORE, BASELINE, DESIGN, PLUGIN = "core", "baseline", "design", "plug-in"
LIBRARY: Final = "library"  # the heap of a C library, measured on the board
KINDS: Final = (CORE, DESIGN, BASELINE, PLUGIN, LIBRARY)
UNSIZED, SIZED, IN_PIECES = "unsized", "with sized deallocation", "in pieces"


@dataclass(frozen=True, slots=True)
class LeagueRow:
    """One entrant's figures on one recording; sizes in bytes, None where there is no figure."""

    recording: str
    content: str  # hash of what decides a replay
    recorded_bits: int  # of a pointer of the recorded program; 0: unknown
    events: int  # of the recording
    alignment: int  # of every block
    kind: str  # of KINDS
    entrant: str
    interface: str  # what callers pass or follow: UNSIZED, SIZED, IN_PIECES
    bits: int  # of a pointer of the allocator's build; core's layout is that of 32
    learned: str  # PLAIN, THIS_RUN, OTHER_RUN
    learned_from: str  # that run's name; "" of plain ones
    u_max: int  # most live bytes of the recording
    packing: int  # height of a placement with all lifetimes known: no promise that less exists
    r_min: int | None  # smallest region that succeeds
    r_safe: int | None  # smallest that succeeds above all that failed
    step: int  # between scanned regions; 0: none was scanned
    accesses: float | None  # loads and stores of metadata, an operation
    instructions: float | None  # a call on a Cortex-M4: ours modelled, others' emulated
    code: int | None  # of init, alloc, free on a Cortex-M4, linked; ours at safety level 1
    stack: int | None  # of the deepest call, emulated there; None of ours
    worst_case: str  # of a call, in the allocator's own words; "" where it states none
    faults: str  # of a plug-in, by name, parted by "; "
    note: str
    events_replayed: int  # by the search for its regions: what the row cost
    stamp: str  # begins the hash of the code that was measured

    @property
    def over_u_max(self) -> float | None:
        """The ratio R_safe / U_max; no allocator can get below 1."""
        return None if self.r_safe is None else self.r_safe / max(self.u_max, 1)


FIELDS: Final = tuple(field.name for field in fields(LeagueRow))


def row_order(row: LeagueRow) -> tuple[str, int, int, str, str, str]:
    """The sort key of rows, independent of when they were measured."""
    kind = KINDS.index(row.kind)
    return (row.recording, row.alignment, kind, row.entrant, row.learned, row.learned_from)


def row_to_dict(row: LeagueRow) -> dict[str, Any]:
    """The row as a dictionary for JSON."""
    return asdict(row)


def row_from_dict(values: dict[str, Any]) -> LeagueRow:
    """The row of a dictionary; TypeError or ValueError if it is not of a row."""
    if values.keys() != set(FIELDS):
        raise ValueError("not the fields of a row")
    return LeagueRow(**values)
