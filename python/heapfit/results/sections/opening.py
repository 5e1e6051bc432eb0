# SPDX-License-Identifier: Apache-2.0
"""The opening of a page about plans measured on a recording: the answer and its evidence."""

from __future__ import annotations

from heapfit.comparison.row import Row
from heapfit.comparison.verdict import pools_warning, verdict
from heapfit.results.case import ReportCase
from heapfit.results.number_text import count, percent, ratio, size
from heapfit.results.sections.content import (
    PageFigure,
    PageOpening,
    pointer_figure,
    recording_kind,
    request_source,
)
from heapfit.trace.stored import TraceInfo


def opening_of(case: ReportCase, command: str) -> PageOpening:
    """The opening of one recording: which plan to take, what it needs, what was measured."""
    comparison, winner, info = case.comparison, case.winner, case.shown.trace.info
    warning = pools_warning(winner, comparison)
    return PageOpening(
        command=command,
        title=info.program or case.shown.trace.path.stem,
        source=request_source(info, case.shown.trace.path.name),
        kind=recording_kind(info),
        sentences=(describe_need(winner),),
        lead=lead_figures(winner),
        remarks=(verdict(comparison),),
        trust=(
            PageFigure("recordings", "1", "one run says nothing of other loads"),
            PageFigure("plans", count(len(comparison.rows)), "each replayed event by event"),
            *floor_figures(winner),
            pointer_figure([info]),
            PageFigure("alignment", size(winner.alignment), "of every block"),
        ),
        warnings=_warnings(info, warning),
    )


def describe_need(winner: Row) -> str:
    """The sentence that says which region a plan needs for a recording."""
    if winner.r_safe is None:
        return "No plan serves this recording in any region tried."
    above = percent(winner.r_safe / max(winner.u_max, 1) - 1)
    return (
        f"{winner.name} needs {size(winner.r_safe)} for this recording, {above} above its peak "
        f"of {size(winner.u_max)}."
    )


def lead_figures(winner: Row) -> tuple[PageFigure, ...]:
    """The main figures: the size to set a heap to, and its margin."""
    if winner.heap_size is None:
        return ()
    return (
        PageFigure("set the heap to", size(winner.heap_size.region)),
        PageFigure("margin in it", f"{winner.heap_size.margin:g} %"),
        PageFigure("needed over the peak", ratio(winner.over_u_max)),
    )


def floor_figures(winner: Row) -> tuple[PageFigure, ...]:
    """The figure that no heap can go below: the peak."""
    saved = size((winner.r_safe or winner.u_max) - winner.u_max)
    remark = f"a better heap saves at most {saved}"
    return (PageFigure("peak of live bytes", size(winner.u_max), remark),)


def _warnings(info: TraceInfo, warning: str | None) -> tuple[str, ...]:
    unknown = info.kind == "heap" and not info.pointer_bits
    warnings = ["The recording does not state its pointer size."] if unknown else []
    return (*warnings, *([f"The {warning}."] if warning else []))
