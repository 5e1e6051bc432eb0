# SPDX-License-Identifier: Apache-2.0
"""Each run as a dot at the bytes that it needs, against the line of the region that is set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from heapfit.results.chart import ACCENT, OTHERS, Chart, Layout, Trace, points, row_axis
from heapfit.results.number_text import count
from heapfit.results.parts import Section

_COLOURS = (ACCENT, OTHERS[2])
_ROW = 64  # pixels of a group
_STEPS = 40  # dots closer than so many parts of the scale stand above one another
_APART = 0.13  # of a row, from one of these to the next
_GAP = 0.7  # of the scale: what lies behind such a gap would squeeze all others


@dataclass(frozen=True, slots=True)
class RunGroup:
    """A group of runs, seen or unseen."""

    name: str
    needs: tuple[int | None, ...]  # least region for each, in bytes; None: above all tried


def risk_section(groups: Sequence[RunGroup], region: int | None, caption: str) -> Section | None:
    """The chart with a row of dots for each group; None if no run's need is known.

    `region` is the one that is set, if there is one.
    """
    shown = [one for one in groups if one.needs]
    known = [need for one in shown for need in one.needs if need is not None]
    if not known:
        return None
    marks = [*known, *([region] if region is not None else [])]
    limit = max(find_limit(marks), region or 0)  # the line is always on the scale
    low, high = min(marks), max(one for one in marks if one <= limit)
    air = max((high - low) // 6, 8)
    ends = (low - air, high + air)
    beyond = sum(need > limit for need in known)
    more = f" At the right edge: {count(beyond)} beyond the scale." if beyond else ""
    chart = Chart(
        identity="chart-risk",
        meaning="Each run at the bytes of heap that it needs, and the region that is set.",
        data=[
            dots
            for row, group in enumerate(shown)
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
            "yaxis": row_axis("group", [one.name for one in shown], 0.8),
            "shapes": [_draw_line(region)] if region is not None else [],
            "annotations": [_describe_group(group, row, region) for row, group in enumerate(shown)],
        },
        height=80 + _ROW * len(shown),
        caption=f"{caption}{more}",
    )
    return Section("risk", "Will it hold?", [chart])


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
    group: RunGroup, row: int, region: int | None, ends: tuple[int, int]
) -> list[Trace]:
    """The dots of a group: filled where the region serves the run, open where it does not."""
    step = max((ends[1] - ends[0]) // _STEPS, 1)
    heights = Counter[int]()
    served: list[tuple[int, int, float]] = []
    refused: list[tuple[int, int, float]] = []
    for need in sorted(need for need in group.needs if need is not None):
        place = min(need, ends[1])
        y = row + 0.3 - _APART * min(heights[place // step], 5)
        heights[place // step] += 1
        (refused if region is not None and need > region else served).append((place, need, y))
    colour = _COLOURS[row % len(_COLOURS)]
    kinds = ((served, "circle", ""), (refused, "circle-open", ", out of memory"))
    return [
        points(
            f"{group.name}{remark}",
            [place for place, _, _ in dots],
            [y for _, _, y in dots],
            {"color": colour, "size": 11, "symbol": symbol},
        )
        | {
            "whole": [need for _, need, _ in dots],
            "text": [f"{count(need)} B" for _, need, _ in dots],
            "hovertemplate": "%{text}<extra></extra>",
        }
        for dots, symbol, remark in kinds
        if dots
    ]


def _draw_line(region: int) -> Layout:
    line = {"color": "var(--ink)", "width": 2}
    return {"x0": region, "line": line, "label": {"text": f"<b>{count(region)} B</b> set"}}


def _describe_group(group: RunGroup, row: int, region: int | None) -> Layout:
    runs = len(group.needs)
    served = sum(need is not None and region is not None and need <= region for need in group.needs)
    text = f"{group.name}: {runs}" if region is None else f"{group.name}: {served} of {runs} served"
    return {"place": 0.01, "y": row - 0.28, "xanchor": "left", "text": text, "bgcolor": "veil"}
