# SPDX-License-Identifier: Apache-2.0
"""The page of a sizing: memory against the chance to be refused, and the numbers."""

from __future__ import annotations

from pathlib import Path

from heapfit.report.drawing import rendering
from heapfit.report.sizing.charts import pool_chart, scheme_chart
from heapfit.sizing.from_traffic import TrafficSizing
from heapfit.sizing.pools import PoolSizing
from heapfit.sizing.settings import share_told

_TEMPLATE = Path(__file__).with_name("sizing.html.j2")


def write_traffic_page(path: Path, sizing: TrafficSizing, traffic: Path, command: str) -> None:
    """Writes the page of a sizing for offered traffic to `path`."""
    chart = scheme_chart(sizing.curve)
    text = rendering.render(
        _TEMPLATE,
        f"sizing for {traffic.name}",
        [chart],
        chart_shown=chart,
        subject=traffic.name,
        unit=sizing.aim.by,
        admission=f"{sizing.aim.admission:g}",
        schemes=sizing.schemes,
        pools=None,
        told=share_told,
        command=command,
    )
    rendering.write_page(path, text)


def write_trace_page(path: Path, sizing: PoolSizing, source: Path, command: str) -> None:
    """Writes the page of a sizing from a trace to `path`."""
    chart = pool_chart(sizing.curve())
    text = rendering.render(
        _TEMPLATE,
        f"sizing from {source.name}",
        [chart],
        chart_shown=chart,
        subject=source.name,
        unit="requests",
        admission=f"{sizing.admission:g}",
        schemes=None,
        pools=sizing,
        told=share_told,
        command=command,
    )
    rendering.write_page(path, text)
