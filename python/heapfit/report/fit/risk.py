# SPDX-License-Identifier: Apache-2.0
"""Size against risk: what share of the recordings a region of some size would refuse."""

from __future__ import annotations

from collections.abc import Sequence

from heapfit.fit_result import Fit
from heapfit.report.drawing.figure import ACCENT, Chart, Trace, level


def risk_chart(fit: Fit) -> Chart | None:
    """The share of the recordings whose R_safe is above each region; None for one recording."""
    needs = sorted(run.r_safe for run in fit.runs if run.r_safe is not None)
    if len(needs) < 2:
        return None
    region = fit.answer.size.region
    return Chart(
        identity="chart-risk",
        meaning="Share of the recordings that are refused in the chosen heap, over its region.",
        data=[_refused(needs, region), _chosen(region)],
        layout={
            "hovermode": "closest",
            "xaxis": {"title": {"text": "region, bytes"}, "tickformat": "~s"},
            "yaxis": {
                "title": {"text": "recordings refused"},
                "tickformat": ".0%",
                "range": [0, 1.05],
            },
        },
        height=300,
    )


def _refused(needs: Sequence[int], region: int) -> Trace:
    """Falls by one recording where its R_safe is reached."""
    first = needs[0] - (region - needs[0]) // 4
    x = [first, *needs, max(region, needs[-1]) + (region - first) // 8]
    shares = [1 - i / len(needs) for i in range(len(needs) + 1)]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "recordings",
        "x": x,
        "y": [*shares, 0.0],
        "line": {"shape": "hv", "color": ACCENT, "width": 2},
        "hovertemplate": "%{x:,d} B: %{y:.0%} refused<extra></extra>",
    }


def _chosen(region: int) -> Trace:
    mark = level("set the heap to", [region, region], 0, color="var(--ink)", dash="dash")
    return mark | {"y": [0, 1]}
