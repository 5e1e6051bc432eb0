# SPDX-License-Identifier: Apache-2.0
"""The chart of the choice: what each candidate needs, and what it costs in instructions."""

from __future__ import annotations

from collections.abc import Sequence

from heapfit.comparison.case import ReportCase
from heapfit.comparison.row import Row
from heapfit.design.front.design_front import with_measures
from heapfit.results.chart import ACCENT, Chart, Trace, byte_axis, points
from heapfit.results.number_text import figure_text

_MOST_ADDED = 0.5  # of the peak: what adds more would squeeze all others
_OTHER = "var(--other-1)"
_UNBEATEN = "var(--good)"
_TRACE_SPECIFIC = "var(--quiet)"  # what holds only if every run is this one


def _fits(added: int, row: Row) -> bool:
    return added <= _MOST_ADDED * row.u_max


def trade_chart(case: ReportCase) -> Chart | None:
    """Memory over instructions a call; None if the model knows no candidate."""
    winner, measured = case.winner, with_measures(case.comparison, case.shown)
    unbeaten = measured.unbeaten
    known = [
        (row, time)
        for row in case.comparison.rows
        if row.r_safe is not None and _fits(row.r_safe - row.u_max, row)
        if (time := measured.measures[row.name].time) is not None
    ]
    if not known:
        return None
    others = [pair for pair in known if pair[0] is not winner and not pair[0].is_cut_to_trace]
    kinds = (
        ("other candidates", [one for one in others if one[0].name not in unbeaten], _OTHER),
        ("others that none beats", [one for one in others if one[0].name in unbeaten], _UNBEATEN),
        ("trace-specific", [one for one in known if one[0].is_cut_to_trace], _TRACE_SPECIFIC),
        ("chosen", [one for one in known if one[0] is winner], ACCENT),
    )
    data = [_points(name, pairs, colour) for name, pairs, colour in kinds]
    return Chart(
        identity="chart-trade",
        meaning="Region over mean instructions of a call, for each candidate.",
        data=[one for one in data if one["x"]],
        layout={
            "hovermode": "closest",
            "xaxis": {"title": {"text": "instructions a call, mean (Cortex-M4, model)"}},
            "yaxis": byte_axis("region, bytes") | {"rangemode": "normal"},
        },
        height=340,
        caption="Memory against time: lower and further left is better. Green: no other is as good "
        "in every measure (memory, accesses, energy, instructions, longest call and code) and "
        "better in one. Not shown: candidates that add more than half of the peak, or whose code "
        "was not measured.",
    )


def _points(name: str, known: Sequence[tuple[Row, float]], colour: str) -> Trace:
    marker = {"color": colour, "size": 12 if name == "chosen" else 9}
    times, regions = [time for _, time in known], [row.r_safe for row, _ in known]
    return points(name, times, regions, marker) | {
        "text": [figure_text(row.name) for row, _ in known],
        "hovertemplate": "%{text}: %{y:,d} B, %{x:,.0f} instructions<extra></extra>",
    }
