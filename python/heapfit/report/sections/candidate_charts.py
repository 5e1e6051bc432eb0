# SPDX-License-Identifier: Apache-2.0
"""Charts of the candidates over time: how the region of each fills and fragments."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from heapfit.compare.comparison import Row
from heapfit.report.drawing.figure import (
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
)
from heapfit.report.drawing.number_text import figure_text, size
from heapfit.trace.profile import Profile

MOST_CURVES = 4  # candidates drawn over time, best first: nobody reads a longer legend


def memory_chart(profile: Profile, rows: Sequence[Row]) -> Chart:
    """Live bytes of the program and footprint of the winner; the others wait in the legend."""
    live = live_bytes(profile)
    return Chart(
        identity="chart-memory",
        meaning="Live bytes and footprints over the events of the trace.",
        data=[
            *band("live bytes", live, "var(--quiet)", "var(--live)"),
            *_levels(rows[0], live.events),
            *_footprints(rows),
        ],
        layout={"xaxis": event_axis(profile.events), "yaxis": byte_axis()},
        height=460,
    )


def live_chart(profile: Profile, region: int) -> Chart:
    """Live bytes of the program, below the region that its heap is set to."""
    live = live_bytes(profile)
    return Chart(
        identity="chart-live",
        meaning="Live bytes over the events of the trace, and the region of the heap.",
        data=[
            *band("live bytes", live, "var(--quiet)", "var(--live)"),
            level(f"region {size(region)}", live.events, region, color=ACCENT, dash="dash"),
        ],
        layout={"xaxis": event_axis(profile.events), "yaxis": byte_axis()},
        height=340,
    )


def live_bytes(profile: Profile) -> Extremes:
    """U(t), lowest and highest within each step."""
    return Extremes(
        [i * profile.bucket_width for i in range(len(profile.live_lowest))],
        profile.live_lowest.tolist(),
        profile.live_highest.tolist(),
    )


def _levels(winner: Row, events: Sequence[int]) -> list[Trace]:
    u_max = f"U<sub>max</sub> {size(winner.u_max)}"
    levels = [level(u_max, events, winner.u_max, color="var(--ink)", dash="dot")]
    if winner.replay_region is not None:
        symbol = "R<sub>safe</sub>" if winner.r_safe is not None else "R<sub>min</sub>"
        region = f"{symbol} {size(winner.replay_region)}"
        levels.append(level(region, events, winner.replay_region, color=ACCENT, dash="dash"))
    return levels


def _has_series(row: Row) -> bool:
    return row.replay is not None and len(row.replay.series["event"]) > 0


def _footprints(rows: Sequence[Row]) -> list[Trace]:
    colours = cycle(OTHERS)
    curves = []
    for i, row in enumerate(rows[:MOST_CURVES]):
        if row.replay is None or not _has_series(row):
            continue
        series = row.replay.series
        curve = line(
            f"footprint, {figure_text(row.name)}",
            series["event"].tolist(),
            series["footprint"].tolist(),
            color=ACCENT if i == 0 else next(colours),
            width=2.4 if i == 0 else 1.6,
        )
        curves.append(curve if i == 0 else curve | {"visible": "legendonly"})
    return curves


def fragmentation_chart(profile: Profile, rows: Sequence[Row]) -> Chart:
    """Internal and external fragmentation of the winner; the others wait in the legend."""
    colours = cycle(OTHERS[2:])
    data: list[Trace] = []
    for i, row in enumerate(rows[:MOST_CURVES]):
        if _has_series(row):
            colour = None if i == 0 else next(colours)
            data += _fragmentation_pair(row, colour)
    return Chart(
        identity="chart-fragmentation",
        meaning="Internal and external fragmentation in bytes over the events of the trace.",
        data=data,
        layout={"xaxis": event_axis(profile.events), "yaxis": byte_axis()},
        height=380,
    )


def _fragmentation_pair(row: Row, colour: str | None) -> list[Trace]:
    """Two curves: in full colours for the winner, else hidden behind one legend entry."""
    assert row.replay is not None
    series = row.replay.series
    events = series["event"].tolist()
    name = figure_text(row.name)
    internal = line(
        f"internal, {name}", events, series["internal"].tolist(), color=colour or OTHERS[1]
    )
    external = line(
        f"external, {name}",
        events,
        series["external"].tolist(),
        color=colour or ACCENT,
        dash="solid" if colour is None else "dot",
    )
    if colour is None:
        return [internal, external]
    hidden = {"visible": "legendonly", "legendgroup": name}
    return [internal | hidden | {"name": name}, external | hidden | {"showlegend": False}]
