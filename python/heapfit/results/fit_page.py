# SPDX-License-Identifier: Apache-2.0
"""The page of a fit: its answer, what it rests on, and every heap that was measured."""

from __future__ import annotations

import shlex
from pathlib import Path

from heapfit.comparison.case import ReportCase, find_usual_heap, keep_heap
from heapfit.comparison.heap_map import measure_case
from heapfit.drawing.document import FAILED, HOLDS, UNSURE, Document
from heapfit.drawing.html import render, write_page
from heapfit.drawing.number_text import ratio, size, term
from heapfit.drawing.parts import Column, Line, Part, Piece, Section, Table
from heapfit.fitting.reference_heaps import ReferenceKind
from heapfit.fitting.result import Fit, Run
from heapfit.plan.quantities import format_count
from heapfit.programs.site_names import site_names
from heapfit.progress import Progress, ignore_progress
from heapfit.results.case import case_sections
from heapfit.results.incumbent import incumbent_section
from heapfit.results.kind import kind_section
from heapfit.results.longer import make_longer_section
from heapfit.results.screen import reference_columns
from heapfit.results.sections.page import (
    name_source,
    order_sections,
    recording_kind,
    request_source,
)
from heapfit.results.sections.plan_layers import plan_file_section
from heapfit.trace.loaded import LoadedTrace

_PLAN_TEXT = "plan-text"  # the place of the plan file's text
_STEP = "write the page"


def write_report(
    path: Path, fit: Fit, shown: LoadedTrace, progress: Progress = ignore_progress
) -> None:
    """Writes the report of `fit` to `path`; the file appears whole or not at all."""
    write_page(path, render_fit(fit, shown, progress))


def render_fit(fit: Fit, shown: LoadedTrace, progress: Progress = ignore_progress) -> str:
    """The page as text, the same for the same fit; `shown` is the trace of fit.trace."""
    page = fit_page(fit, shown, progress)
    progress(_STEP, 0.5)
    return render(page)


def case_from_fit(fit: Fit, shown: LoadedTrace) -> ReportCase:
    """The case that the page is about."""
    beside = fit.today.heap if fit.today else find_usual_heap(shown.alignment)
    sites = site_names(shown, fit.options.programs)
    case = ReportCase(shown, fit.comparison, fit.winner, beside, sites=sites)
    return keep_heap(case, fit.answer.heap) if fit.answer.is_kept else case


def fit_page(fit: Fit, shown: LoadedTrace, progress: Progress = ignore_progress) -> Document:
    """The page; reads the plan file that the fit wrote."""
    case = case_from_fit(fit, shown)
    info, heap_size = fit.trace.info, fit.answer.size
    tone, badge = _judge(fit)
    is_sized = not fit.leak or bool(fit.lasts)
    about = [*fit.basis[1:], fit.replayed] if is_sized else fit.kinds.growth[1:]
    below = f"Below, the page shows {fit.shown.name}, which needs the largest region."
    mapped = measure_case(case, progress)
    sections = [
        *case_sections(case, mapped, fit.verdict),
        kind_section(fit.kinds.shown, fit.kinds.each, fit.kinds.names),
        make_longer_section(fit.longer, heap_size.region),
        plan_file_section(fit.plan_file, case.winner.replay_region),
        Section("choices", "What you could choose", _choices(fit)) if is_sized else None,
        None if fit.today is None else incumbent_section(fit.today, is_kept=fit.answer.is_kept),
        _runs_section(fit),
    ]
    progress("pack the heap map", 1.0)
    return Document(
        command="fit",
        title=info.program or f"{fit.name}{f' and {len(fit.runs) - 1} more' * (len(fit.runs) > 1)}",
        kind=recording_kind(info),
        source=name_source(request_source(info, fit.shown.source)),
        sentences=(fit.headline, *([fit.sized] if fit.leak and is_sized else [])),
        remarks=[*about, *([below] if len(fit.runs) > 1 else [])],
        define=_define(fit) if is_sized else "",
        badge=badge,
        tone=tone,
        bytes_go=_divide_bytes(fit) if is_sized else (),
        plan_place="" if fit.paths.code is None or not is_sized else _PLAN_TEXT,
        warnings=_list_warnings(fit),
        sections=order_sections(sections, fit.notes, _list_commands(fit)),
    )


def _choices(fit: Fit) -> list[Part]:
    """The heaps that one could set instead, with what each costs."""
    # Pools counted on the recording have no reserve.
    rows = sorted(
        (one for one in fit.references if one.region and one.standing is not ReferenceKind.COUNTED),
        key=lambda row: row.region or 0,
    )
    words = (
        "Each heap for these recordings, with its reserve. Instructions of a Cortex-M4, estimated; "
        "flash in bytes of code of init, malloc and free: the README of the code has what further "
        "functions add."
    )
    return [Table(reference_columns(fit, has_marks=False), rows, caption=words)]


def _runs_section(fit: Fit) -> Section | None:
    """The recordings, where there are several."""
    if len(fit.runs) == 1:
        return None
    words = f"One heap for all. {fit.largest.name} needs the largest region."
    whose = fit.answer.heap.title if fit.answer.is_kept else "the chosen plan"
    caption = f"Region of {whose} on each recording, over that recording's peak."
    return Section(
        "runs", "The recordings", [Line(words), Table(RUNS, fit.runs, caption=caption)], ""
    )


RUNS: tuple[Column[Run], ...] = (
    Column("name", "recording"),
    Column("u_max", "U_max", page=term("u-max"), told=size),
    Column("r_safe", "R_safe", page=term("r-safe"), told=size),
    Column(page="by a plan made without it", shown=lambda run: run.unseen, told=size),
    Column("over_u_max", "over its U_max", page=term("over"), told=ratio),
)


def _judge(fit: Fit) -> tuple[str, str]:
    """The tone of the answer, and the answer in a few words."""
    held = fit.holdout
    found = (
        (
            held.seen_refused,
            FAILED,
            f"Out of memory: {held.seen_refused} of {held.seen} recordings",
        ),
        (fit.leak, FAILED, "Leak"),
        (fit.kinds.growth, UNSURE, "Growing"),
        (not fit.answer.known.is_enough, UNSURE, "Too few recordings"),
        (True, HOLDS, f"Serves {held.seen} of {format_count(held.seen, 'recording')}"),
    )
    return next((tone, badge) for holds, tone, badge in found if holds)


def _divide_bytes(fit: Fit) -> tuple[Piece, ...]:
    """The region as peak, allocator and reserve."""
    heap_size = fit.answer.size
    needed = heap_size.region_with(0)
    parts = (
        Piece("peak", heap_size.peak, "--live"),
        Piece("allocator", needed - heap_size.peak, "--other-1"),
        Piece("reserve", heap_size.region - needed, "--good"),
    )
    return tuple(part for part in parts if part.bytes > 0)


def _list_warnings(fit: Fit) -> tuple[str, ...]:
    """What was found that matters, the limits of the answer among it."""
    noted = {note.rstrip(".").lower() for note in fit.notes}
    return tuple(one for one in fit.findings if one.rstrip(".").lower() not in noted)


def _define(fit: Fit) -> str:
    """The line that sets the heap's size in the program."""
    region, kept = fit.answer.size.region, fit.answer.heap
    if not fit.answer.is_kept:
        return f"#define APP_HEAP_BYTES {region}u"
    setting = kept.setting if kept.setting.isidentifier() else "HEAP_BYTES"
    return f"#define {setting} {kept.set_to(region)}u"


def _list_commands(fit: Fit) -> list[tuple[str, str]]:
    plan = _quote(fit.paths.plan)
    commands = [
        ("Repeat this fit from the recording:", _write_fit_command(fit)),
        ("Check another recording on the plan:", f"heapfit check OTHER --plan {plan}"),
        ("Write the C code of the plan:", f"heapfit generate {plan}"),
    ]
    return commands if fit.paths.code else commands[:2]


def _write_fit_command(fit: Fit) -> str:
    """The command that repeats the fit, with every option that decides the result."""
    info, options = fit.trace.info, fit.options
    sources = " ".join(_quote(run.source) for run in fit.runs)
    given = {
        "--queue": _quote(info.queue) if info.kind == "packets" else None,
        "--prefer": options.prefer,
        "--peak": options.peak,
        "--margin": None if options.margin is None else f"{options.margin:g}",
        "--now": options.now,
    }
    flags = {"--pools": options.pools, "--call-sites": options.call_sites, "--sized": options.sized}
    words = [f"heapfit fit {sources} --alignment {options.alignment}"]
    words += [f"--program {_quote(program)}" for program in options.programs]
    words += [f"{name} {value}" for name, value in given.items() if value is not None]
    return " ".join([*words, *(name for name, is_given in flags.items() if is_given)])


def _quote(path: object) -> str:
    return shlex.quote(str(path))
