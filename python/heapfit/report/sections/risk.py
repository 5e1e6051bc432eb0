# SPDX-License-Identifier: Apache-2.0
"""The risk by size: the share of runs that are out of memory in a region of each size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heapfit.report.drawing.figure import ACCENT, OTHERS, Chart, Trace, level

_LEAST_RUNS = 2  # that make a curve
_COLOURS = (ACCENT, OTHERS[0], OTHERS[2])


@dataclass(frozen=True, slots=True)
class RunGroup:
    """A group of runs, seen or unseen."""

    name: str
    needs: tuple[int | None, ...]  # least region for each, in bytes; None: above all tried


@dataclass(frozen=True, slots=True)
class Risk:
    """The risk chart, and its caption."""

    chart: Chart
    caption: str

    @property
    def charts(self) -> list[Chart]:
        """The risk chart alone."""
        return [self.chart]


def risk_of(groups: Sequence[RunGroup], region: int | None, caption: str) -> Risk | None:
    """The risk chart with a curve for each group; None if there are too few runs.

    `region` is the one that is set, if there is one.
    """
    shown = [one for one in groups if one.needs]
    known = [need for one in shown for need in one.needs if need is not None]
    if not known or sum(len(one.needs) for one in shown) < _LEAST_RUNS:
        return None
    marked = [region] if region is not None else []
    low, high = min([*known, *marked]), max([*known, *marked])
    air = max((high - low) // 8, 8)
    ends = (low - air, high + air)
    data = [
        _risk_curve(one, ends, _COLOURS[place % len(_COLOURS)]) for place, one in enumerate(shown)
    ]
    chart = Chart(
        identity="chart-risk",
        meaning="Share of the runs that run out of memory, over the size of the region.",
        data=[*data, *map(_region_mark, marked)],
        layout={
            "hovermode": "closest",
            "xaxis": {
                "title": {"text": "region, bytes"},
                "tickformat": "~s",
                "range": list(ends),
            },
            "yaxis": {
                "title": {"text": "runs out of memory"},
                "tickformat": ".0%",
                "range": [0, 1.05],
            },
        },
        height=300,
    )
    return Risk(chart, caption)


def _risk_curve(group: RunGroup, ends: tuple[int, int], colour: str) -> Trace:
    """A curve of the share refused, which falls by one run where its need is reached."""
    known = sorted(need for need in group.needs if need is not None)
    runs = len(group.needs)
    x = [ends[0], *known, ends[1]]
    shares = [1 - i / runs for i in range(len(known) + 1)]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"{group.name} ({runs})",
        "x": x,
        "y": [*shares, shares[-1]],
        "line": {"shape": "hv", "color": colour, "width": 2},
        "hovertemplate": f"%{{x:,d}} B: %{{y:.0%}} of {group.name} out of memory<extra></extra>",
    }


def _region_mark(region: int) -> Trace:
    mark = level("set the heap to", [region, region], 0, color="var(--ink)", dash="dash")
    return mark | {"y": [0, 1]}
