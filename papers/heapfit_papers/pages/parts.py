# SPDX-License-Identifier: Apache-2.0
"""What the figures of the papers are drawn from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from heapfit.drawing.chart import ACCENT, OTHERS, Chart, Layout, Trace
from heapfit_papers.reproduce.laboratory import Laboratory


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """A chart, which figure of the paper it is, and what differs from it."""

    title: str
    chart: Chart
    caption: str


Draw: TypeAlias = Callable[["Laboratory"], PaperFigure]


def draw_bars(name: str, x: Sequence[object], y: Sequence[float], colour: str) -> Trace:
    """Bars of one colour."""
    return {
        "type": "bar",
        "name": name,
        "x": list(x),
        "y": list(y),
        "marker": {"color": colour, "line": {"width": 0}},
        "hovertemplate": "%{x}: %{y:,.4~g}",
    }


def draw_curve(name: str, x: Sequence[float], y: Sequence[float], colour: str) -> Trace:
    """A line with its points marked."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": list(x),
        "y": list(y),
        "line": {"color": colour, "width": 1.6},
        "hovertemplate": "%{y:,.4~g}",
    }


def plain_layout(x: str, y: str, y_axis: Layout) -> Layout:
    """One panel with named axes; `y_axis` is added to its y axis."""
    return {
        "hovermode": "closest",
        "xaxis": {"title": {"text": x}},
        "yaxis": {"title": {"text": y}, **y_axis},
    }


def panel_axis(title: str, domain: list[float]) -> Layout:
    """The y axis of one of several panels."""
    return {"title": {"text": title}, "domain": domain, "rangemode": "tozero", "tickformat": "~s"}


def colour_of(number: int) -> str:
    """The accent first; no palette has eleven that all can tell, so the others come twice."""
    return ACCENT if number == 0 else OTHERS[(number - 1) % len(OTHERS)]


def _is_again(number: int) -> bool:
    """True if a colour comes the second time: then bars are hatched and lines dotted."""
    return number > len(OTHERS)


def hatch_bars(bars: Trace, number: int) -> Trace:
    """Bars that are told apart from the first of their colour."""
    pattern = {"shape": "/" if _is_again(number) else "", "solidity": 0.4}
    return bars | {"marker": {**bars["marker"], "pattern": pattern}}


def dot_curve(curve: Trace, number: int) -> Trace:
    """A curve that is told apart from the first of its colour."""
    dash = "dot" if _is_again(number) else "solid"
    return curve | {"line": {**curve["line"], "dash": dash}}


def short(name: str) -> str:
    """An allocator as the paper names it."""
    return name.removeprefix("djgpp_")
