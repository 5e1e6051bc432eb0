# SPDX-License-Identifier: Apache-2.0
"""The page of a design: the plans made for one recording, or for several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.comparison import measure
from heapfit.comparison.measuring import Precision
from heapfit.comparison.verdict import chosen_row
from heapfit.design.plan_files import Designs
from heapfit.design.robust.design import RobustDesigns
from heapfit.design.robust.row import RobustRow
from heapfit.importers.site_names import site_names
from heapfit.report.case import Case, drawn_case
from heapfit.report.drawing import rendering
from heapfit.report.drawing.number_text import count, percent, ratio, size
from heapfit.report.heap_map.packed import packed_map
from heapfit.report.heap_map.replays import map_of, subjects_of
from heapfit.report.sections import content
from heapfit.report.sections.candidates import candidates_of
from heapfit.report.sections.content import Command, Content, Figure, Opening
from heapfit.report.sections.opening import opening_of
from heapfit.report.sections.peak import peak_of
from heapfit.report.sections.plan_layers import PlanPart, plan_layers
from heapfit.report.sections.program import program_of
from heapfit.report.sections.risk import Group, Risk, risk_of
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace

_TEMPLATE = Path(__file__).with_name("design.html.j2")
_MOST_BESIDE = 5  # plans measured once more on the recording that is shown, beside the chosen one


@dataclass(frozen=True, slots=True)
class Asked:
    """How a page of a design was asked for."""

    alignment: int
    precision: Precision
    programs: Sequence[Path] = ()  # recorded ones, for the names of call sites
    command: str = ""  # that was typed


def write_design_page(path: Path, designs: Designs, shown: LoadedTrace, asked: Asked) -> None:
    """Of one recording, whose winner is replayed."""
    comparison = designs.comparison
    case = drawn_case(shown, comparison, chosen_row(comparison), site_names(shown, asked.programs))
    gathered = _content(case, opening_of(case, "fit --plans"), None, asked)
    text = content.render(_TEMPLATE, gathered, designs=designs, robust=None, names=())
    rendering.write_page(path, text)


@dataclass(frozen=True, slots=True)
class Several:
    """Plans for several recordings, drawn ones among them, each with its name."""

    designs: RobustDesigns
    traces: Sequence[Trace]
    names: Sequence[str]


def write_robust_page(path: Path, several: Several, asked: Asked) -> None:
    """Of several; those that serve best are measured on the recording that needs most."""
    chosen = several.designs.chosen
    most = max(range(len(several.traces)), key=lambda i: chosen.regions[i] or 0)
    case = _measured(several, load_trace(several.traces[most], asked.alignment), asked)
    opening = _opening(several, case, several.names[most])
    gathered = _content(case, opening, _risk(several), asked)
    robust = several.designs
    text = content.render(_TEMPLATE, gathered, designs=None, robust=robust, names=several.names)
    rendering.write_page(path, text)


def _content(case: Case, opening: Opening, risk: Risk | None, asked: Asked) -> Content:
    subjects = subjects_of(case)
    heap_map = None
    if subjects:
        heap_map = packed_map(map_of(case.shown, subjects), case.shown, case.sites)
    return Content(
        opening=opening,
        heap_map=heap_map,
        peak=peak_of(case, subjects),
        risk=risk,
        program=program_of(case.shown, case.winner.plan),
        candidates=candidates_of(case),
        notes=case.shown.trace.info.notes,
        plan=PlanPart(plan_layers(case.winner.plan, case.winner.replay_region), ()),
        commands=(Command("These plans:", asked.command),),
        own_links=(("plans", "All plans"),),
    )


def _measured(several: Several, shown: LoadedTrace, asked: Asked) -> Case:
    """The chosen plan and those beside it, on one of the recordings."""
    designs = several.designs
    chosen = designs.chosen
    beside = [row for row in designs.rows if row is not chosen and not row.is_cut]
    candidates = [
        Candidate(row.name, row.plan, row.reason, row.is_trained)
        for row in (chosen, *beside[:_MOST_BESIDE])
    ]
    comparison = measure(shown, Portfolio(tuple(candidates), ()), precision=asked.precision)
    winner = next(row for row in comparison.rows if row.name == chosen.name)
    return drawn_case(shown, comparison, winner, site_names(shown, asked.programs))


def _opening(several: Several, case: Case, shown: str) -> Opening:
    designs = several.designs
    chosen, heap = designs.chosen, designs.heap_size(designs.chosen)
    lead = [Figure("over the largest peak", ratio(_over(chosen.region, designs)))]
    if heap is not None:
        lead.insert(0, Figure("set the heap to", size(heap.region)))
        lead.insert(1, Figure("margin in it", f"{heap.margin:g} %"))
    opening = opening_of(case, "fit --plans")
    drawn = designs.traces - designs.recordings
    told = f"and {count(drawn)} runs resampled from them" if drawn else "one plan for all of them"
    return replace(
        opening,
        title=f"{several.names[0]} and {len(several.names) - 1} more",
        source=", ".join(several.names[: designs.recordings]),
        sentences=(_sentence(chosen, designs),),
        lead=tuple(lead),
        remarks=(f"Below, the page shows {shown}, which needs the largest region.",),
        trust=(
            Figure("recordings", count(designs.recordings), told),
            Figure("folds", count(designs.folds), "of the holdout check"),
            *opening.trust[1:],
        ),
    )


def _sentence(chosen: RobustRow, designs: RobustDesigns) -> str:
    if chosen.region is None:
        return "No plan serves all of them in any region tried."
    above = percent((_over(chosen.region, designs) or 1) - 1)
    return (
        f"{chosen.name} needs {size(chosen.region)} for all {designs.traces} runs, {above} above "
        "the largest peak."
    )


def _over(region: int | None, designs: RobustDesigns) -> float | None:
    u_max = designs.u_max_objective
    return region / u_max if region is not None and u_max else None


def _risk(several: Several) -> Risk | None:
    """Recordings, runs that the plan was made without, and drawn ones."""
    designs, chosen = several.designs, several.designs.chosen
    recordings, heap = designs.recordings, designs.heap_size(designs.chosen)
    unseen = chosen.unseen_regions if chosen.is_trained else ()
    groups = (
        Group("recorded runs", chosen.regions[:recordings]),
        Group("hold-out runs", unseen),
        Group("resampled runs", chosen.regions[recordings:]),
    )
    caption = (
        "The share of runs that run out of memory in each region. Recorded: in the plan made from "
        "all. Hold-out: each run in a plan made without it. Resampled: variants of the "
        "recording, in the plan made from all. Dashed: the region to set, with its margin."
    )
    return risk_of(groups, None if heap is None else heap.region, caption)
