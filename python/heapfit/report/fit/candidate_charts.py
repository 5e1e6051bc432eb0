# SPDX-License-Identifier: Apache-2.0
"""Charts of the candidates: what region each needs, and how it fills and fragments over time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from heapfit.compare.comparison import Row
from heapfit.report.drawing.figure import (
    ACCENT,
    OTHERS,
    Chart,
    Extremes,
    Layout,
    Trace,
    band,
    byte_axis,
    event_axis,
    level,
    line,
)
from heapfit.report.drawing.number_text import plotly_text, ratio, size
from heapfit.trace.profile import Profile

MOST_CURVES = 8  # candidates drawn over time, best first: nobody reads a longer legend


def region_chart(rows: Sequence[Row]) -> Chart:
    """R_safe over U_max: the part below 1.0 are the live bytes, the rest is what the heap adds."""
    ratios = [row.over_u_max for row in rows]
    longest = max([1.0, *(r for r in ratios if r is not None)])
    places = list(range(len(rows)))
    added = [max(r - 1.0, 0.0) if r is not None else None for r in ratios]
    colours = [ACCENT, *["var(--other-1)"] * (len(rows) - 1)]
    return Chart(
        identity="chart-candidates",
        meaning="Bars of R_safe over U_max for each candidate, with U_max as a line at 1.0.",
        data=[
            _bars([1.0 if r is not None else None for r in ratios], places, "var(--live)"),
            _bars(added, places, colours, [_bar_end(r) for r in ratios]),
        ],
        layout={
            "barmode": "stack",
            "bargap": 0.62,
            "showlegend": False,
            "hovermode": False,
            "margin": {"l": 12, "r": 12, "t": 28, "b": 44},
            "xaxis": {
                "title": {"text": "region over U<sub>max</sub>"},
                "range": [0, longest * 1.14],
            },
            "yaxis": {"visible": False, "range": [len(rows) - 0.4, -0.75]},
            "shapes": [_unbeatable_line()],
            "annotations": [_bar_name(row, i) for i, row in enumerate(rows)],
        },
        height=84 + 46 * len(rows),
        has_tools=False,
    )


def _bars(
    lengths: Sequence[float | None],
    places: Sequence[int],
    colour: str | Sequence[str],
    texts: Sequence[str] | None = None,
) -> Trace:
    return {
        "type": "bar",
        "orientation": "h",
        "x": list(lengths),
        "y": list(places),
        "marker": {"color": colour, "line": {"width": 0}},
        "text": texts,
        "textposition": "outside",
        "cliponaxis": False,
    }


def _bar_end(over_u_max: float | None) -> str:
    return "" if over_u_max is None else f"<b>{ratio(over_u_max)}</b>"


def _bar_name(row: Row, place: int) -> Layout:
    region = size(row.r_safe) if row.r_safe is not None else "no region found"
    return {
        "x": 0,
        "y": place - 0.22,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "text": f"<b>{plotly_text(row.name)}</b>  {region}",
        "bgcolor": "var(--paper)",
        "borderpad": 1,
    }


def _unbeatable_line() -> Layout:
    return {
        "type": "line",
        "yref": "paper",
        "x0": 1,
        "x1": 1,
        "y0": 0,
        "y1": 1,
        "line": {"color": "var(--ink)", "width": 1.5, "dash": "dash"},
        "label": {
            "text": "<b>U<sub>max</sub></b>",
            "textposition": "end",
            "textangle": 0,
            "xanchor": "center",
            "yanchor": "bottom",
        },
    }


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
            f"footprint, {plotly_text(row.name)}",
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
    name = plotly_text(row.name)
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
