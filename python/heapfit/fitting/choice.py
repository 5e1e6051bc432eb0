# SPDX-License-Identifier: Apache-2.0
"""Which plan serves the recordings, and what was measured to say so; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from heapfit.compare.candidate import Candidate, Portfolio
from heapfit.compare.comparison import Comparison, Row, compare, with_series
from heapfit.compare.margin import Known, heap_size
from heapfit.compare.verdict import chosen_row, preferred_verdict, verdict
from heapfit.design.plan_files import plan_file_of, trained_on_trace
from heapfit.design.plan_options import PlanOptions
from heapfit.design.portfolio import standard_portfolio
from heapfit.design.robust.design import (
    RobustDesigns,
    RobustOptions,
    RobustRow,
    design_robust,
    robust_plan_file,
    trained_on_traces,
)
from heapfit.design.robust.objective import LARGEST
from heapfit.errors import HeapfitError
from heapfit.fit_result import Answer, FitOptions
from heapfit.front.design_front import chosen, cost_of_choice, front_of, with_choice_first
from heapfit.front.preference import Preference
from heapfit.plan.plan_file import PlanFile
from heapfit.progress import Progress, Whole, no_progress
from heapfit.sweep import Sweep
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace

# What takes how much of the time, measured on redis and on three runs of a firmware.
_ONE = {"read": 30, "make plans": 28, "compare": 42}
_SEVERAL = {"design": 88, "read": 1, "compare": 11}
_DESIGN = {"make plans": 0.5, "measure": 0.46, "try margins": 0.04}
_LOOKED_AT_AGAIN = 3  # candidates, about


@dataclass(frozen=True, slots=True)
class Choice:
    """The plan that is taken."""

    shown: LoadedTrace  # the recording that needs the largest region
    comparison: Comparison  # of every plan on that recording
    winner: Row  # among its rows
    needs: Mapping[str, int | None]  # R_safe of each plan for all recordings, by its name
    r_safe: tuple[int | None, ...]  # of the winner's plan on each recording
    unseen: tuple[int | None, ...]  # likewise, of plans made without it; one recording has none
    u_max: tuple[int, ...]  # of each recording
    answer: Answer
    plan_file: PlanFile
    verdict: str


def choose_for_one(
    trace: Trace, name: str, options: FitOptions, progress: Progress = no_progress
) -> Choice:
    """From one recording: no plan whose blocks were counted on it, unless asked for."""
    whole = Whole(progress, _ONE)
    loaded = load_trace(trace, options.alignment, whole.part("read", steps=2))
    _require_allocations(name, loaded.profile.u_max)
    wanted = PlanOptions(call_sites=options.call_sites, sized=options.sized)
    portfolio = standard_portfolio(loaded, wanted, whole.part("make plans", steps=2))
    steps = len(portfolio.candidates) + _LOOKED_AT_AGAIN
    compared = whole.part("compare", steps)
    is_whole = options.whole or options.prefer is not Preference.MEMORY
    comparison = compare(loaded, portfolio, compared, options.effort, is_whole=is_whole)
    comparison, winner, sentence = _preferred(comparison, loaded, options, compared)
    if winner.r_safe is None:
        _refuse_all(name, comparison.u_max)
    r_safe = winner.r_safe
    comparison, winner = with_series(comparison, winner, loaded)
    answer = _answer(r_safe, winner.known, options)
    trained_on = trained_on_trace(loaded, name)
    return Choice(
        shown=loaded,
        comparison=comparison,
        winner=winner,
        needs={row.name: row.r_safe for row in comparison.rows},
        r_safe=(winner.r_safe,),
        unseen=(winner.r_safe,),
        u_max=(winner.u_max,),
        answer=answer,
        plan_file=plan_file_of(winner, comparison, trained_on, answer.size),
        verdict=sentence,
    )


def choose_for_several(
    traces: Sequence[Trace],
    names: Sequence[str],
    options: FitOptions,
    progress: Progress = no_progress,
) -> Choice:
    """From several recordings, each left out once to see whether the plan holds on it."""
    robust = RobustOptions(
        alignment=options.alignment,
        call_sites=options.call_sites,
        sized=options.sized,
        effort=options.effort,
    )
    whole = Whole(progress, _SEVERAL)
    with Sweep() as sweep:
        designs = design_robust(traces, robust, whole.part("design", _DESIGN), sweep)
    row = designs.choose(options.pools)
    needs = [region or 0 for region in row.regions]
    most = needs.index(max(needs))
    shown = load_trace(traces[most], options.alignment, whole.part("read", steps=2))
    portfolio = _portfolio(designs)
    compared = whole.part("compare", len(portfolio.candidates) + _LOOKED_AT_AGAIN)
    comparison = compare(shown, portfolio, compared, options.effort)
    winner = next(one for one in comparison.rows if one.name == row.name)
    comparison, winner = with_series(comparison, winner, shown)
    row = _looked_at_closer(row, most, winner.r_safe)
    if row.region is None:
        _refuse_all(names[0], designs.u_max_objective)
    answer = _answer(row.region, designs.known(row), options)
    trained_on = trained_on_traces(designs, f"{names[0]}-and-{len(names) - 1}-more", names)
    return Choice(
        shown=shown,
        comparison=comparison,
        winner=winner,
        needs={one.name: one.region for one in designs.rows} | {row.name: row.region},
        r_safe=row.regions,
        unseen=row.unseen_regions if row.is_trained else row.regions,
        u_max=designs.u_max,
        answer=answer,
        plan_file=robust_plan_file(row, designs, trained_on, answer.size),
        verdict=_verdict_of_several(row, designs),
    )


def _looked_at_closer(row: RobustRow, trace: int, r_safe: int | None) -> RobustRow:
    """With R_safe of one trace as the comparison has it, which may have tried every size."""
    regions = tuple(r_safe if i == trace else region for i, region in enumerate(row.regions))
    return replace(row, regions=regions, region=LARGEST.of(regions))


def _require_allocations(name: str, u_max: int) -> None:
    if u_max == 0:
        raise HeapfitError(f"{name}: nothing is ever allocated (record a run that uses its heap)")


def _refuse_all(name: str, u_max: int) -> NoReturn:
    raise HeapfitError(
        f"{name}: no candidate has a safe region for this trace (regions end below 4 GiB; "
        f"its live bytes reach {u_max:,})"
    )


def _answer(r_safe: int, known: Known, options: FitOptions) -> Answer:
    return Answer(heap_size(r_safe, known, options.peak, options.margin), known, options.peak)


def _preferred(
    comparison: Comparison, loaded: LoadedTrace, options: FitOptions, progress: Progress
) -> tuple[Comparison, Row, str]:
    """The comparison with what is preferred among its rows, that row, and the verdict."""
    prefer, pools = options.prefer, options.pools
    if prefer is Preference.MEMORY or comparison.rows[0].r_safe is None:
        return comparison, chosen_row(comparison, pools), verdict(comparison, pools)
    front = front_of(comparison, loaded, progress=progress)
    choice = chosen(front, prefer, may_count=pools)
    comparison = with_choice_first(comparison, choice)
    sentence = preferred_verdict(choice.row, prefer, cost_of_choice(front, choice))
    return comparison, choice.row, sentence


def _portfolio(designs: RobustDesigns) -> Portfolio:
    """Every plan that was made from all recordings, to be measured on one of them."""
    candidates = [Candidate(row.name, row.plan, row.reason, row.is_trained) for row in designs.rows]
    return Portfolio(tuple(candidates), designs.not_applicable)


def _verdict_of_several(row: RobustRow, designs: RobustDesigns) -> str:
    """Which plan, what it needs, and what it needed where it was made without a recording."""
    sentence = (
        f"{row.name} needs {row.region:,} B, the smallest found, for all "
        f"{designs.traces} recordings"
    )
    if row.unseen_region is not None and row.is_trained:
        sentence += f", and {row.unseen_region:,} B for those that it was made without"
    counted = next((one for one in designs.rows if one.is_cut and one is not row), None)
    if counted is None or counted.region is None or counted.region >= (row.region or 0):
        return f"{sentence}."
    return (
        f"{sentence}. If every run were one of these, {counted.name} would do with "
        f"{counted.region:,} B."
    )
