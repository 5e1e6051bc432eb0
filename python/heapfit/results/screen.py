# SPDX-License-Identifier: Apache-2.0
"""The first screen of `fit`: the size to set, the saving, reference heaps, holdout check.

    title                what was recorded, and its kind
    growth               where a recording grows: how fast, held by what, when the heap is full
    answer               bytes to set, the saving, the peak: in words that need no glossary
    table                the answer and heaps that its reader knows
    will it hold         the recordings in just this region, and runs that last longer
    warnings, paths

At most 24 lines of 80 columns. `--all` shows the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from heapfit.fitting.reference_heaps import ReferenceKind, ReferenceRow
from heapfit.fitting.result import Fit
from heapfit.plan.quantities import format_count
from heapfit.results.kind import describe_kinds, kind_fields
from heapfit.results.longer import LONGER_RUNS, describe_rows
from heapfit.results.parts import Column, Fields, Line, Part, Table, paragraph
from heapfit.results.text import wrap_text
from heapfit.results.verdict import effort_parts

_RECORDED = "recorded on"
_MOST_WARNINGS = 2
_INDENT = "  "


def _format_margin(row: ReferenceRow) -> str | None:
    return None if row.size is None else f"{row.size.margin:g} %".rjust(len("margin"))


_REFERENCES: tuple[Column[ReferenceRow], ...] = (
    Column("title", "heap", shown=lambda row: row.title + _mark(row)),
    Column("standing"),
    Column("region", "bytes"),
    Column("r_safe", value=lambda row: row.size and row.size.r_safe),
    Column("margin_percent", "margin", lambda row: row.size and row.size.margin, _format_margin),
    Column("over_peak", "of peak"),
    Column("mean", "a call ~", shown=lambda row: _round_figure(row.mean)),
    Column("longest", "longest ~", shown=lambda row: _round_figure(row.longest)),
    Column("flash", "flash"),
    Column("has_checks"),
)


def first_screen(fit: Fit, is_whole: bool) -> Iterator[Part]:
    """The parts of the screen; with `is_whole` it does not refer to `--all`."""
    yield Line(_title(fit))
    yield from paragraph(describe_kinds(fit.kinds.each))
    yield Fields({"kinds": [kind_fields(kind) for kind in fit.kinds.each]})
    yield from _queue_parts(fit)
    yield from paragraph(" ".join(_answer(fit)), _INDENT)
    yield Line("")
    yield Table(_REFERENCES, fit.references, "beside", indent=len(_INDENT))
    yield from _legend(fit, is_whole)
    yield Line("")
    yield from _hold_parts(fit)
    yield from _change_parts(fit)
    yield from _excerpt_parts(fit)
    yield from effort_parts(fit.options.effort, _INDENT)
    yield Line("")
    yield from _warnings(fit, is_whole)
    yield from _paths(fit)


def _title(fit: Fit) -> str:
    profile = fit.profile
    allocations = format_count(int(profile.operations[:3].sum()), "allocation")
    sizes = format_count(len(profile.sizes), "size")
    events = f"{allocations} of {sizes} in {format_count(profile.events, 'event')}"
    if len(fit.runs) > 1:
        return f"{format_count(len(fit.runs), 'recording')}; {_describe_largest(fit)}"
    bits = fit.trace.info.pointer_bits
    where = f", {_RECORDED} {bits} bit" if bits else ""
    return f"{fit.name}: {events}{where}"


def _describe_largest(fit: Fit) -> str:
    """The recording that decides the region, and the bytes of it that it alone needs."""
    largest = fit.largest
    others = max(run.r_safe or 0 for run in fit.runs if run is not largest)
    more = (largest.r_safe or 0) - others
    return (
        f"{largest.name} needs {more:,} B more than the others"
        if more
        else f"{largest.name} needs the most"
    )


def _queue_parts(fit: Fit) -> Iterator[Part]:
    """The queue model where it was assumed: how long packets stay decides the heap."""
    info, given = fit.trace.info, fit.options.importing.queue
    if info.kind != "packets":
        return
    is_assumed = given is None and fit.trace.path != fit.source
    yield Fields({"queue": {"model": info.queue, "is_assumed": is_assumed}})
    if is_assumed:
        yield from paragraph(
            "Assumed: 1,000 packets wait, then all leave. A capture does not show how long "
            "packets stay. Give --queue fifo:PACKETS_PER_S or link:BITS_PER_S.",
            _INDENT,
        )


def _answer(fit: Fit) -> Iterator[str]:
    """The size to set, what it saves, and the peak: at most five lines."""
    growth = fit.kinds.growth
    yield from growth
    yield from fit.answer.sentences(is_growing=bool(growth), is_brief=True)
    yield from fit.saving
    yield from fit.answer.describe_peak()


def _mark(row: ReferenceRow) -> str:
    marks = ((" *", row.standing is ReferenceKind.RULE), (" +", row.is_of_excerpt))
    return "".join(mark for mark, holds in (*marks, (" #", not row.has_checks)) if holds)


def _round_figure(value: float | None) -> int | None:
    return None if value is None else round(value)


def _legend(fit: Fit, is_whole: bool) -> Iterator[Part]:
    rest = len(fit.comparison.rows) - 1
    marks = ["" if is_whole else f"{rest} more: --all"]
    if any(row.standing is ReferenceKind.RULE for row in fit.references):
        marks.append("* simulated")
    if any(row.is_of_excerpt for row in fit.references):
        marks.append("+ measured on the excerpt")
    marks.append("~ estimated Cortex-M4 instr.")
    if not all(row.has_checks for row in fit.references):
        marks.append("# frees not checked")
    yield from paragraph("  ".join(filter(None, marks)), _INDENT)


def _hold_parts(fit: Fit) -> Iterator[Part]:
    """The section on whether the heap holds: on the recordings, and in longer runs."""
    held, longer = fit.holdout, fit.longer
    yield Fields({"held": held, "longer_runs": longer})
    seen = "this run" if held.seen == 1 else f"these {held.seen} runs"
    if fit.excerpt is not None and fit.excerpt.is_kept:
        seen = "an excerpt of this run" if held.seen == 1 else "these runs (excerpts of long ones)"
    served = "all served" if held.seen_refused == 0 else f"{held.seen_refused} out of memory"
    replayed = f"Will it hold?  Replay of {seen}: {served}."
    if longer.refusal is not None:
        yield from paragraph(f"{replayed} {longer.refusal.sentence()}", _INDENT)
        return
    region = f"{fit.answer.size.region:,} B"
    yield from paragraph(f"{replayed} In {region}, by {longer.basis}:", _INDENT)
    yield Table(LONGER_RUNS, longer.rows, indent=len(_INDENT))
    for text in describe_rows(longer, fit.answer.size, "the heap", fit.answer.heap.set_to):
        yield from paragraph(text, _INDENT)


def _change_parts(fit: Fit) -> Iterator[Part]:
    """The heap on changed programs: a sentence, and in the JSON each of them."""
    if fit.changes is None:
        return
    yield Fields({"changes": fit.changes.to_rows()})
    yield from paragraph(fit.changes.sentence(fit.answer.size.margin), _INDENT)


def _excerpt_parts(fit: Fit) -> Iterator[Part]:
    """A sentence on the excerpt that a search saw, and why its region serves the rest."""
    yield Fields({"looked_at": fit.excerpt})
    if fit.excerpt is not None:
        yield from paragraph(fit.excerpt.sentence(), _INDENT)


def _warnings(fit: Fit, is_whole: bool) -> Iterator[Part]:
    shown = fit.warnings if is_whole else fit.warnings[:_MOST_WARNINGS]
    for warning in shown:
        lines = wrap_text(f"! {warning[:1].upper()}{warning[1:]}", _INDENT)
        yield from map(Line, lines if is_whole else lines[:2])
    rest = len(fit.warnings) - len(shown)
    if rest:
        yield Line(f"{_INDENT}! {rest} more: --all")


def _paths(fit: Fit) -> Iterator[Part]:
    paths = fit.paths
    yield Fields({"paths": paths})
    if paths.code is None:
        yield Line(f"{_INDENT}No code was written: --code writes the fitted heap's.")
    for name, path in (("code", paths.code), ("plan", paths.plan), ("report", paths.report)):
        if path is not None:
            yield Line(f"{_INDENT}{name:7}{path}", is_copied=True)
