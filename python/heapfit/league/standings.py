# SPDX-License-Identifier: Apache-2.0
"""Standings: an entrant's figures over all recordings, by alignment and kind of learning."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from heapfit.league.rows import KINDS, LeagueRow


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
