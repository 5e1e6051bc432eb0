# SPDX-License-Identifier: Apache-2.0
"""The charts of a report: plain dictionaries, drawn by charts.js.

Their form is a small part of plotly's (decision 25): scatter and bar; axes that are linear,
logarithmic or of categories, with domains; bands, intervals, annotations. A colour is written
"var(--name)", so that one figure serves light, dark and paper. Every foreign name goes through
`figure_text`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heapfit.drawing.number_text import figure_text

if TYPE_CHECKING:  # help needs no charts, and a profile loads numpy
    from heapfit.trace.profile import Profile

Trace = dict[str, Any]
Layout = dict[str, Any]

MOST_SINGLE_TICKS = 8  # an axis of whole numbers up to this has a tick for each
ACCENT = "var(--accent)"
# Okabe and Ito's colours without the accent's blue: distinct for every common colour vision.
OTHERS = tuple(f"var(--other-{i})" for i in range(1, 7))
COLOURS = (ACCENT, *OTHERS)  # of curves, in turn


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure and its place on a page: a part of a result."""

    identity: str  # the element's id: our own letters, digits and "-"
    meaning: str  # one sentence, for screen readers
    data: list[Trace]
    layout: Layout
    height: int  # CSS pixels
    caption: str = ""

    def figure(self) -> dict[str, Any]:
        """The dictionary that charts.js draws."""
        return {"data": self.data, "layout": self.layout}


@dataclass(frozen=True, slots=True)
class Extremes:
    """A quantity over the trace, lowest and highest within each step of events."""

    events: list[int]  # where each step begins
    lowest: list[int]
    highest: list[int]


def line(name: str, x: Sequence[float], y: Sequence[float], **style: str | float) -> Trace:
    """A curve that holds its value to the next point; `style` is the line's."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": x,
        "y": y,
        "line": {"shape": "hv", "width": 1.6, **style},
        "hovertemplate": "%{y:,d}",
    }


def line_with_marks(name: str, x: Sequence[Any], y: Sequence[Any], colour: str) -> Trace:
    """A curve with a mark at each of its points."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": figure_text(name),
        "x": x,
        "y": y,
        "line": {"color": colour, "width": 1.8},
        "marker": {"color": colour, "size": 6},
    }


def points(name: str, x: Sequence[Any], y: Sequence[Any], marker: Layout) -> Trace:
    """Marks alone; `marker` has their colour, size and symbol."""
    return {"type": "scatter", "mode": "markers", "name": name, "x": x, "y": y, "marker": marker}


def row_axis(names: Sequence[str]) -> Layout:
    """A y axis of heaps from the top down, whose names the table has."""
    return {
        "title": {"text": "heap"},
        "names": [figure_text(name) for name in names],
        "visible": False,
        "range": [len(names) - 0.5, -0.7],
    }


def row_title(name: str, value: str, y: float) -> Layout:
    """The name of a row above its left end, and its value."""
    return {"x": 0, "y": y, "xanchor": "left", "text": f"<b>{figure_text(name)}</b> {value}"}


def level(name: str, x: Sequence[float], y: float, **style: str | float) -> Trace:
    """A straight line at `y` from the first to the last `x`, named in the legend."""
    ends = [x[0], x[-1]] if x else []
    return line(name, ends, [y] * len(ends), width=1.4, **style) | {"hoverinfo": "skip"}


def band(name: str, series: Extremes, edge: str, fill: str) -> list[Trace]:
    """The area between the lowest and the highest value of each step, as one legend entry."""
    lowest = line(name, series.events, series.lowest, color=edge, width=1)
    highest = line(name, series.events, series.highest, color=edge, width=1)
    group = {"legendgroup": name}
    return [
        lowest | group | {"showlegend": False, "hovertemplate": "%{y:,d} at least<extra></extra>"},
        highest | group | {"fill": "tonexty", "fillcolor": fill},
    ]


def event_axis(events: int) -> Layout:
    """The x axis of charts over time, for a trace of `events` events, which count from 1."""
    ticks = {"dtick": 1} if events <= MOST_SINGLE_TICKS else {}
    return {"title": {"text": "event"}, "tickformat": "~s", "hoverformat": ",d", **ticks}


def byte_axis() -> Layout:
    """A y axis of bytes, from 0."""
    return {"title": {"text": "bytes"}, "tickformat": "~s", "rangemode": "tozero"}


def live_extremes(profile: Profile) -> Extremes:
    """The live bytes U(t), lowest and highest within each step."""
    return Extremes(
        [1 + i * profile.bucket_width for i in range(len(profile.live_lowest))],
        profile.live_lowest.tolist(),
        profile.live_highest.tolist(),
    )
