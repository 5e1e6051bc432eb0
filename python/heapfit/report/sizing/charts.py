# SPDX-License-Identifier: Apache-2.0
"""Charts of a sizing: memory against the chance that a request is refused."""

from __future__ import annotations

from collections.abc import Sequence

from heapfit.report.drawing.figure import ACCENT, OTHERS, Chart, Layout, Trace
from heapfit.report.drawing.number_text import plotly_text
from heapfit.sizing.from_traffic import SizedScheme
from heapfit.sizing.pools import PoolSizing

_COLOURS = (ACCENT, *OTHERS)
_DASHES = ("solid", "dot", "dash")  # told apart where colours come again


def scheme_chart(curve: Sequence[SizedScheme]) -> Chart:
    """The memory of each kind of scheme, with the interval where it was simulated."""
    names = list(dict.fromkeys(one.name for one in curve))
    data: list[Trace] = []
    for i, name in enumerate(names):
        known = [one for one in curve if one.name == name and one.memory is not None]
        data.append(_scheme_curve(name, known, i))
    return Chart(
        identity="chart-memory",
        meaning="Memory of each kind of scheme over the share of requests it refuses.",
        data=data,
        layout=_layout("share refused"),
        height=460,
    )


def _scheme_curve(name: str, known: Sequence[SizedScheme], place: int) -> Trace:
    colour = _COLOURS[place % len(_COLOURS)]
    memory = [one.memory or 0 for one in known]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plotly_text(name),
        "x": [1 - one.admission for one in known],
        "y": memory,
        "error_y": {
            "type": "data",
            "array": [max(0, one.highest - y) for one, y in zip(known, memory, strict=True)],
            "arrayminus": [max(0, y - one.lowest) for one, y in zip(known, memory, strict=True)],
            "color": colour,
            "thickness": 1.2,
        },
        "line": {"color": colour, "width": 1.8, "dash": _DASHES[place // len(_COLOURS) % 3]},
        "marker": {"color": colour, "size": 6},
        "hovertemplate": "%{y:,d} B",
    }


def pool_chart(curve: Sequence[PoolSizing]) -> Chart:
    """The memory of all pools together; beyond what the trace shows the line is dashed."""
    shown = [one for one in curve if not one.is_beyond]
    beyond = [*shown[-1:], *(one for one in curve if one.is_beyond)]
    return Chart(
        identity="chart-memory",
        meaning="Memory of all pools together over the share of requests that they refuse.",
        data=[
            _pool_curve("seen in the trace", shown, {"color": ACCENT, "width": 2}),
            _pool_curve("extrapolated", beyond, {"color": OTHERS[0], "width": 1.6, "dash": "dash"}),
        ],
        layout=_layout("share of each pool's requests that find it empty"),
        height=420,
    )


def _pool_curve(name: str, sizings: Sequence[PoolSizing], line: Layout) -> Trace:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": [1 - one.admission for one in sizings],
        "y": [one.memory for one in sizings],
        "line": line,
        "marker": {"color": line["color"], "size": 6},
        "hovertemplate": "%{y:,d} B",
    }


def _layout(axis: str) -> Layout:
    return {
        "xaxis": {
            "title": {"text": axis},
            "type": "log",
            "autorange": "reversed",
            "dtick": 1,
            "exponentformat": "power",
        },
        "yaxis": {"title": {"text": "bytes"}, "tickformat": "~s", "rangemode": "tozero"},
    }
