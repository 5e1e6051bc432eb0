# SPDX-License-Identifier: Apache-2.0
"""What the pages of pools and of schemes share: their order, and the chart of memory."""

from __future__ import annotations

from typing import Any, Final

from heapfit.drawing.chart import Chart, Trace, byte_axis
from heapfit.drawing.document import Document, reproduce_section
from heapfit.drawing.parts import Section, Table

BYTES_HOVER: Final = {"hovertemplate": "%{y:,d} B"}


def sizing_page(
    subject: str,
    found: tuple[Chart, Table[Any]],
    *,
    name: str,
    aim: tuple[float, str],
    verdict: str,
    command: str,
) -> Document:
    """The page of a sizing; `aim` is the share to serve, and of what."""
    (chart, table), (share, unit) = found, aim
    return Document(
        command="size",
        kind=subject,
        name=name,
        title=f"Memory that serves {share * 100:.10g} % of the {unit}",
        sentences=(verdict,),
        sections=(
            Section("memory", "Memory against the chance to run out", [chart], "Memory"),
            Section("numbers", "Numbers", [table]),
            reproduce_section(
                ("The same input and seed give the same numbers on every machine.", command)
            ),
        ),
    )


def memory_chart(meaning: str, data: list[Trace], axis: str, caption: str) -> Chart:
    """Memory over a share out of memory, on a logarithmic axis."""
    x = {"title": {"text": axis}, "type": "log", "autorange": "reversed", "dtick": 1}
    layout = {"xaxis": x | {"exponentformat": "power"}, "yaxis": byte_axis()}
    return Chart("chart-memory", meaning, data, layout, 440, caption)
