# SPDX-License-Identifier: Apache-2.0
"""Charts of the chosen heap over time: how its region fills and fragments."""

from __future__ import annotations

from collections.abc import Mapping

from heapfit.comparison.row import Row
from heapfit.drawing.chart import (
    ACCENT,
    OTHERS,
    Chart,
    Extremes,
    Trace,
    band,
    byte_axis,
    event_axis,
    level,
    line,
    live_extremes,
)
from heapfit.drawing.number_text import count, figure_text, mark_up, size
from heapfit.plan.plan import Pool
from heapfit.trace.profile import Profile


def footprint_chart(profile: Profile, winner: Row) -> Chart:
    """Live bytes of the program and footprint of the winner."""
    live, region = live_extremes(profile), winner.replay_region or 0
    u_max = f"U<sub>max</sub> {size(winner.u_max)}"
    return Chart(
        identity="chart-memory",
        meaning="Live bytes and footprint over the events of the trace.",
        data=[
            *band("live bytes", live, "var(--quiet)", "var(--live)"),
            level(u_max, live.events, winner.u_max, color="var(--ink)", dash="dot"),
            level(f"region {size(region)}", live.events, region, color=ACCENT, dash="dash"),
            *_curves(winner, {"footprint": (ACCENT, 2.4)}),
        ],
        layout={"xaxis": event_axis(profile.events), "yaxis": byte_axis()},
        height=460,
        caption="Grey: the bytes the program has live, from the lowest to the highest within each "
        "step. Lines: the bytes of region the heap has needed so far. Click a name in the legend "
        "to hide its curve.",
    )


def live_chart(profile: Profile, region: int) -> Chart:
    """Live bytes of the program, below the region that its heap is set to."""
    live = live_extremes(profile)
    return Chart(
        identity="chart-live",
        meaning="Live bytes over the events of the trace, and the region of the heap.",
        data=[
            *band("live bytes", live, "var(--quiet)", "var(--live)"),
            level(f"region {size(region)}", live.events, region, color=ACCENT, dash="dash"),
        ],
        layout={"xaxis": event_axis(profile.events), "yaxis": byte_axis()},
        height=340,
        caption="Grey: the bytes the program has live, from the lowest to the highest within each "
        "step. Dashed: the region that the heap is set to; it holds headers, padding and holes, "
        "too.",
    )


def fragmentation_chart(profile: Profile, winner: Row) -> Chart:
    """Internal and external fragmentation of the winner."""
    return Chart(
        identity="chart-fragmentation",
        meaning="Internal and external fragmentation in bytes over the events of the trace.",
        data=_curves(winner, {"internal": (OTHERS[1], 1.6), "external": (ACCENT, 1.6)}),
        layout={"xaxis": event_axis(profile.events), "yaxis": byte_axis()},
        height=380,
        caption="Internal: bytes inside live blocks that nobody requested. External: free bytes "
        "outside the largest free block, idle blocks of pools among them.",
    )


def _curves(winner: Row, styles: Mapping[str, tuple[str, float]]) -> list[Trace]:
    """The curves of the winner's series, one a column; none if it was not replayed."""
    if winner.replay is None:
        return []
    series, name = winner.replay.series, figure_text(winner.name)
    return [
        line(
            f"{column}, {name}",
            (series["event"] + 1).tolist(),
            series[column].tolist(),
            color=colour,
            width=width,
        )
        for column, (colour, width) in styles.items()
    ]


def live_blocks_chart(pool: Pool, series: Extremes, *, number: int, events: int) -> Chart:
    """The live blocks P_i(t) of one pool, with its N_i as a dashed line."""
    peak = max(series.highest, default=0)
    highest = max(pool.count, peak)
    ticks = {"dtick": 1} if highest <= 3 else {"nticks": 4}
    return Chart(
        identity=f"chart-pool-{number}",
        meaning=f"Live blocks of the pool of {count(pool.size)} bytes over the events.",
        data=[
            *band("live blocks", series, ACCENT, "var(--accent-fill)"),
            level("reserved", series.events, pool.count, color="var(--other-1)", dash="dash"),
        ],
        layout={
            "showlegend": False,
            "xaxis": event_axis(events) | {"title": None, "nticks": 4},
            "yaxis": {"range": [0, highest * 1.12], "tickformat": "~s", **ticks},
        },
        height=150,
        caption=mark_up(
            "<b>{}</b> {}",
            size(pool.size) if pool.is_exact else f"up to {size(pool.size)}",
            f"{count(pool.count)} reserved, at most {count(peak)} live",
        ),
    )
