# SPDX-License-Identifier: Apache-2.0
"""The page of a league: who needs least memory, at what cost, on which recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.league import League, LeagueRow, Standing
from heapfit.report.drawing import rendering
from heapfit.report.drawing.figure import COLOURS, Chart, Trace, marked_line

_TEMPLATE = Path(__file__).with_name("league.html.j2")
_MOST_SHOWN = 14  # entrants in a chart; the tables have all
LEARNED = {
    "plain": "nothing learned",
    "this run": "learned from the recording itself",
    "another run": "learned from another run of the program",
}


@dataclass(frozen=True, slots=True)
class Section:
    """Those who can be compared: one alignment, learned one way."""

    identity: str  # of the element
    title: str
    learned: str
    charts: tuple[Chart, ...]
    standings: tuple[Standing, ...]


def render(league: League, standings: Sequence[Standing], command: str) -> str:
    """The page as text, the same for the same league; `command` is what was typed."""
    sections = _sections(league, standings)
    charts = [chart for section in sections for chart in section.charts]
    return rendering.render(
        _TEMPLATE,
        "league",
        charts,
        sections=sections,
        recordings=league.recordings,
        entrants=league.entrants,
        rows=len(league.rows),
        wide=len({row.recording for row in league.rows if row.recorded_bits == 64}),
        command=command,
    )


def _sections(league: League, standings: Sequence[Standing]) -> list[Section]:
    found = []
    for alignment in sorted({one.alignment for one in standings}):
        for number, (learned, told) in enumerate(LEARNED.items()):
            these = tuple(
                one for one in standings if (one.alignment, one.learned) == (alignment, learned)
            )
            if these:
                rows = [
                    row
                    for row in league.rows
                    if (row.alignment, row.learned) == (alignment, learned)
                ]
                identity = f"aligned-{alignment}-{number}"
                title = f"Blocks aligned to {alignment} B, {told}"
                charts = (_memory(identity, rows, these), _cost(identity, these))
                found.append(Section(identity, title, learned, charts, these))
    return found


def _memory(identity: str, rows: Sequence[LeagueRow], standings: Sequence[Standing]) -> Chart:
    """A mark for each recording, an entrant a column."""
    names = [one.entrant for one in standings[:_MOST_SHOWN]]
    known = [row for row in rows if row.entrant in names and row.over_u_max is not None]
    known.sort(key=lambda row: (names.index(row.entrant), row.recording))
    ratios = [round(row.over_u_max or 0, 4) for row in known]
    marks = marked_line("a recording", [row.entrant for row in known], ratios, COLOURS[0])
    medians = [one for one in standings[:_MOST_SHOWN] if one.median is not None]
    middle = marked_line(
        "median", [one.entrant for one in medians], [round(one.median or 0, 4) for one in medians],
        COLOURS[1],
    )  # fmt: skip
    return Chart(
        identity=f"chart-memory-{identity}",
        meaning="R_safe over U_max of each recording, by entrant, the lowest median first.",
        data=[_marks_alone(marks), _marks_alone(middle)],
        layout={
            "xaxis": {"type": "category", "title": {"text": ""}},
            "yaxis": {"title": {"text": "R_safe / U_max"}, "type": "log"},
        },
        height=420,
    )


def _cost(identity: str, standings: Sequence[Standing]) -> Chart:
    """Memory beside the accesses of a call: nearer to the corner is better in both."""
    known = [one for one in standings[:_MOST_SHOWN] if one.median and one.accesses is not None]
    data = [
        _marks_alone(
            marked_line(
                one.entrant,
                [round(one.accesses or 0, 2)],
                [round(one.median or 0, 4)],
                COLOURS[number % len(COLOURS)],
            )
        )
        for number, one in enumerate(known)
    ]
    return Chart(
        identity=f"chart-cost-{identity}",
        meaning="Median of R_safe over U_max, over the metadata accesses of a call.",
        data=data,
        layout={
            "xaxis": {"title": {"text": "loads and stores of metadata a call, median"}},
            "yaxis": {"title": {"text": "R_safe / U_max, median"}},
        },
        height=420,
    )


def _marks_alone(curve: Trace) -> Trace:
    return curve | {"mode": "markers"}
