# SPDX-License-Identifier: Apache-2.0
"""The opening of a page about plans measured on a recording: the answer and its evidence."""

from __future__ import annotations

from heapfit.comparison.case import ReportCase
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import pools_warning, verdict
from heapfit.results.document import Document
from heapfit.results.number_text import count, percent, ratio, size
from heapfit.results.parts import NamedFigure
from heapfit.results.sections.page import (
    name_source,
    pointer_figure,
    recording_kind,
    request_source,
)
from heapfit.trace.stored import TraceInfo


def opening_of(case: ReportCase, command: str) -> Document:
    """The page of one recording, without its sections: the plan to take and what it needs."""
    comparison, winner, info = case.comparison, case.winner, case.shown.trace.info
    warning = pools_warning(winner, comparison)
    return Document(
        command=command,
        title=info.program or case.shown.trace.path.stem,
        source=name_source(request_source(info, case.shown.trace.path.name)),
        sections=(),
        kind=recording_kind(info),
        sentences=(describe_need(winner),),
        lead=lead_figures(winner),
        remarks=(verdict(comparison),),
        trust=(
            NamedFigure("recordings", "1", "one run says nothing of other loads"),
            NamedFigure("plans", count(len(comparison.rows)), "each replayed event by event"),
            *floor_figures(winner),
            pointer_figure([info]),
            NamedFigure("alignment", size(winner.alignment), "of every block"),
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


def lead_figures(winner: Row) -> tuple[NamedFigure, ...]:
    """The main figures: the size to set a heap to, and its margin."""
    if winner.heap_size is None:
        return ()
    return (
        NamedFigure("set the heap to", size(winner.heap_size.region)),
        NamedFigure("margin in it", f"{winner.heap_size.margin:g} %"),
        NamedFigure("needed over the peak", ratio(winner.over_u_max)),
    )


def floor_figures(winner: Row) -> tuple[NamedFigure, ...]:
    """The figure that no heap can go below: the peak."""
    saved = size((winner.r_safe or winner.u_max) - winner.u_max)
    remark = f"a better heap saves at most {saved}"
    return (NamedFigure("peak of live bytes", size(winner.u_max), remark),)


def _warnings(info: TraceInfo, warning: str | None) -> tuple[str, ...]:
    unknown = info.kind == "heap" and not info.pointer_bits
    warnings = ["The recording does not state its pointer size."] if unknown else []
    return (*warnings, *([f"The {warning}."] if warning else []))
