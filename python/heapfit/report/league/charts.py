# SPDX-License-Identifier: Apache-2.0
"""The charts of a league: memory by entrant, and memory over accesses."""

from __future__ import annotations

from collections.abc import Sequence

from heapfit.league import LeagueRow, Standing
from heapfit.report.drawing.figure import COLOURS, Chart, Trace, marked_line

_MOST_SHOWN = 14  # entrants in a chart; the tables have all


def memory_chart(identity: str, rows: Sequence[LeagueRow], standings: Sequence[Standing]) -> Chart:
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


def cost_chart(identity: str, standings: Sequence[Standing]) -> Chart:
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
