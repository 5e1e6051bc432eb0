# SPDX-License-Identifier: Apache-2.0
"""The page of a sizing: memory against the chance to be refused, and the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heapfit.plan.quantities import format_share
from heapfit.results import html
from heapfit.results.chart import (
    COLOURS,
    Chart,
    Layout,
    Trace,
    byte_axis,
    line_with_marks,
    points,
)
from heapfit.results.number_text import count, size
from heapfit.sizing.from_traffic import SizedScheme, TrafficSizing
from heapfit.sizing.pools import PoolSizing
from heapfit.sizing.separate_pools import SeparatePools

_TEMPLATE = Path(__file__).with_name("sizing.html.j2")
_DASHES = ("solid", "dot", "dash")  # to distinguish curves of the same colour


def write_traffic_page(path: Path, sizing: TrafficSizing, traffic: Path, command: str) -> None:
    """Writes the page of a sizing for offered traffic to `path`."""
    chart = _scheme_chart(sizing.curve)
    text = html.render(
        _TEMPLATE,
        f"sizing for {traffic.name}",
        [chart],
        chart_shown=chart,
        subject=traffic.name,
        unit="bytes",
        verdict=_least_memory(sizing.schemes),
        admission=_format_admission(sizing.aim.admission),
        schemes=sizing.schemes,
        pools=None,
        told=format_share,
        command=command,
    )
    html.write_page(path, text)


def write_trace_page(path: Path, sizing: PoolSizing, source: Path, command: str) -> None:
    """Writes the page of a sizing from a trace to `path`."""
    chart = _pool_chart(sizing)
    text = html.render(
        _TEMPLATE,
        f"sizing from {source.name}",
        [chart],
        chart_shown=chart,
        subject=source.name,
        unit="requests",
        verdict=f"Reserve {size(sizing.memory)} in {count(len(sizing.pools))} pools: they run out "
        f"for {format_share(sizing.refused)} of the trace's requests.",
        admission=_format_admission(sizing.admission),
        schemes=None,
        pools=sizing,
        judged_on=sizing.unseen.description,
        told=format_share,
        command=command,
    )
    html.write_page(path, text)


def _format_admission(share: float) -> str:
    """A share of 1 in percent, with all its nines.

    >>> _format_admission(0.99999)
    '99.999 %'
    """
    return f"{share * 100:.10g} %"


def _least_memory(schemes: Sequence[SizedScheme]) -> str:
    """The sentence that names the two schemes of least memory."""
    known = sorted((one.memory, one.name) for one in schemes if one.memory is not None)
    if not known:
        return "No scheme serves such a share."
    schemes_named = [f"{name} with {size(memory)}" for memory, name in known[:2]]
    return f"Least memory: {schemes_named[0]}" + (
        f"; then {schemes_named[1]}." if len(schemes_named) > 1 else "."
    )


def _scheme_chart(curve: Sequence[SizedScheme]) -> Chart:
    """The memory of each kind of scheme, with the interval where it was simulated."""
    names = list(dict.fromkeys(one.name for one in curve))
    data: list[Trace] = []
    for i, name in enumerate(names):
        known = [one for one in curve if one.name == name and one.memory is not None]
        data.append(_scheme_curve(name, known, i))
    return Chart(
        identity="chart-memory",
        meaning="Memory of each scheme over the share of requests out of memory.",
        data=data,
        layout=_layout("share out of memory"),
        height=460,
    )


def _scheme_curve(name: str, known: Sequence[SizedScheme], place: int) -> Trace:
    memory = [one.memory or 0 for one in known]
    curve = line_with_marks(
        name, [1 - one.admission for one in known], memory, COLOURS[place % len(COLOURS)]
    )
    curve["line"]["dash"] = _DASHES[place // len(COLOURS) % len(_DASHES)]
    bars = {
        "array": [max(0, one.highest - y) for one, y in zip(known, memory, strict=True)],
        "arrayminus": [max(0, y - one.lowest) for one, y in zip(known, memory, strict=True)],
        "color": curve["line"]["color"],
    }
    return curve | {"error_y": bars, "hovertemplate": "%{y:,d} B"}


def _pool_chart(sizing: PoolSizing) -> Chart:
    """The memory of all pools by the share refused: with fall-back, and without it as a curve.

    Beyond what the trace shows the line is dashed.
    """
    curve = sizing.alone.curve()
    shown = [one for one in curve if not one.is_beyond]
    beyond = [*shown[-1:], *(one for one in curve if one.is_beyond)]
    curves = [
        _pool_curve("each alone", shown, COLOURS[1], "solid"),
        _pool_curve("extrapolated", beyond, COLOURS[1], "dash"),
        _mark_shared_pools(sizing),
    ]
    return Chart(
        identity="chart-memory",
        meaning="Memory of all pools over the share of requests out of memory.",
        data=[one for one in curves if one["x"]],
        layout=_layout("share of requests out of memory"),
        height=420,
    )


def _mark_shared_pools(sizing: PoolSizing) -> Trace:
    name, marker = "with fall-back to larger pools", {"color": COLOURS[0], "size": 10}
    shown = points(name, [1 - sizing.admission], [sizing.memory], marker)
    return shown | {"hovertemplate": "%{y:,d} B"}


def _pool_curve(name: str, sizings: Sequence[SeparatePools], colour: str, dash: str) -> Trace:
    shares = [1 - one.admission for one in sizings]
    curve = line_with_marks(name, shares, [one.memory for one in sizings], colour)
    curve["line"]["dash"] = dash
    return curve | {"hovertemplate": "%{y:,d} B"}


def _layout(axis: str) -> Layout:
    return {
        "xaxis": {
            "title": {"text": axis},
            "type": "log",
            "autorange": "reversed",
            "dtick": 1,
            "exponentformat": "power",
        },
        "yaxis": byte_axis(),
    }
