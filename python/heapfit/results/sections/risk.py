# SPDX-License-Identifier: Apache-2.0
"""Each run as a dot at the bytes that it needs, against the line of the region that is set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from heapfit.results.chart import ACCENT, OTHERS, Chart, Layout, Trace, points, row_axis
from heapfit.results.number_text import count
from heapfit.results.parts import Section

_COLOURS = (ACCENT, OTHERS[2])
_KINDS = (("circle", "", True), ("circle-open", ", out of memory", False))
_ROW = 64  # pixels of a group
_STEPS = 40  # dots closer than so many parts of the scale stand above one another
_APART = 0.13  # of a row, from one of these to the next
_GAP = 0.7  # of the scale: what lies behind such a gap would squeeze all others


Needs: TypeAlias = Sequence[int | None]  # least region for each run, in bytes; None: above all


def risk_section(groups: Mapping[str, Needs], region: int | None, caption: str) -> Section | None:
    """The chart with a row of dots for each group of runs; None if no run's need is known.

    `region` is the one that is set, if there is one.
    """
    shown = {name: needs for name, needs in groups.items() if needs}
    known = [need for needs in shown.values() for need in needs if need is not None]
    if not known:
        return None
    marks = [*known, *([region] if region is not None else [])]
    limit = max(find_limit(marks), region or 0)  # the line is always on the scale
    low, high = min(marks), max(one for one in marks if one <= limit)
    air = max((high - low) // 6, 8)
    ends = (low - air, high + air)
    beyond = sum(need > limit for need in known)
    more = f" At the right edge: {count(beyond)} beyond the scale." if beyond else ""
    line = {"color": "var(--ink)", "width": 2}
    chart = Chart(
        identity="chart-risk",
        meaning="Each run at the bytes of heap that it needs, and the region that is set.",
        data=[
            dots
            for row, group in enumerate(shown.items())
            for dots in _draw_group(group, row, region, ends)
        ],
        layout={
            "hovermode": "closest",
            "showlegend": False,
            "xaxis": {
                "title": {"text": "bytes of heap that a run needs"},
                "tickformat": ",d",
                "nticks": 5,
                "range": list(ends),
            },
            "yaxis": row_axis("group", [*shown], 0.8),
            "shapes": []
            if region is None
            else [{"x0": region, "line": line, "label": {"text": f"<b>{count(region)} B</b> set"}}],
            "annotations": [
                _name_group(row, f"{name}: {_count_served(needs, region)}")
                for row, (name, needs) in enumerate(shown.items())
            ],
        },
        height=80 + _ROW * len(shown),
        caption=f"{caption}{more}",
    )
    return Section("risk", "Will it hold?", [chart])


def _name_group(row: int, text: str) -> Layout:
    return {"place": 0.01, "y": row - 0.28, "xanchor": "left", "text": text, "bgcolor": "veil"}


def _count_served(needs: Needs, region: int | None) -> str:
    if region is None:
        return str(len(needs))
    return f"{sum(need is not None and need <= region for need in needs)} of {len(needs)} served"


def find_limit(values: Sequence[int]) -> int:
    """The largest value that is on the scale: those behind a wide gap would squeeze all others.

    >>> find_limit([100, 104, 110]), find_limit([100, 104, 110, 900])
    (110, 110)
    """
    ordered = sorted(set(values))
    whole = ordered[-1] - ordered[0]
    for below, above in pairwise(ordered[1:]):
        if above - below > _GAP * whole:
            return below
    return ordered[-1]


def _draw_group(
    group: tuple[str, Needs], row: int, region: int | None, ends: tuple[int, int]
) -> list[Trace]:
    """The dots of a group: filled where the region serves the run, open where it does not."""
    name, needs = group
    step = max((ends[1] - ends[0]) // _STEPS, 1)
    heights = Counter[int]()
    dots: list[tuple[int, int, float]] = []  # place, need, y
    for need in sorted(need for need in needs if need is not None):
        place = min(need, ends[1])
        dots.append((place, need, row + 0.3 - _APART * min(heights[place // step], 5)))
        heights[place // step] += 1
    marker = {"color": _COLOURS[row % len(_COLOURS)], "size": 11}
    return [
        points(
            f"{name}{remark}",
            [place for place, _, _ in some],
            [y for _, _, y in some],
            marker | {"symbol": symbol},
        )
        | {
            "whole": [need for _, need, _ in some],
            "text": [f"{count(need)} B" for _, need, _ in some],
            "hovertemplate": "%{text}<extra></extra>",
        }
        for symbol, remark, is_served in _KINDS
        if (some := [one for one in dots if (region is None or one[1] <= region) is is_served])
    ]
