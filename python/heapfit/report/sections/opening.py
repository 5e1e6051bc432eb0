# SPDX-License-Identifier: Apache-2.0
"""The answer of a page about plans that were measured on a recording, and what it rests on."""

from __future__ import annotations

from heapfit.comparison.row import Row
from heapfit.comparison.verdict import pools_warning, verdict
from heapfit.report.case import Case
from heapfit.report.drawing.number_text import count, percent, ratio, size
from heapfit.report.sections.content import Figure, Opening, kind_of, pointers_told, source_of
from heapfit.trace.stored import TraceInfo


def opening_of(case: Case, command: str) -> Opening:
    """Of one recording: which plan to take, what it needs, and what was measured."""
    comparison, winner, info = case.comparison, case.winner, case.shown.trace.info
    warning = pools_warning(winner, comparison)
    return Opening(
        command=command,
        title=info.program or case.shown.trace.path.stem,
        source=source_of(info, case.shown.trace.path.name),
        kind=kind_of(info),
        sentences=(needs_told(winner),),
        lead=lead_of(winner),
        remarks=(verdict(comparison),),
        trust=(
            Figure("recordings", "1", "one run says nothing of other loads"),
            Figure("plans", count(len(comparison.rows)), "each replayed event by event"),
            *floor_of(winner),
            pointers_told([info]),
            Figure("alignment", size(winner.alignment), "of every block"),
        ),
        warnings=_warnings(info, warning),
    )


def needs_told(winner: Row) -> str:
    """What a plan needs for a recording, as a sentence."""
    if winner.r_safe is None:
        return "No plan serves this recording in any region tried."
    above = percent(winner.r_safe / max(winner.u_max, 1) - 1)
    return (
        f"{winner.name} needs {size(winner.r_safe)} for this recording, {above} above its peak "
        f"of {size(winner.u_max)}."
    )


def lead_of(winner: Row) -> tuple[Figure, ...]:
    """What to set a heap to, its margin included."""
    if winner.heap_size is None:
        return ()
    return (
        Figure("set the heap to", size(winner.heap_size.region)),
        Figure("margin in it", f"{winner.heap_size.margin:g} %"),
        Figure("needed over the peak", ratio(winner.over_u_max)),
    )


def floor_of(winner: Row) -> tuple[Figure, ...]:
    """What no heap can go below."""
    saved = size((winner.r_safe or winner.u_max) - winner.u_max)
    remark = f"a better heap saves at most {saved}"
    return (Figure("peak of live bytes", size(winner.u_max), remark),)


def _warnings(info: TraceInfo, warning: str | None) -> tuple[str, ...]:
    unknown = info.kind == "heap" and not info.pointer_bits
    told = ["The recording does not state its pointer size."] if unknown else []
    return (*told, *([f"The {warning}."] if warning else []))
