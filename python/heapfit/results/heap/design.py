# SPDX-License-Identifier: Apache-2.0
"""The page of a design: the plans made for one recording, or for several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.case import ReportCase, make_case
from heapfit.comparison.comparison import Comparison, measure_portfolio
from heapfit.comparison.measuring import Precision
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import select_row
from heapfit.design.plan_files import Designs
from heapfit.design.robust.design import count_folds
from heapfit.importers.site_names import site_names
from heapfit.results.document import Document
from heapfit.results.heap.case_content import case_sections
from heapfit.results.html import write
from heapfit.results.number_text import count, known_size, percent, ratio, size, term
from heapfit.results.parts import Cell, Column, Fold, Line, NamedFigure, Part, Section, Table
from heapfit.results.plans import class_table
from heapfit.results.sections.opening import opening_of
from heapfit.results.sections.page import in_order, name_source
from heapfit.results.sections.risk import RunGroup, risk_section
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace

_MOST_OTHERS = 5  # plans measured once more on the recording that is shown, after the chosen one


@dataclass(frozen=True, slots=True)
class DesignPageOptions:
    """How a page of a design was requested."""

    alignment: int
    precision: Precision
    programs: Sequence[Path] = ()  # recorded ones, for the names of call sites
    command: str = ""  # that was typed


def write_design_page(
    path: Path, designs: Designs, shown: LoadedTrace, asked: DesignPageOptions
) -> None:
    """Writes the page of one recording: reads it once more and replays its winner."""
    comparison = designs.comparison
    case = make_case(shown, comparison, select_row(comparison), site_names(shown, asked.programs))
    write(path, _page_of(case, opening_of(case, "fit --plans"), _tell_plans(designs), asked))


@dataclass(frozen=True, slots=True)
class RobustDesignInput:
    """Plans for several recordings, each with its name."""

    designs: Comparison
    traces: Sequence[Trace]
    names: Sequence[str]


def write_robust_page(path: Path, several: RobustDesignInput, asked: DesignPageOptions) -> None:
    """Writes the page of several recordings, with the best plans on the most demanding one."""
    chosen = select_row(several.designs)
    most = max(range(len(several.traces)), key=lambda i: chosen.needs[i] or 0)
    case = _measure_on(several, load_trace(several.traces[most], asked.alignment), asked)
    opening = _opening(several, case, several.names[most])
    write(path, _page_of(case, opening, _tell_robust(several), asked, _risk(several)))


def _page_of(
    case: ReportCase,
    opening: Document,
    plans: Iterable[Part],
    asked: DesignPageOptions,
    risk: Section | None = None,
) -> Document:
    sections = [*case_sections(case), Section("plans", "All plans", [*plans]), risk]
    commands = [("These plans:", asked.command)]
    notes = case.shown.trace.info.notes
    return replace(opening, sections=in_order(sections, notes, commands))


def _tell_plans(designs: Designs) -> Iterator[Part]:
    """The plan files, and the best size classes of pools alone."""
    comparison = designs.comparison
    files: list[Column[tuple[Row, Path]]] = [
        Column(page="plan", shown=lambda one: one[0].name),
        Column(page="needs", shown=lambda one: one[0].r_safe, told=size),
        Column(page="over the peak", shown=lambda one: one[0].over_u_max, told=ratio),
        Column(page="file", shown=lambda one: one[1].name),
    ]
    rows = [*zip(comparison.rows, designs.paths, strict=True)]
    caption = "Each is a plan file for `heapfit check` and `heapfit generate`."
    table = Table(files, rows, caption=caption, look="cards numbers texts")
    yield Fold(f"{len(rows)} plan files", [table])
    yield Fold(
        "Size classes for pools without a shared heap, the best for each number of pools",
        [class_table(designs.classes, comparison.u_max)],
    )


def _tell_robust(several: RobustDesignInput) -> Iterator[Part]:
    """The region of each plan, and the chosen one on each run."""
    robust = several.designs
    chosen = select_row(robust)
    yield Line(
        f"Region that serves every trace of {len(robust.peaks)} runs. Recorded: "
        "of the plan made from all. Hold-out: of plans made without the runs that they are "
        "measured on."
    )
    columns: list[Column[Row]] = [
        Column(
            page="plan",
            shown=lambda row: Cell(row.name, (row.reason,), "chosen" if row is chosen else ""),
        ),
        Column(page="recorded", shown=lambda row: row.r_safe, told=known_size),
        Column(page="hold-out", shown=lambda row: row.unseen_r_safe, told=known_size),
        Column(
            page="margin without a failure",
            shown=lambda row: None if row.safe_margin is None else f"{row.safe_margin} %",
        ),
    ]
    caption = "The least for hold-out runs first; –: no region serves them."
    yield Table(columns, robust.rows, caption=caption, lead=chosen)
    places: list[Column[int]] = [
        Column(page="run", shown=lambda i: several.names[i]),
        Column(page=term("u-max"), shown=lambda i: robust.peaks[i], told=size),
        Column(page="needs", shown=lambda i: chosen.needs[i], told=size),
        Column(
            page="unseen",
            shown=lambda i: size(chosen.unseen[i]) if chosen.unseen else None,
        ),
    ]
    yield Fold("The chosen plan on each run", [Table(places, range(len(several.names)))])


def _measure_on(
    several: RobustDesignInput, shown: LoadedTrace, asked: DesignPageOptions
) -> ReportCase:
    """The chosen plan and the next best, measured on one of the recordings."""
    designs = several.designs
    chosen = select_row(designs)
    others = [row for row in designs.rows if row is not chosen and not row.is_cut_to_trace]
    candidates = [
        Candidate(row.name, row.heap, row.reason, row.trained_on_this_trace)
        for row in (chosen, *others[:_MOST_OTHERS])
    ]
    comparison = measure_portfolio(
        shown, Portfolio(tuple(candidates), ()), precision=asked.precision
    )
    winner = next(row for row in comparison.rows if row.name == chosen.name)
    return make_case(shown, comparison, winner, site_names(shown, asked.programs))


def _opening(several: RobustDesignInput, case: ReportCase, shown: str) -> Document:
    designs = several.designs
    chosen = select_row(designs)
    heap = chosen.heap_size
    lead = [NamedFigure("over the largest peak", ratio(_ratio_to_peak(chosen.r_safe, designs)))]
    if heap is not None:
        lead.insert(0, NamedFigure("set the heap to", size(heap.region)))
        lead.insert(1, NamedFigure("margin in it", f"{heap.margin:g} %"))
    opening = opening_of(case, "fit --plans")
    return replace(
        opening,
        title=f"{several.names[0]} and {len(several.names) - 1} more",
        source=name_source(", ".join(several.names)),
        sentences=(_sentence(chosen, designs),),
        lead=tuple(lead),
        remarks=(f"Below, the page shows {shown}, which needs the largest region.",),
        trust=(
            NamedFigure("recordings", count(len(designs.peaks)), "one plan for all of them"),
            NamedFigure("folds", count(count_folds(len(designs.peaks))), "of the holdout check"),
            *opening.trust[1:],
        ),
    )


def _sentence(chosen: Row, designs: Comparison) -> str:
    if chosen.r_safe is None:
        return "No plan serves all of them in any region tried."
    above = percent((_ratio_to_peak(chosen.r_safe, designs) or 1) - 1)
    return (
        f"{chosen.name} needs {size(chosen.r_safe)} for all {len(designs.peaks)} runs, {above} "
        "above the largest peak."
    )


def _ratio_to_peak(region: int | None, designs: Comparison) -> float | None:
    return region / designs.u_max if region is not None and designs.u_max else None


def _risk(several: RobustDesignInput) -> Section | None:
    """The risk of the recordings, and of each in a plan made without it."""
    chosen = select_row(several.designs)
    heap = chosen.heap_size
    unseen = chosen.unseen if chosen.trained_on_this_trace else ()
    groups = (RunGroup("recorded runs", chosen.needs), RunGroup("hold-out runs", unseen))
    caption = (
        "Each dot is a run, at the bytes that it needs; left of the line, the region to set with "
        "its margin, it is served. Recorded: in the plan made from all. Hold-out: each run in a "
        "plan made without it."
    )
    return risk_section(groups, None if heap is None else heap.region, caption)
