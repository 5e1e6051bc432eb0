# SPDX-License-Identifier: Apache-2.0
"""The kind of a recording: its windows with troughs and their trend, and what grows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from heapfit.forecast.growth import BlockGroup
from heapfit.forecast.kind import RecordingKind
from heapfit.results.chart import (
    ACCENT,
    OTHERS,
    Chart,
    Trace,
    band,
    byte_axis,
    event_axis,
    line,
)
from heapfit.results.number_text import rate, size
from heapfit.results.sections.candidate_charts import live_bytes

_SHOWN = 8  # growing parts


@dataclass(frozen=True, slots=True)
class PartRow:
    """A group of blocks that grew."""

    name: str
    rate: str  # bytes per 1,000 events
    held: str
    blocks: int


@dataclass(frozen=True, slots=True)
class KindPart:
    """The kind of the recording that is shown, with its plot."""

    kind: str
    reason: str
    others: str  # the kinds of all recordings, where there are several
    chart: Chart
    rows: tuple[PartRow, ...]

    @property
    def charts(self) -> list[Chart]:
        """The chart of the windows."""
        return [self.chart]


def kind_part(kind: RecordingKind, others: str, names: Mapping[int, str]) -> KindPart:
    """The part of a page on the kind of a recording; `names` are those of call sites."""
    rows = tuple(_row_of(part, kind.windows.events, names) for part in kind.growth[:_SHOWN])
    reason = f"{kind.reason[:1].upper()}{kind.reason[1:]}."
    return KindPart(kind.kind.value, reason, others, _kind_chart(kind), rows)


def _row_of(part: BlockGroup, events: int, names: Mapping[int, str]) -> PartRow:
    name = f"{part.family} {part.name}"
    if part.family == "size":
        name = f"blocks of {size(part.name)}"
    if part.family == "site":
        name = names.get(part.name, f"call site {part.frame:08x}")
    return PartRow(name, rate(1000 * part.trend.slope / events), size(part.held), part.blocks)


def _kind_chart(kind: RecordingKind) -> Chart:
    profile, windows = kind.profile, kind.windows
    middles = (windows.starts + windows.events / 2).tolist()
    data = [
        *band("live bytes", live_bytes(profile), "var(--quiet)", "var(--live)"),
        _straight("least of each window", middles, windows.troughs.tolist(), color=OTHERS[0]),
    ]
    if len(windows) > 1:
        x = [middles[0], middles[-1]]
        level = float(np.median(windows.troughs - kind.trend.slope * np.arange(len(windows))))
        middle = level + kind.trend.slope * (len(windows) - 1) / 2
        half = (len(windows) - 1) / 2
        for name, slope, dash in (
            ("trend", kind.trend.slope, "solid"),
            ("slowest of 95 %", kind.trend.low, "dot"),
            ("fastest of 95 %", kind.trend.high, "dot"),
        ):
            y = [middle - slope * half, middle + slope * half]
            data.append(_straight(name, x, y, color=ACCENT, dash=dash))
    return Chart(
        identity="chart-kind",
        meaning="Live bytes over the events, the least of each window, and their trend.",
        data=data,
        layout={"xaxis": event_axis(profile.events), "yaxis": byte_axis()},
        height=340,
    )


def _straight(name: str, x: list[float], y: list[float], **style: str | float) -> Trace:
    """A curve whose points are joined by straight lines."""
    return line(name, x, y, shape="linear", **style)
