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

from heapfit.design.effort import MEANING
from heapfit.fitting.reference_heaps import ReferenceKind, ReferenceRow
from heapfit.fitting.result import Fit
from heapfit.plan.quantities import format_count
from heapfit.results.kind import describe_kinds, kind_fields
from heapfit.results.longer import longer_parts
from heapfit.results.parts import Column, Fields, Group, Line, Part, Table, paragraph, which_hold
from heapfit.results.text import wrap_text

_RECORDED = "recorded on"
_MOST_WARNINGS = 2
_INDENT = "  "


_REFERENCES: tuple[Column[ReferenceRow], ...] = (
    Column(
        "title", "heap", shown=lambda row: row.title + "".join(f" {one}" for one in _marks(row))
    ),
    Column("standing"),
    Column("region", "bytes"),
    Column("r_safe", value=lambda row: row.size and row.size.r_safe),
    Column("margin_percent", value=lambda row: row.size and row.size.margin),
    Column("over_peak", "of peak"),
    Column("mean", "a call ~", shown=lambda row: _round_figure(row.mean)),
    Column("longest", "longest ~", shown=lambda row: _round_figure(row.longest)),
    Column("flash", "flash"),
    Column("flash_adds", value=lambda row: dict(row.flash_adds)),
    Column("has_checks"),
)


def first_screen(fit: Fit, is_whole: bool) -> list[Part]:
    """The parts of the screen; with `is_whole` it does not refer to `--all`."""
    effort, growth = fit.options.effort, fit.kinds.growth
    answer = [
        *growth,
        *fit.answer.sentences(is_growing=bool(growth), is_brief=True, lasts=fit.lasts),
        *fit.saving,
        *fit.answer.describe_parts(),
    ]
    build = fit.this_build
    told = build and {"name": build.name, "region": build.region, "broken": build.broken}
    changes = [] if fit.changes is None else [Fields({"changes": fit.changes.to_rows()})]
    return [
        Line(_title(fit)),
        *paragraph(describe_kinds(fit.kinds.each)),
        Fields({"kinds": [kind_fields(kind) for kind in fit.kinds.each]}),
        *_queue_parts(fit),
        *paragraph(" ".join(answer), _INDENT),
        Line(""),
        Table(_REFERENCES, fit.references, "beside", indent=len(_INDENT)),
        *paragraph(_legend(fit, is_whole), _INDENT),
        Fields({"held": fit.holdout}),
        *_hold_parts(fit),
        *changes,
        Fields({"this_build": told}),
        *paragraph(fit.next_build, _INDENT),
        Fields({"looked_at": fit.excerpt}),
        *paragraph(fit.excerpt.sentence() if fit.excerpt else "", _INDENT),
        Fields({"effort": effort}),
        *paragraph(MEANING.get(effort), _INDENT),
        Line(""),
        *map(Line, _list_warnings(fit, is_whole)),
        *_paths(fit),
    ]


def _title(fit: Fit) -> str:
    if len(fit.runs) > 1:
        return f"{format_count(len(fit.runs), 'recording')}; {_describe_largest(fit)}"
    profile, bits = fit.profile, fit.trace.info.pointer_bits
    allocations = format_count(int(profile.operations[:3].sum()), "allocation")
    sizes, where = format_count(len(profile.sizes), "size"), f", {_RECORDED} {bits} bit"
    events = format_count(profile.events, "event")
    return f"{fit.name}: {allocations} of {sizes} in {events}{where if bits else ''}"


def _describe_largest(fit: Fit) -> str:
    """The recording that decides the region, and the bytes of it that it alone needs."""
    largest = fit.largest
    more = (largest.r_safe or 0) - max(run.r_safe or 0 for run in fit.runs if run is not largest)
    needs = f"{more:,} B more than the others" if more else "the most"
    return f"{largest.name} needs {needs}"


def _queue_parts(fit: Fit) -> list[Part]:
    """The queue model where it was assumed: how long packets stay decides the heap."""
    info, given = fit.trace.info, fit.options.importing.queue
    if info.kind != "packets":
        return []
    is_assumed = given is None and fit.trace.path != fit.source
    assumed = (
        "Assumed: 1,000 packets wait, then all leave. A capture does not show how long "
        "packets stay. Give --queue fifo:PACKETS_PER_S or link:BITS_PER_S."
    )
    return [
        Fields({"queue": {"model": info.queue, "is_assumed": is_assumed}}),
        *paragraph(assumed if is_assumed else "", _INDENT),
    ]


def _marks(row: ReferenceRow) -> list[str]:
    return which_hold(
        (row.standing is ReferenceKind.RULE, "*"),
        (row.is_of_excerpt, "+"),
        (not row.has_checks, "#"),
    )


def _round_figure(value: float | None) -> int | None:
    return None if value is None else round(value)


def _legend(fit: Fit, is_whole: bool) -> str:
    marks = {mark for row in fit.references for mark in _marks(row)}
    meanings = which_hold(
        (not is_whole, f"{len(fit.comparison.rows) - 1} more: --all"),
        ("*" in marks, "* simulated"),
        ("+" in marks, "+ measured on the excerpt"),
        (True, "~ estimated Cortex-M4 instr."),
        ("#" in marks, "# frees not checked"),
        (is_whole, _describe_adds(fit)),
    )
    return "  ".join(meanings)


def _describe_adds(fit: Fit) -> str:
    """What flash is of, and what further functions of the fitted heap add to it."""
    fitted = [row.flash_adds for row in fit.references if row.standing is ReferenceKind.FITTED]
    adds = [f"{name} {size:,}" for one in fitted[:1] for name, size in one.items()]
    told = "flash of init, malloc, free"
    return f"{told}; the fitted heap's further functions: {', '.join(adds)}" if adds else told


def _hold_parts(fit: Fit) -> list[Part]:
    """The section on whether the heap holds: on the recordings, and in longer runs."""
    held, longer = fit.holdout, fit.longer
    seen = "this run" if held.seen == 1 else f"these {held.seen} runs"
    if fit.excerpt is not None and fit.excerpt.is_kept:
        seen = "an excerpt of this run" if held.seen == 1 else "these runs (excerpts of long ones)"
    served = "all served" if held.seen_refused == 0 else f"{held.seen_refused} out of memory"
    replayed = f"Will it hold?  Replay of {seen}: {served}."
    return [
        *paragraph(f"{replayed} {longer.heading()}", _INDENT),
        Group("longer_runs", longer_parts(longer, len(_INDENT))),
    ]


def _list_warnings(fit: Fit, is_whole: bool) -> list[str]:
    most, of_one = (None, None) if is_whole else (_MOST_WARNINGS, 2)
    lines = [
        line
        for warning in fit.warnings[:most]
        for line in wrap_text(f"! {warning[:1].upper()}{warning[1:]}", _INDENT)[:of_one]
    ]
    rest = 0 if is_whole else len(fit.warnings) - _MOST_WARNINGS
    return [*lines, *which_hold((rest > 0, f"{_INDENT}! {rest} more: --all"))]


def _paths(fit: Fit) -> list[Part]:
    paths = fit.paths
    unwritten = f"{_INDENT}No code was written: --code writes the fitted heap's."
    named = (("code", paths.code), ("plan", paths.plan), ("report", paths.report))
    return [
        Fields({"paths": paths}),
        *map(Line, which_hold((paths.code is None, unwritten))),
        *(
            Line(f"{_INDENT}{name:7}{path}", is_copied=True)
            for name, path in named
            if path is not None
        ),
    ]
