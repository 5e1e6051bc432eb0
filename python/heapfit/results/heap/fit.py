# SPDX-License-Identifier: Apache-2.0
"""The report of a fit: its content, gathered from a Fit in the template's terms, and rendered."""

from __future__ import annotations

import base64
import io
import shlex
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from heapfit.fitting.result import Fit
from heapfit.importers.site_names import site_names
from heapfit.progress import Progress, ignore_progress
from heapfit.results import html
from heapfit.results.case import ReportCase, keep_heap
from heapfit.results.heap.case_content import gather_case
from heapfit.results.number_text import count, ratio, size
from heapfit.results.saving import describe_saving
from heapfit.results.sections import content
from heapfit.results.sections.content import (
    FAILED,
    HOLDS,
    UNSURE,
    PageCommand,
    PageContent,
    PageFigure,
    PageOpening,
    PagePart,
)
from heapfit.results.sections.kind import kind_part
from heapfit.results.sections.longer import describe_risk_as_long, make_longer_part
from heapfit.results.sections.plan_layers import plan_part
from heapfit.results.sections.risk import Risk, RunGroup, risk_of
from heapfit.trace.loaded import LoadedTrace

_STEP = "write the page"
_LARGEST_PAGE = 600_000  # bytes: a page that would be larger has no zip
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first that a zip knows: the same folder is the same zip
_TEMPLATE = Path(__file__).with_name("fit.html.j2")


def write_report(
    path: Path,
    fit: Fit,
    shown: LoadedTrace,
    code: Callable[[], Path | None] = lambda: None,
    progress: Progress = ignore_progress,
) -> None:
    """Writes the report of `fit` to `path`; the file appears whole or not at all.

    `code` gives the folder of the generated C; it is asked when all else is gathered.
    """

    def zip_code() -> str:
        folder = code()
        return "" if folder is None else zip_folder(folder)

    html.write_page(path, render(fit, shown, zip_code, progress))


def render(
    fit: Fit,
    shown: LoadedTrace,
    code: Callable[[], str] = lambda: "",
    progress: Progress = ignore_progress,
) -> str:
    """The page as text, the same for the same fit; `shown` is the trace of fit.trace.

    The page without the code is rendered while compilers still work on that.
    """
    gathered = gather(fit, shown, progress)
    progress(_STEP, 0.4)
    bare = content.render(_TEMPLATE, gathered, fit=fit, code="")
    progress(_STEP, 0.9)
    packed = code()
    page = content.render(_TEMPLATE, gathered, fit=fit, code=packed) if packed else bare
    return bare if len(page.encode()) > _LARGEST_PAGE else page


def case_from_fit(fit: Fit, shown: LoadedTrace) -> ReportCase:
    """The case that the page is about."""
    today = fit.today.heap if fit.today else None
    sites = site_names(shown, fit.options.programs)
    case = ReportCase(shown, fit.comparison, fit.winner, today, sites=sites)
    return keep_heap(case, fit.answer.heap) if fit.answer.is_kept else case


def gather(fit: Fit, shown: LoadedTrace, progress: Progress = ignore_progress) -> PageContent:
    """All content of the page; reads the plan file that the fit wrote."""
    case = case_from_fit(fit, shown)
    opening = _describe_opening(fit, case.winner.alignment)
    return replace(
        gather_case(case, opening, _list_commands(fit), progress),
        risk=_draw_risk(fit),
        kind=kind_part(fit.kinds.shown, _count_kinds(fit), fit.kinds.names),
        longer=make_longer_part(fit.longer, fit.answer.size.region),
        notes=fit.trace.info.notes,
        plan=plan_part(fit.plan_file, case.winner.replay_region),
        own_links=(("choices", "Choices"),),
    )


def _describe_opening(fit: Fit, alignment: int) -> PageOpening:
    info, winner, answer = fit.trace.info, fit.winner, fit.answer
    heap_size = fit.answer.size
    tone, badge = _judge(fit)
    lead = [
        PageFigure("set to", size(heap_size.region)),
        PageFigure("heap", answer.heap.title)
        if answer.is_kept
        else PageFigure("plan", winner.name),
    ]
    lead.append(PageFigure("of the peak", ratio(heap_size.region / max(heap_size.u_max, 1))))
    suggestions = f"For more confidence: {'; '.join(fit.suggestions)}." if fit.suggestions else ""
    changes = "" if fit.changes is None else fit.changes.sentence(heap_size.margin)
    remarks = (*describe_saving(fit), changes, suggestions)
    return PageOpening(
        command="fit",
        title=info.program or fit.name,
        source=content.request_source(info, fit.source),
        kind=content.recording_kind(info),
        sentences=(*fit.kinds.growth, *fit.answer.sentences(is_growing=bool(fit.kinds.growth))),
        lead=tuple(lead),
        remarks=tuple(one for one in remarks if one),
        define=_define(fit),
        badge=badge,
        tone=tone,
        bytes_go=_divide_bytes(fit),
        trust=_list_trust(fit, alignment),
        warnings=_list_warnings(fit),
    )


def _judge(fit: Fit) -> tuple[str, str]:
    """The tone of the answer, and the answer in a few words."""
    held = fit.holdout
    if held.seen_refused:
        return FAILED, f"Out of memory: {held.seen_refused} of {held.seen} recordings"
    if fit.kinds.growth:
        return UNSURE, "Growing"
    if not fit.answer.is_enough:
        return UNSURE, "Too few recordings"
    served = f"Serves {held.seen} of {held.seen} recording{'s' * (held.seen > 1)}"
    risk, is_certain = describe_risk_as_long(fit.longer)
    if not risk:
        return HOLDS, served
    return UNSURE if is_certain else "", f"{served}; {risk}"


def _divide_bytes(fit: Fit) -> tuple[PagePart, ...]:
    """The region as peak, allocator and margin."""
    heap_size = fit.answer.size
    needed = heap_size.region_with(0)
    parts = (
        PagePart("peak", heap_size.peak, "--live"),
        PagePart("allocator", needed - heap_size.peak, "--other-1"),
        PagePart("margin", heap_size.region - needed, "--good"),
    )
    return tuple(part for part in parts if part.bytes > 0)


def _count_kinds(fit: Fit) -> str:
    """The kinds of several recordings by their number."""
    if len(fit.kinds.each) == 1:
        return ""
    counts = Counter(kind.kind for kind in fit.kinds.each)
    return f" Of all: {', '.join(f'{times} {kind}' for kind, times in counts.most_common())}."


def _list_warnings(fit: Fit) -> tuple[str, ...]:
    """The limits of the answer, and the excerpt that the figures of a long recording are of."""
    warnings = tuple(one for one in fit.warnings if one not in fit.trace.info.notes)
    return warnings if fit.excerpt is None else (fit.excerpt.sentence(), *warnings)


def _list_trust(fit: Fit, alignment: int) -> tuple[PageFigure, ...]:
    held, needed = fit.holdout, fit.answer.size  # of all recordings
    saved = size(needed.region - needed.peak)
    return (
        PageFigure(
            "out of memory",
            count(held.seen_refused),
            f"of {count(held.seen)} replayed in this heap",
        ),
        PageFigure("margin", f"{fit.answer.size.margin:g} %", "above the need of the recordings"),
        PageFigure(
            "peak of live bytes", size(needed.u_max), f"a better heap saves at most {saved}"
        ),
        content.pointer_figure([fit.trace.info]),
        PageFigure("alignment", size(alignment), "of every block"),
    )


def _draw_risk(fit: Fit) -> Risk | None:
    """The risk of the recordings, and of each in a plan made without it."""
    seen = tuple(run.r_safe for run in fit.runs)
    unseen = tuple(run.unseen for run in fit.runs) if len(fit.runs) > 1 else ()
    groups = (
        RunGroup("recorded runs", seen),
        RunGroup("hold-out runs", () if unseen == seen else unseen),
    )
    caption = (
        "Each dot is a run, at the bytes that it needs in this heap; left of the line it is served."
    )
    if unseen and unseen != seen:
        caption += " Hold-out: each recording in a plan made without it."
    return risk_of(groups, fit.answer.size.region, caption)


def _define(fit: Fit) -> str:
    """The line that sets the heap's size in the program."""
    region, kept = fit.answer.size.region, fit.answer.heap
    if not fit.answer.is_kept:
        return f"#define APP_HEAP_BYTES {region}u"
    setting = kept.setting if kept.setting.isidentifier() else "HEAP_BYTES"
    return f"#define {setting} {kept.set_to(region)}u"


def _list_commands(fit: Fit) -> tuple[PageCommand, ...]:
    again = PageCommand("Repeat this fit from the recording:", _write_fit_command(fit))
    plan = _quote(fit.paths.plan)
    check = PageCommand(
        "Check another recording on the plan:", f"heapfit check OTHER --plan {plan}"
    )
    if fit.paths.code is None:
        return (again, check)
    return (again, check, PageCommand("Write the C code of the plan:", f"heapfit generate {plan}"))


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


def zip_folder(folder: Path) -> str:
    """The zip of all files of a folder, below its name, in base64: for who has the page alone."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                entry = zipfile.ZipInfo(str(file.relative_to(folder.parent)), _EPOCH)
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return base64.b64encode(packed.getvalue()).decode("ascii")
