# SPDX-License-Identifier: Apache-2.0
"""Charts of the choice: what each candidate adds to the peak, and what it costs in instructions."""

from __future__ import annotations

from collections.abc import Sequence

from heapfit.comparison.case import ReportCase
from heapfit.comparison.row import Row
from heapfit.design.front.design_front import with_measures
from heapfit.results.chart import (
    ACCENT,
    Chart,
    Trace,
    byte_axis,
    points,
    row_axis,
    row_title,
)
from heapfit.results.number_text import count, figure_text, size

_LONGEST_BAR = 0.5  # of the peak: what adds more is cut there, its figure beside it
_OTHER = "var(--other-1)"
_UNBEATEN = "var(--good)"
_TRACE_SPECIFIC = "var(--quiet)"  # what holds only if every run is this one


def extra_memory_chart(rows: Sequence[Row]) -> Chart:
    """The bytes above the peak that each row needs, cut where a bar would dwarf the others."""
    known = [row for row in rows if row.r_safe is not None]
    added = [(row.r_safe or 0) - row.u_max for row in known]
    fitting = [one for one, row in zip(added, known, strict=True) if _fits(one, row)]
    longest = max([1, *(fitting or added)])
    bars = {
        "type": "bar",
        "orientation": "h",
        "name": "above the peak",
        "x": [min(one, longest) for one in added],
        "whole": added,
        "y": list(range(len(known))),
        "marker": {"color": [ACCENT, *map(_colour, known[1:])]},
        "text": [f"{'… ' if one > longest else ''}<b>+{count(one)} B</b>" for one in added],
    }
    return Chart(
        identity="chart-candidates",
        meaning="Bytes of each candidate's region above the peak of live bytes.",
        data=[bars],
        layout={
            "bargap": 0.62,
            "showlegend": False,
            "hovermode": False,
            "xaxis": {
                "title": {"text": "bytes above the peak U<sub>max</sub>"},
                "range": [0, longest * 1.4],  # room for a figure on a phone
                "tickformat": "~s",
            },
            "yaxis": row_axis("candidate", [row.name for row in known], 0.75),
            "annotations": [
                row_title(row.name, size(row.r_safe), i - 0.26, bgcolor="var(--paper)")
                for i, row in enumerate(known)
            ],
        },
        height=60 + 44 * len(known),
        caption=f"Bytes of each candidate's region above the peak of {size(rows[0].u_max)}; no "
        "heap can go below it. A bar with … before its figure is cut off. Blue: the chosen plan; "
        "grey: trace-specific.",
    )


def _colour(row: Row) -> str:
    return _TRACE_SPECIFIC if row.is_cut_to_trace else _OTHER


def _fits(added: int, row: Row) -> bool:
    return added <= _LONGEST_BAR * row.u_max


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
