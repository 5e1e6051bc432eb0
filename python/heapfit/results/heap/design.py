# SPDX-License-Identifier: Apache-2.0
"""The page of a design: the plans made for one recording, or for several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.comparison import measure_portfolio
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.measuring import Precision
from heapfit.comparison.verdict import select_row
from heapfit.design.plan_files import Designs
from heapfit.design.robust.design import RobustDesigns
from heapfit.design.robust.row import RobustRow
from heapfit.importers.site_names import site_names
from heapfit.results import html
from heapfit.results.case import ReportCase, make_case
from heapfit.results.heap.case_content import gather_case
from heapfit.results.number_text import count, percent, ratio, size
from heapfit.results.sections import content
from heapfit.results.sections.content import PageCommand, PageContent, PageFigure, PageOpening
from heapfit.results.sections.opening import opening_of
from heapfit.results.sections.risk import Risk, RunGroup, risk_of
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace

_TEMPLATE = Path(__file__).with_name("design.html.j2")
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
    gathered = _content(case, opening_of(case, "fit --plans"), asked)
    text = content.render(_TEMPLATE, gathered, designs=designs, robust=None, names=())
    html.write_page(path, text)


@dataclass(frozen=True, slots=True)
class RobustDesignInput:
    """Plans for several recordings, each with its name."""

    designs: RobustDesigns
    traces: Sequence[Trace]
    names: Sequence[str]


def write_robust_page(path: Path, several: RobustDesignInput, asked: DesignPageOptions) -> None:
    """Writes the page of several recordings, with the best plans on the most demanding one."""
    chosen = several.designs.chosen
    most = max(range(len(several.traces)), key=lambda i: chosen.regions[i] or 0)
    case = _measure_on(several, load_trace(several.traces[most], asked.alignment), asked)
    opening = _opening(several, case, several.names[most])
    gathered = replace(_content(case, opening, asked), risk=_risk(several))
    robust = several.designs
    text = content.render(_TEMPLATE, gathered, designs=None, robust=robust, names=several.names)
    html.write_page(path, text)


def _content(case: ReportCase, opening: PageOpening, asked: DesignPageOptions) -> PageContent:
    gathered = gather_case(case, opening, (PageCommand("These plans:", asked.command),))
    return replace(gathered, own_links=(("plans", "All plans"),))


def _measure_on(
    several: RobustDesignInput, shown: LoadedTrace, asked: DesignPageOptions
) -> ReportCase:
    """The chosen plan and the next best, measured on one of the recordings."""
    designs = several.designs
    chosen = designs.chosen
    others = [row for row in designs.rows if row is not chosen and not row.is_cut]
    candidates = [
        Candidate(row.name, Heap(row.name, row.plan), row.reason, row.is_trained)
        for row in (chosen, *others[:_MOST_OTHERS])
    ]
    comparison = measure_portfolio(
        shown, Portfolio(tuple(candidates), ()), precision=asked.precision
    )
    winner = next(row for row in comparison.rows if row.name == chosen.name)
    return make_case(shown, comparison, winner, site_names(shown, asked.programs))


def _opening(several: RobustDesignInput, case: ReportCase, shown: str) -> PageOpening:
    designs = several.designs
    chosen, heap = designs.chosen, designs.heap_size(designs.chosen)
    lead = [PageFigure("over the largest peak", ratio(_ratio_to_peak(chosen.region, designs)))]
    if heap is not None:
        lead.insert(0, PageFigure("set the heap to", size(heap.region)))
        lead.insert(1, PageFigure("margin in it", f"{heap.margin:g} %"))
    opening = opening_of(case, "fit --plans")
    return replace(
        opening,
        title=f"{several.names[0]} and {len(several.names) - 1} more",
        source=", ".join(several.names),
        sentences=(_sentence(chosen, designs),),
        lead=tuple(lead),
        remarks=(f"Below, the page shows {shown}, which needs the largest region.",),
        trust=(
            PageFigure("recordings", count(designs.recordings), "one plan for all of them"),
            PageFigure("folds", count(designs.folds), "of the holdout check"),
            *opening.trust[1:],
        ),
    )


def _sentence(chosen: RobustRow, designs: RobustDesigns) -> str:
    if chosen.region is None:
        return "No plan serves all of them in any region tried."
    above = percent((_ratio_to_peak(chosen.region, designs) or 1) - 1)
    return (
        f"{chosen.name} needs {size(chosen.region)} for all {designs.recordings} runs, {above} "
        "above the largest peak."
    )


def _ratio_to_peak(region: int | None, designs: RobustDesigns) -> float | None:
    u_max = max(designs.u_max)
    return region / u_max if region is not None and u_max else None


def _risk(several: RobustDesignInput) -> Risk | None:
    """The risk of the recordings, and of each in a plan made without it."""
    designs, chosen = several.designs, several.designs.chosen
    heap = designs.heap_size(designs.chosen)
    unseen = chosen.unseen_regions if chosen.is_trained else ()
    groups = (RunGroup("recorded runs", chosen.regions), RunGroup("hold-out runs", unseen))
    caption = (
        "Each dot is a run, at the bytes that it needs; left of the line, the region to set with "
        "its margin, it is served. Recorded: in the plan made from all. Hold-out: each run in a "
        "plan made without it."
    )
    return risk_of(groups, None if heap is None else heap.region, caption)
