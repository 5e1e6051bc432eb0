# SPDX-License-Identifier: Apache-2.0
"""The first screen of `fit`, the answer first.

    headline             the bytes to set and what that saves; or what leaks, and then no size
    basis                what the bytes are made of, and the price in instructions
    table                the answer beside heaps that its reader knows: four rows at most
    replayed             the recordings and changed programs in just this heap, and longer runs
    findings             what was found that matters, two lines each
    next step            the page, the code, the plan

At most 22 lines of 80 columns; `--all` shows the rest.
"""

from __future__ import annotations

from heapfit.drawing.number_text import change, count, ratio, size
from heapfit.drawing.parts import (
    Cell,
    Column,
    Fields,
    Group,
    Line,
    Part,
    Table,
    hide_unless,
    paragraph,
    which_hold,
)
from heapfit.drawing.text import WIDTH, lines_of, wrap_text
from heapfit.fitting.reference_heaps import ReferenceKind, ReferenceRow
from heapfit.fitting.result import Fit
from heapfit.plan.quantities import format_count
from heapfit.results.kind import describe_kinds, growth_table, kind_fields
from heapfit.results.longer import describe_longer_runs

_RECORDED = "recorded on"
_MOST_LINES = 22
_MOST_OF_FINDING = 2  # lines
_MOST_ROWS = 4
_INDENT = "  "
_QUEUE_ASSUMED = (
    "Assumed: 1,000 packets wait, then all leave; a capture does not show it. "
    "Give --queue fifo:PACKETS_PER_S or link:BITS_PER_S."
)
# Shown where there are more rows than the table takes.
_FIRST = (ReferenceKind.TODAY, ReferenceKind.FITTED, ReferenceKind.RULE, ReferenceKind.OTHER)


def first_screen(fit: Fit, is_whole: bool) -> list[Part]:
    """The parts of the screen; with `is_whole` all that it leaves out, after the answer."""
    build, effort, longer = fit.this_build, fit.options.effort, fit.longer
    told = build and {"name": build.name, "region": build.region, "broken": build.broken}
    is_sized = is_whole or not fit.leak or bool(fit.lasts)
    replayed = [fit.replayed] if is_sized and not fit.answer.known.load.is_start else []
    opening: list[Part] = [
        *paragraph(fit.headline),
        *map(_indent, [*([fit.sized] if fit.leak and is_sized else [])]),
        *map(_indent, fit.basis if is_sized else fit.kinds.growth[1:]),
        Line(""),
        *([] if is_sized else [growth_table(fit.kinds.shown, fit.kinds.names, len(_INDENT))]),
        *hide_unless(is_sized, [_reference_table(fit, is_whole)]),
    ]
    closing = [Line(""), *map(_indent, replayed)]
    paths = _paths(fit, is_whole)
    room = _MOST_LINES - sum(_count_lines(part) for part in (*opening, *closing, *paths))
    whole: list[Part] = [
        *map(_indent, [_title(fit), describe_kinds(fit.kinds.each), _legend(fit)]),
        Group("longer_runs", describe_longer_runs(longer, fit.lasts, len(_INDENT))),
    ]
    changes = [] if fit.changes is None else [Fields({"changes": fit.changes.to_rows()})]
    return [
        *opening,
        *closing,
        *map(Line, _list_findings(fit, 10**6 if is_whole else room)),
        *hide_unless(is_whole, whole),
        Fields({"kinds": [kind_fields(kind) for kind in fit.kinds.each]}),
        *_queue_fields(fit),
        Fields({"held": fit.holdout}),
        *changes,
        Fields({"this_build": told, "by_site": fit.by_site}),
        Fields({"looked_at": fit.excerpt, "effort": effort}),
        *paths,
    ]


def _indent(text: str) -> Line:
    return Line(f"{_INDENT}{text}")


def _count_lines(part: Part) -> int:
    if isinstance(part, Line):
        return len(lines_of(part.text, is_copied=part.is_copied))
    return len(part.cells) + 1 if isinstance(part, Table) and part.visible else 0


def _reference_table(fit: Fit, is_whole: bool) -> Table[ReferenceRow]:
    """The heaps in the order of their bytes; without `is_whole` four, and no marks."""
    rows = [row for row in fit.references if row.standing is not ReferenceKind.COUNTED]
    rows.sort(key=lambda row: row.standing not in _FIRST)
    shown = sorted(rows[:_MOST_ROWS], key=lambda row: row.region or 0)
    columns, rows_shown = reference_columns(fit, is_whole), fit.references if is_whole else shown
    return Table(columns, fit.references, "beside", indent=len(_INDENT), shown=rows_shown)


def reference_columns(fit: Fit, has_marks: bool) -> list[Column[ReferenceRow]]:
    """The figures of a heap; `has_marks`: behind its name, where they are explained."""
    fitted, set_to, is_kept = fit.fitted.region, fit.answer.size.region, fit.answer.is_kept

    def is_set(row: ReferenceRow) -> bool:
        return row.region == set_to and (row.standing is ReferenceKind.FITTED) == (not is_kept)

    def describe_saving(row: ReferenceRow) -> str | None:
        """What the fitted heap saves over a row."""
        had = row.region if row.standing is not ReferenceKind.FITTED else None
        return f"{100 * (1 - fitted / had):.1f} %" if had and fitted else None

    def name(row: ReferenceRow) -> str:
        return " ".join([row.title, *(_marks(row) if has_marks else [])])

    return [
        Column("title", "heap", shown=name, page=""),
        Column(
            page="heap",
            shown=lambda row: Cell(row.title, mark="this answer" * is_set(row), tone="holds"),
        ),
        Column("standing"),
        Column("region", "bytes", told=size),
        Column(heading="saves", page="", shown=describe_saving),
        Column(page="beside the answer", shown=lambda row: change((row.region or 0) - set_to)),
        Column("r_safe", value=lambda row: row.size and row.size.r_safe),
        Column("margin_percent", value=lambda row: row.size and row.size.margin),
        Column("over_peak", page="with the reserve, of the peak", told=ratio),
        Column(
            "mean",
            "instr./call",
            value=lambda row: row.costs.mean,
            shown=lambda row: _round_figure(row.costs.mean),
            page="instructions a call",
            told=count,
        ),
        Column(
            "longest",
            "longest",
            value=lambda row: row.costs.longest,
            shown=lambda row: _round_figure(row.costs.longest),
            page="longest call",
            told=count,
        ),
        Column("flash", "flash", value=lambda row: row.costs.flash, told=count),
        Column("flash_adds", value=lambda row: dict(row.costs.adds)),
        Column("has_checks", value=lambda row: row.costs.has_checks),
    ]


def _list_findings(fit: Fit, room: int) -> list[str]:
    """The findings that have room, two lines each; then how many have none."""
    lines: list[str] = []
    findings = [*which_hold((_is_queue_assumed(fit), _QUEUE_ASSUMED)), *fit.findings]
    for number, text in enumerate(findings):
        wrapped = wrap_text(text, _INDENT)
        if room < 10**6 and len(wrapped) > _MOST_OF_FINDING:
            wrapped = [wrapped[0], f"{wrapped[1][: WIDTH - 4].rstrip()} ..."]
        is_last = number == len(findings) - 1
        if len(lines) + len(wrapped) + (not is_last) > room:
            return [*lines, f"{_INDENT}{len(findings) - number} more to know: --all"]
        lines += wrapped
    return lines


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
    return f"{largest.name} needs {f'{more:,} B more than the others' if more else 'the most'}"


def _is_queue_assumed(fit: Fit) -> bool:
    """True if how long packets stay, which decides the heap, was assumed."""
    given = fit.options.importing.queue
    return fit.trace.info.kind == "packets" and given is None and fit.trace.path != fit.shown.source


def _queue_fields(fit: Fit) -> list[Part]:
    info = fit.trace.info
    told = {"model": info.queue, "is_assumed": _is_queue_assumed(fit)}
    return [Fields({"queue": told})] if info.kind == "packets" else []


def _marks(row: ReferenceRow) -> list[str]:
    return which_hold(
        (row.standing is ReferenceKind.RULE, "*"),
        (row.is_of_excerpt, "+"),
        (not row.costs.has_checks, "#"),
    )


def _round_figure(value: float | None) -> int | None:
    return None if value is None else round(value)


def _legend(fit: Fit) -> str:
    marks = {mark for row in fit.references for mark in _marks(row)}
    meanings = which_hold(
        ("*" in marks, "* simulated"),
        ("+" in marks, "+ measured on the excerpt"),
        ("#" in marks, "# frees not checked"),
        (True, f"Instructions: of a Cortex-M4, estimated. {_describe_adds(fit)}"),
    )
    return "  ".join(meanings)


def _describe_adds(fit: Fit) -> str:
    """What flash is of, and what further functions of the fitted heap add to it."""
    adds = [f"{name} {size:,}" for name, size in fit.fitted.costs.adds.items()]
    told = "Flash: of init, malloc and free"
    return (
        f"{told}; the fitted heap's further functions: {', '.join(adds)}." if adds else f"{told}."
    )


def _paths(fit: Fit, is_whole: bool) -> list[Part]:
    """What to open next: on one line if it is not too wide."""
    paths = fit.paths
    named = (("Open", paths.report), ("code", paths.code), ("plan", paths.plan))
    known = [f"{name} {path}" for name, path in named if path is not None]
    known = known if is_whole or len(known) < len(named) else known[:-1]  # the code's folder has it
    rest = which_hold((not is_whole, "more: --all"), (paths.code is None, "--code"))
    line = "     ".join([*known, ", ".join(rest)]).rstrip()
    lines = [line] if len(line) + len(_INDENT) <= WIDTH else [*known, ", ".join(rest)]
    return [Fields({"paths": paths}), *(Line(f"{_INDENT}{one}", is_copied=True) for one in lines)]
