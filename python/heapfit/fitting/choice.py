# SPDX-License-Identifier: Apache-2.0
"""The choice of the plan that serves the recordings best; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Final, NoReturn

from heapfit.bounds.trace_bounds import quick_bounds
from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.comparison import Comparison, compare, with_series
from heapfit.comparison.costs.heap_costs import estimate_costs
from heapfit.comparison.costs.measures import Measures
from heapfit.comparison.incumbents.heaps import RUNGS
from heapfit.comparison.incumbents.needs import Needs
from heapfit.comparison.margin import HeapSize, MarginBasis, MarginKind, heap_size, margin_kind
from heapfit.comparison.reopening import ChangeTrials
from heapfit.comparison.row import Row, rank_rows
from heapfit.comparison.verdict import describe_preference, select_row, verdict, verdict_rows
from heapfit.comparison.work import Work
from heapfit.design.front.design_front import (
    Front,
    compare_all,
    cost_of_choice,
    front_of,
    list_offers,
    with_choice_first,
)
from heapfit.design.front.offers import NEAR, Offer, is_dominated, is_near, pick_offer, step_down
from heapfit.design.front.preference import Preference
from heapfit.design.plan_files import plan_file_of, training_record
from heapfit.design.robust.design import (
    RobustDesigns,
    RobustOptions,
    design_loaded,
    joint_training_record,
    robust_plan_file,
)
from heapfit.design.robust.objective import LARGEST, Objective
from heapfit.design.robust.row import RobustRow
from heapfit.design.space import configurations_by_name, portfolio_of
from heapfit.errors import HeapfitError
from heapfit.fitting.answer import Answer
from heapfit.fitting.options import FitOptions
from heapfit.plan.plan_file import PlanFile
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.sweep import Sweep
from heapfit.sweep.threads import run_beside_body
from heapfit.trace.loaded import LoadedTrace

# What takes how much of the time, measured on redis and on three runs of a firmware.
_WORK_FOR_ONE = {"make plans": 45, "compare": 53, "prefer": 1}
_COMPARE = {"compare": 0.9, "try every size": 0.1}
_WORK_FOR_SEVERAL = {"design": 88, "compare": 11}
_DESIGN = {"make plans": 0.5, "measure": 0.46, "try margins": 0.04}
_SEARCHED_AGAIN = 3  # candidates, about


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen plan, and what was measured to choose it."""

    shown: LoadedTrace  # the recording that needs the largest region
    comparison: Comparison  # of every plan on that recording
    winner: Row  # among its rows
    needs: Mapping[str, int | None]  # R_safe of each plan for all recordings, by its name
    r_safe: tuple[int | None, ...]  # of the winner's plan on each recording
    unseen: tuple[int | None, ...]  # of plans made without it; one recording: as r_safe
    u_max: tuple[int, ...]  # of each recording
    answer: Answer
    plan_file: PlanFile
    verdict: str
    recalled: int = 0  # recordings of which results were cached
    designs: RobustDesigns | None = None  # of several recordings: every candidate on all of them


@dataclass(frozen=True, slots=True)
class ChoiceInputs:
    """The workers of a choice, and the heaps that may make a new one pointless."""

    sweep: Sweep | None = None  # None: a space in this process, several recordings on all cores
    systems: Sequence[Needs] = ()


NO_INPUTS: Final = ChoiceInputs()


def choose_for_one(
    loaded: LoadedTrace,
    name: str,
    options: FitOptions,
    progress: Progress = ignore_progress,
    inputs: ChoiceInputs = NO_INPUTS,
) -> Choice:
    """Chooses a plan for one recording; one with counted blocks only if that is asked for."""
    _require_allocations(name, loaded.profile.u_max)
    whole = WeightedProgress(progress, _WORK_FOR_ONE)
    compared = _compare_space if options.front or options.allocators else _compare_candidates
    comparison = compared(loaded, options, whole, inputs.sweep)
    preferring = whole.part("prefer")
    trials = _make_trials(loaded, options)
    known = MarginBasis(1, comparison.u_max, MarginKind.PLAIN)
    rivals = list_rival_offers(inputs.systems, known, loaded, options)
    while True:
        preferred = _apply_preference(comparison, loaded, options, rivals, preferring)
        if preferred[1].r_safe is None:
            _raise_no_region(name, comparison.u_max)
        if preferred[1].changes is not None:
            break
        comparison = trials.try_row(comparison, preferred[1])
    comparison, winner, sentence = preferred
    r_safe = winner.r_safe or 0
    comparison, winner = with_series(comparison, winner, loaded)
    answer = _make_answer(r_safe, winner.known, options)
    trained_on = training_record(loaded, name)
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


def _make_trials(loaded: LoadedTrace, options: FitOptions) -> ChangeTrials:
    programs = ChangedPrograms.from_recordings([loaded])
    return ChangeTrials(loaded, programs, options.plans.precision, options.pools)


def _compare_candidates(
    loaded: LoadedTrace, options: FitOptions, whole: WeightedProgress, _: Sweep | None
) -> Comparison:
    """Compares the effort's plans; one that cannot win is dropped, unless all are wanted."""
    with run_beside_body(loaded.threads, lambda: quick_bounds(loaded)) as until_found:
        portfolio = portfolio_of(loaded, options.plans, whole.part("make plans", steps=1))
        bounds = until_found()
    steps = len(portfolio.candidates) + _SEARCHED_AGAIN
    is_of_all = options.whole or not options.is_by_memory
    precision = replace(options.plans.precision, is_of_all=is_of_all)
    return compare(loaded, portfolio, whole.part("compare", steps), precision, bounds)


def _compare_space(
    loaded: LoadedTrace, options: FitOptions, whole: WeightedProgress, sweep: Sweep | None
) -> Comparison:
    """Compares the configurations of the allocators that are named, or of all."""
    plans, make = options.plans, whole.part("make plans", steps=1)
    portfolio = configurations_by_name(loaded, options.allocators, plans, make)
    compared = whole.part("compare", _COMPARE)
    return compare_all(loaded, portfolio, plans.precision, sweep, compared)


def choose_for_several(
    recordings: Sequence[LoadedTrace],
    names: Sequence[str],
    options: FitOptions,
    progress: Progress = ignore_progress,
    inputs: ChoiceInputs = NO_INPUTS,
) -> Choice:
    """Chooses a plan for several recordings, and checks it on each when made without it."""
    robust = _make_robust_options(options)
    whole = WeightedProgress(progress, _WORK_FOR_SEVERAL)
    with Sweep() if inputs.sweep is None else nullcontext(inputs.sweep) as workers:
        designs = design_loaded(recordings, robust, whole.part("design", _DESIGN), workers)
    compared = whole.part("compare", len(designs.rows) + _SEARCHED_AGAIN)
    row = designs.choose(options.pools)
    most, comparison = _compare_on_worst(row, designs, recordings, robust, compared)
    sentence = ""
    if options.is_by_memory:
        designs, row = _take_rung_of_several(row, designs, comparison, recordings, options)
    else:
        front = front_of(comparison, recordings[most], sram=options.sram)
        rivals = list_rival_offers(inputs.systems, designs.basis(row), recordings[most], options)
        designs, row = _prefer_of_several(designs, front, recordings, options, rivals)
        most, comparison = _compare_on_worst(row, designs, recordings, robust, compared)
        sentence = f"Least {options.prefer}: "
    loaded = recordings[most]
    winner = next(one for one in comparison.rows if one.name == row.name)
    comparison, winner = with_series(comparison, winner, loaded)
    row = _replace_region(row, most, winner.r_safe, options.objective)
    region = row.region
    if region is None:
        _raise_no_region(names[0], designs.u_max_objective)
    comparison, winner, row = _retry_changes(comparison, winner, row, designs, recordings)
    answer = _make_answer(region, designs.basis(row), options)
    trained_on = joint_training_record(designs, f"{names[0]}-and-{len(names) - 1}-more", names)
    return Choice(
        shown=loaded,
        comparison=replace(comparison, work=comparison.work + designs.work),
        winner=winner,
        needs={one.name: one.region for one in designs.rows} | {row.name: row.region},
        r_safe=row.regions,
        unseen=_list_holdout_needs(row),
        u_max=designs.u_max,
        answer=answer,
        plan_file=robust_plan_file(row, designs, trained_on, answer.size),
        verdict=sentence + _describe_several(row, designs),
        recalled=designs.recalled,
        designs=designs,
    )


def _compare_on_worst(
    row: RobustRow,
    designs: RobustDesigns,
    recordings: Sequence[LoadedTrace],
    robust: RobustOptions,
    progress: Progress,
) -> tuple[int, Comparison]:
    """The recording that needs most of a plan, and the comparison of all plans on it."""
    most = max(range(len(recordings)), key=lambda i: row.regions[i] or 0)
    return most, compare(recordings[most], _make_portfolio(designs), progress, robust.precision)


def _take_rung_of_several(
    row: RobustRow,
    designs: RobustDesigns,
    comparison: Comparison,
    recordings: Sequence[LoadedTrace],
    options: FitOptions,
) -> tuple[RobustDesigns, RobustRow]:
    """The designs and the row, or the rung that `_choose_rung` takes.

    That one is tried on changed programs first, which may raise its region. Costs are those of the
    recording that `comparison` is of, which needs most of the row.
    """

    def find_size(one: RobustRow) -> HeapSize | None:
        return designs.heap_size(one, options.peak, options.margin)

    size, known = (
        find_size(row),
        {one.name: one for one in comparison.rows if one.r_safe is not None},
    )
    able = {
        one.name: one
        for one in sorted(designs.rows, key=lambda one: one is not row)
        if one.name in known and _may_replace(one, row)
    }
    if size is None or row.name not in able:
        return designs, row
    shown = next(one for one in recordings if one.trace.info == comparison.trace)
    sizes = {name: find_size(one) for name, one in able.items()}
    rows = [known[name] for name in able]
    found = able[_choose_rung(known[row.name], rows, sizes, comparison, shown, options).name]
    if found.changes is None and found.region is not None:
        programs = ChangedPrograms.from_recordings(recordings)
        tested = programs.test(found.plan, found.region, designs.basis(found))
        tried = replace(found, changes=tested)
        designs = replace(
            designs, rows=tuple(tried if one is found else one for one in designs.rows)
        )
        found = tried
    own = find_size(found)
    most = size.region if options.prefer else (1 + NEAR) * size.region
    is_as_small = own is not None and own.region <= most and not found.is_trace_specific
    return designs, found if is_as_small else row


def _may_replace(one: RobustRow, row: RobustRow) -> bool:
    """True if one row is of the kind of another, measured, and no worse on hold-out traces."""
    if one.is_cut != row.is_cut or one.is_trace_specific or not one.regions:
        return False
    most = row.needed if row.needed is None or one.name not in RUNGS else (1 + NEAR) * row.needed
    return most is None or (one.needed is not None and one.needed <= most)


def _prefer_of_several(
    designs: RobustDesigns,
    front: Front,
    recordings: Sequence[LoadedTrace],
    options: FitOptions,
    rivals: Sequence[Offer],
) -> tuple[RobustDesigns, RobustRow]:
    """The designs and the preferred row, tried on changed programs like any choice.

    Costs are those of the front's recording, bytes those of all recordings.
    """
    programs = ChangedPrograms.from_recordings(recordings)
    while True:
        rows = {one.name: one for one in designs.rows}
        sizes = {
            name: None
            if one.is_trace_specific
            else designs.heap_size(one, options.peak, options.margin)
            for name, one in rows.items()
        }
        prefer = options.prefer or Preference.RAM
        picked = pick_offer(list_offers(front, sizes, options.pools), prefer, rivals)
        row = rows[picked.name]
        if row.changes is not None or row.region is None or options.objective != LARGEST:
            return designs, row
        tried = replace(row, changes=programs.test(row.plan, row.region, designs.basis(row)))
        designs = replace(designs, rows=tuple(tried if one is row else one for one in designs.rows))


def raise_region(choice: Choice, needs: Sequence[int], options: FitOptions) -> Choice:
    """The same plan with a larger region, where recordings need more than was found.

    Less than these may do by chance; it is not known.
    """
    r_safe, old = max(needs), choice.winner
    winner = replace(old, r_min=r_safe, r_safe=r_safe)
    rows = tuple(winner if row is old else row for row in choice.comparison.rows)
    answer = _make_answer(r_safe, choice.answer.known, options)
    size = answer.size
    plan_file = replace(choice.plan_file, r_min=r_safe, r_safe=r_safe, region=size.region)
    return replace(
        choice,
        comparison=replace(choice.comparison, rows=rows),
        winner=winner,
        needs={**choice.needs, winner.name: r_safe},
        r_safe=tuple(needs),
        unseen=tuple(needs) if len(needs) == 1 else choice.unseen,
        answer=answer,
        plan_file=replace(plan_file, margin=size.margin),
        verdict=f"{choice.verdict} On the whole recording it needs {r_safe:,} B.",
    )


def list_rivals(choice: Choice) -> list[Row]:
    """Other plans that the verdict of one recording may name, those that need least first.

    They are of the winner's kind: with blocks counted on the recording, or not.
    """
    winner = choice.winner
    rivals = [
        row
        for row in verdict_rows(choice.comparison)
        if row.is_cut_to_trace == winner.is_cut_to_trace and row.name != winner.name
    ]
    return sorted(rivals, key=lambda one: one.r_safe is None)


def take_rival(choice: Choice, rival: Row, options: FitOptions, progress: Progress) -> Choice:
    """The choice of one recording with another of its rows taken, searched to the end."""
    trained = rival.trained_on_this_trace
    alone = Portfolio((Candidate(rival.name, rival.plan, rival.reason, trained),), ())
    compared = compare(choice.shown, alone, progress, options.plans.precision)
    (found,) = compared.rows
    if found.r_safe is not None:
        programs = ChangedPrograms.from_recordings([choice.shown])
        tested = programs.test(found.plan, found.r_safe, found.known)
        found = replace(found, changes=tested, work=found.work + Work(changed=tested.events))
    others = [row for row in choice.comparison.rows if row is not rival]
    rows, work = rank_rows([found, *others]), choice.comparison.work + found.work
    comparison = replace(choice.comparison, rows=rows, work=work)
    comparison, winner = with_series(comparison, found, choice.shown)
    answer = _make_answer(winner.r_safe or 0, winner.known, options)
    trained_on = choice.plan_file.trained_on
    return replace(
        choice,
        comparison=comparison,
        winner=winner,
        needs={**choice.needs, winner.name: winner.r_safe},
        r_safe=(winner.r_safe,),
        unseen=(winner.r_safe,),
        answer=answer,
        plan_file=plan_file_of(winner, comparison, trained_on, answer.size),
        verdict=f"{winner.name} is chosen: {choice.winner.name} needs less on the excerpt, more "
        "on the whole recording.",
    )


def _list_holdout_needs(row: RobustRow) -> tuple[int | None, ...]:
    """What each recording needs of plans made without it; None each without folds."""
    if not row.is_trained:
        return row.regions
    return row.unseen_regions or (None,) * len(row.regions)


def _make_robust_options(options: FitOptions) -> RobustOptions:
    return RobustOptions(
        alignment=options.alignment,
        choice=options.budgets,
        call_sites=options.call_sites,
        sized=options.sized,
        exact=options.exact,
        effort=options.effort,
        objective=options.objective,
        folds=options.folds,
        is_for_choice=not options.whole and options.is_by_memory,
        is_of_all=not options.is_by_memory,
        pools=options.pools,
        kept=options.kept,
    )


def _replace_region(
    row: RobustRow, trace: int, r_safe: int | None, objective: Objective
) -> RobustRow:
    """The row with R_safe of one trace from the comparison, which may have tried every size."""
    regions = tuple(r_safe if i == trace else region for i, region in enumerate(row.regions))
    return replace(row, regions=regions, region=objective.evaluate(regions))


def _retry_changes(
    comparison: Comparison,
    winner: Row,
    row: RobustRow,
    designs: RobustDesigns,
    recordings: Sequence[LoadedTrace],
) -> tuple[Comparison, Row, RobustRow]:
    """Both rows of the chosen plan with its trial on changed programs, again if R_safe is less."""
    searched = next(one.region for one in designs.rows if one.name == row.name)
    work = Work()
    if row.changes is not None and row.region is not None and row.region != searched:
        programs = ChangedPrograms.from_recordings(recordings)
        tested = programs.test(row.plan, row.region, designs.basis(row))
        row, work = replace(row, changes=tested), Work(changed=tested.events)
    tried = replace(winner, changes=row.changes)
    rows = tuple(tried if one is winner else one for one in comparison.rows)
    return replace(comparison, rows=rows, work=comparison.work + work), tried, row


def _require_allocations(name: str, u_max: int) -> None:
    if u_max == 0:
        raise HeapfitError(f"{name}: nothing is ever allocated (record a run that uses its heap)")


def _raise_no_region(name: str, u_max: int) -> NoReturn:
    raise HeapfitError(
        f"{name}: no candidate has a safe region for this trace (regions end below 4 GiB; "
        f"its live bytes reach {u_max:,})"
    )


def _make_answer(r_safe: int, known: MarginBasis, options: FitOptions) -> Answer:
    return Answer(compute_size(r_safe, known, options), known, options.peak)


def basis_of(choice: Choice, kind: MarginKind, changes: float = 0.0) -> MarginBasis:
    """What the margin of another heap for the choice's recordings rests on."""
    return replace(choice.answer.known, kind=kind, changes=changes)


def compute_size(r_safe: int, known: MarginBasis, options: FitOptions) -> HeapSize:
    """The size to set for the peak and the margin that are asked for."""
    return heap_size(r_safe, known, options.peak, options.margin)


def list_rival_offers(
    systems: Sequence[Needs], known: MarginBasis, shown: LoadedTrace, options: FitOptions
) -> list[Offer]:
    """Heaps of systems as offers, for the recordings and peak that `known` is of.

    Their costs are of the recording that is shown.
    """
    offers = []
    for needs in systems:
        basis = replace(known, kind=margin_kind(needs.heap.plan, False), changes=0.0)
        if needs.most is not None:
            costs = estimate_costs(needs.heap, shown, needs.most)
            figures = Measures(needs.most, None, None, costs.mean, costs.longest, costs.flash)
            size = compute_size(needs.most, basis, options)
            offers.append(Offer(needs.heap.title, size.region, figures))
    return offers


def _apply_preference(
    comparison: Comparison,
    loaded: LoadedTrace,
    options: FitOptions,
    rivals: Sequence[Offer],
    progress: Progress,
) -> tuple[Comparison, Row, str]:
    """The comparison with what is preferred among its rows, that row, and the verdict."""
    prefer, pools = options.prefer, options.pools
    winner = select_row(comparison, pools)
    if winner.r_safe is None or comparison.rows[0].r_safe is None:
        return comparison, winner, verdict(comparison, pools)
    if prefer is None or prefer is Preference.RAM:
        rows = [
            row for row in verdict_rows(comparison) if row.is_cut_to_trace == winner.is_cut_to_trace
        ]
        sizes = {row.name: _size_row(row, options) for row in rows}
        least = _choose_rung(winner, rows, sizes, comparison, loaded, options)
        if least is not winner:
            comparison = with_choice_first(comparison, least)
        return comparison, least, verdict(comparison, pools)
    front = front_of(comparison, loaded, sram=options.sram, progress=progress)
    sizes = {row.name: _size_row(row, options) for row in comparison.rows}
    picked = pick_offer(list_offers(front, sizes, pools), prefer, rivals)
    choice = next(one for one in front.configurations if one.name == picked.name)
    comparison = with_choice_first(comparison, choice.row)
    sentence = describe_preference(choice.row, prefer, cost_of_choice(front, choice))
    return comparison, choice.row, sentence


def _size_row(row: Row, options: FitOptions) -> HeapSize | None:
    return None if row.r_safe is None else compute_size(row.r_safe, row.known, options)


def _choose_rung(
    winner: Row,
    rows: Sequence[Row],
    sizes: Mapping[str, HeapSize | None],
    comparison: Comparison,
    loaded: LoadedTrace,
    options: FitOptions,
) -> Row:
    """Of some rows the winner, one as small that none dominates, or a rung worth more.

    Without a preference a heap that learns nothing is taken where the last percent of memory costs
    too much (offers.step_down).
    """
    least = sizes[winner.name]
    if least is None:
        return winner
    regions = {name: size.region for name, size in sizes.items() if size is not None}
    equal = [row for row in rows if regions.get(row.name) == least.region]
    rungs = [
        row
        for row in rows
        if options.prefer is None and row.name in RUNGS and row not in equal
        if row.name in regions and is_near(regions[row.name], least.region)
    ]
    if len(equal) + len(rungs) < 2:
        return winner
    near = {row.name: row for row in (*equal, *rungs)}
    front = front_of(replace(comparison, rows=tuple(near.values())), loaded, sram=options.sram)
    offers = list_offers(front, sizes)
    best = next(one for one in offers[: len(equal)] if not is_dominated(one, offers[: len(equal)]))
    return near[step_down(best, offers).name]


def _make_portfolio(designs: RobustDesigns) -> Portfolio:
    """Every plan that was made from all recordings, to be measured on one of them."""
    candidates = [
        Candidate(row.name, row.plan, row.reason, row.is_trained, is_shown=row.name in RUNGS)
        for row in designs.rows
    ]
    return Portfolio(tuple(candidates), designs.not_applicable)


def _describe_several(row: RobustRow, designs: RobustDesigns) -> str:
    """A sentence on the plan, what it needs, and what it needed of hold-out recordings."""
    sentence = (
        f"{row.name} needs {row.region:,} B, the smallest found, for {_describe_objective(designs)}"
    )
    if row.unseen_region is not None and row.is_trained:
        sentence += f", and {row.unseen_region:,} B in the holdout check"
    counted = next((one for one in designs.rows if one.is_cut and one is not row), None)
    if counted is None or counted.region is None or counted.region >= (row.region or 0):
        return f"{sentence}."
    return (
        f"{sentence}. If every future run equalled one of these, {counted.name} would do "
        f"with {counted.region:,} B."
    )


def _describe_objective(designs: RobustDesigns) -> str:
    """The recordings that the objective requires to be served, in words."""
    all_of_them = f"all {designs.recordings} recordings"
    return all_of_them if designs.objective == LARGEST else f"{designs.objective.description}"
