# SPDX-License-Identifier: Apache-2.0
"""The figures of an entrant of the league on one recording, and its standing over all of them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
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


@dataclass(frozen=True, slots=True)
class Standing:
    """An entrant over all recordings; ratios are R_safe / U_max, over recordings with a figure."""

    alignment: int
    kind: str
    entrant: str
    interface: str
    bits: int
    learned: str
    recordings: int  # measured
    served: int  # of these, where a region is safe
    median: float | None
    worst: float | None
    best_on: int  # recordings on which nobody of the same interface and learning needs less
    accesses: float | None  # median, an operation
    instructions: float | None  # median, a call
    code: int | None  # bytes
    stack: int | None  # bytes, of the deepest call on any recording
    faults: str  # all that were found, by name
    replays: float  # events replayed over those of the recording, mean: what it cost


def standings_of(rows: Sequence[LeagueRow]) -> tuple[Standing, ...]:
    """The standings by alignment; those with most figures first, then by the lowest median."""
    groups: dict[tuple[object, ...], list[LeagueRow]] = {}
    for row in rows:
        groups.setdefault(_standing_key(row), []).append(row)
    least = _least(rows)
    standings = [_standing(group, least) for group in groups.values()]
    return tuple(sorted(standings, key=_order))


def _standing_key(row: LeagueRow) -> tuple[object, ...]:
    return (row.alignment, row.kind, row.entrant, row.interface, row.bits, row.learned)


def _comparable_key(row: LeagueRow) -> tuple[object, ...]:
    """The key of the entrants that can be compared by memory alone."""
    return (row.recording, row.alignment, row.interface, row.learned)


def _least(rows: Iterable[LeagueRow]) -> dict[tuple[object, ...], int]:
    least: dict[tuple[object, ...], int] = {}
    for row in rows:
        if row.r_safe is not None:
            least[_comparable_key(row)] = min(
                row.r_safe, least.get(_comparable_key(row), row.r_safe)
            )
    return least


def _standing(rows: Sequence[LeagueRow], least: dict[tuple[object, ...], int]) -> Standing:
    first = rows[0]
    ratios = [ratio for row in rows if (ratio := row.over_u_max) is not None]
    faults = {name for row in rows for name in row.faults.split("; ") if name}
    return Standing(
        alignment=first.alignment,
        kind=first.kind,
        entrant=first.entrant,
        interface=first.interface,
        bits=first.bits,
        learned=first.learned,
        recordings=len(rows),
        served=len(ratios),
        median=statistics.median(ratios) if ratios else None,
        worst=max(ratios, default=None),
        best_on=sum(
            row.r_safe is not None and row.r_safe == least[_comparable_key(row)] for row in rows
        ),
        accesses=_median(rows, lambda row: row.accesses),
        instructions=_median(rows, lambda row: row.instructions),
        code=first.code,
        stack=max((row.stack for row in rows if row.stack is not None), default=None),
        faults="; ".join(sorted(faults)),
        replays=statistics.fmean(row.events_replayed / max(row.events, 1) for row in rows),
    )


def _median(rows: Iterable[LeagueRow], figure: Callable[[LeagueRow], float | None]) -> float | None:
    known = [value for row in rows if (value := figure(row)) is not None]
    return statistics.median(known) if known else None


def _order(one: Standing) -> tuple[int, int, float, int, str]:
    unknown = float("inf")
    median = unknown if one.median is None else one.median
    return (
        one.alignment,
        -one.served,
        median,
        KINDS.index(one.kind),
        f"{one.entrant} {one.learned}",
    )
