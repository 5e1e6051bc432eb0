# SPDX-License-Identifier: Apache-2.0
"""A league of allocators: what `heapfit compare --output` prints of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

from heapfit.league import League, Standing
from heapfit.results.league.verdict import LEARNED, verdicts
from heapfit.results.parts import Column, Fields, Line, Part, Table, columns, paragraph

_SHOWN = 12  # lines of a table; the files have all


def league_parts(
    league: League, standings: Sequence[Standing], paths: Sequence[Path]
) -> Iterator[Part]:
    """Verdicts, a table for each alignment and way of learning, and the files."""
    yield Fields(
        {
            "recordings": len(league.recordings),
            "rows": len(league.rows),
            "jobs_measured": league.measured,
            "jobs_reused": league.reused,
            "files": [str(path) for path in paths],
        }
    )
    for sentence in verdicts(standings):
        yield from paragraph(sentence)
    yield Line("")
    yield Table(columns(*(field.name for field in fields(Standing))), standings, "standings")
    for alignment in sorted({one.alignment for one in standings}):
        for learned, learning in LEARNED.items():
            these = [
                one for one in standings if (one.alignment, one.learned) == (alignment, learned)
            ]
            if these:
                yield Line(f"Blocks aligned to {alignment} B, {learning}; R_safe / U_max:")
                yield Table(_COLUMNS, these, shown=these[:_SHOWN])
                yield Line(_describe_hidden(len(these)))
    yield Line(
        f"{len(league.recordings)} recordings, {league.measured} jobs measured, "
        f"{league.reused} reused."
    )
    yield from (Line(str(path)) for path in paths)


def _describe_hidden(count: int) -> str:
    return f"The page has {count - _SHOWN} more.\n" if count > _SHOWN else ""


def _format_figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


_COLUMNS: tuple[Column[Standing], ...] = (
    Column(heading="entrant", value=lambda one: one.entrant[:26]),
    Column(heading="interface", value=lambda one: one.interface),
    Column(heading="served", value=lambda one: f"{one.served}/{one.recordings}"),
    Column(heading="median", value=lambda one: _format_figure(one.median, 4)),
    Column(heading="worst", value=lambda one: _format_figure(one.worst, 3)),
    Column(heading="least on", value=lambda one: one.best_on),
    Column(heading="accesses", value=lambda one: _format_figure(one.accesses, 1)),
)
