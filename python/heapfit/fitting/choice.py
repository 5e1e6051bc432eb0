# SPDX-License-Identifier: Apache-2.0
"""The choice of the plan that serves the recordings best; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NoReturn

from heapfit.bounds.trace_bounds import quick_bounds
from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.comparison import Comparison, compare, with_series
from heapfit.comparison.costs.heap_costs import estimate_costs
from heapfit.comparison.costs.measures import Measures
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.heaps import RUNGS
from heapfit.comparison.incumbents.needs import Needs
from heapfit.comparison.margin import HeapSize, MarginBasis, MarginKind, adapt_basis, heap_size
from heapfit.comparison.reopening import ChangeTrials
from heapfit.comparison.row import Row, rank_rows
from heapfit.comparison.verdict import describe_preference, select_row, verdict, verdict_rows
from heapfit.comparison.work import Work
from heapfit.design.front.design_front import (
    cost_of_choice,
    list_offers,
    with_choice_first,
    with_measures,
)
from heapfit.design.front.offers import Offer, is_dominated, is_near, pick_offer, step_down
from heapfit.design.front.preference import Preference
from heapfit.design.plan_files import plan_file_of, training_record
from heapfit.design.space import configurations_by_name, portfolio_of
from heapfit.errors import HeapfitError
from heapfit.fitting.answer import Answer
from heapfit.fitting.options import FitOptions
from heapfit.plan.plan_file import PlanFile
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.sweep import Sweep
from heapfit.sweep.threads import run_beside_body
from heapfit.trace.loaded import LoadedTrace

_TRIED = 36  # changes, about: of three plans
_SEARCHED_AGAIN = 3  # candidates, about


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen plan, and what was measured to choose it."""

    shown: LoadedTrace  # the recording that needs the largest region
    comparison: Comparison  # of every plan on that recording
    winner: Row  # among its rows
    table: Comparison  # of every plan on all recordings; of one recording that comparison
    row: Row  # of the winner's plan on all recordings
    answer: Answer
    plan_file: PlanFile
    verdict: str

    @property
    def needs(self) -> Mapping[str, int | None]:
        """R_safe of each plan for all recordings, by its name."""
        return {one.name: one.r_safe for one in (*self.table.rows, self.row)}

    @property
    def r_safe(self) -> tuple[int | None, ...]:
        """R_safe of the winner's plan on each recording."""
        return self.row.needs or (self.row.r_safe,)

    @property
    def unseen(self) -> tuple[int | None, ...]:
        """R_safe on each recording of plans made without it; of one recording as r_safe."""
        return self.row.unseen or self.r_safe

    @property
    def u_max(self) -> tuple[int, ...]:
        """The most live bytes of each recording."""
        return self.table.peaks or (self.table.u_max,)

    @property
    def designs(self) -> Comparison | None:
        """Of several recordings: every candidate on all of them."""
        return self.table if self.table.peaks else None


@dataclass(frozen=True, slots=True)
class ChoiceInputs:
    """The workers of a choice, and the heaps that may make a new one pointless."""

    sweep: Sweep | None = None  # None: a space in this process, several recordings on all cores
    systems: Sequence[Needs] = ()


NO_INPUTS: Final = ChoiceInputs()


def foretell_choice(events: int) -> dict[str, float]:
    """About the seconds of each part of the choice for one recording of so many events."""
    size = events / 100_000
    return {
        "make plans": 0.1 + 0.3 * size,
        "compare": 0.15 + 0.25 * size,
        "prefer": 0.01,
        "try changes": 0.03 + 0.1 * size,
    }


def choose_for_one(
    loaded: LoadedTrace,
    name: str,
    options: FitOptions,
    progress: Progress = ignore_progress,
    inputs: ChoiceInputs = NO_INPUTS,
) -> Choice:
    """Chooses a plan for one recording; one with counted blocks only if that is asked for."""
    _require_allocations(name, loaded.profile.u_max)
    whole = WeightedProgress(progress, foretell_choice(len(loaded.events)))
    comparison = _compare_candidates(loaded, options, whole)
    preferring = whole.part("prefer")
    trials = _make_trials(loaded, options, whole.part("try changes", _TRIED))
    known = MarginBasis(1, comparison.u_max, MarginKind.PLAIN)
    rivals = list_rival_offers(inputs.systems, known, loaded, options)
    while True:
        preferred = _apply_preference(comparison, loaded, options, rivals, preferring)
        if preferred[1].r_safe is None:
            raise_no_region(name, comparison.u_max)
        tested = preferred[1].changes
        if tested is not None and tested.is_complete:
            break
        comparison = trials.try_row(comparison, preferred[1])
    comparison, winner, sentence = preferred
    comparison, winner = with_series(comparison, winner, loaded)
    if options.whole:
        comparison = with_measures(comparison, loaded)
    found = loaded, comparison, winner
    return make_choice(
        found,
        comparison,
        row=winner,
        sentence=sentence,
        names=[name],
        recordings=[loaded],
        options=options,
    )


def make_choice(
    found: tuple[LoadedTrace, Comparison, Row],
    table: Comparison,
    *,
    row: Row,
    sentence: str,
    names: Sequence[str],
    recordings: Sequence[LoadedTrace],
    options: FitOptions,
) -> Choice:
    """The choice of a row; `found`: the recording that is shown, its comparison and winner."""
    answer = make_answer(row.heap, row.r_safe or 0, row.known, options)
    trained_on = training_record(names, recordings, table)
    plan_file = plan_file_of(row, table, trained_on, answer.size)
    return Choice(*found, table, row, answer, plan_file, sentence)


def _make_trials(loaded: LoadedTrace, options: FitOptions, progress: Progress) -> ChangeTrials:
    programs = ChangedPrograms.from_recordings([loaded], progress)
    precision, is_by_memory = options.plans.precision, options.is_by_memory
    return ChangeTrials(loaded, programs, precision, options.pools, is_by_memory)


def _compare_candidates(
    loaded: LoadedTrace, options: FitOptions, whole: WeightedProgress
) -> Comparison:
    """Compares the effort's plans, or those of the allocators that are named.

    Of the effort's plans one that cannot win is dropped, unless all are wanted.
    """
    plans, making = options.plans, whole.part("make plans", steps=1)
    with run_beside_body(loaded.threads, lambda: quick_bounds(loaded)) as until_found:
        if options.allocators:
            portfolio = configurations_by_name(loaded, options.allocators, plans, making)
        else:
            portfolio = portfolio_of(loaded, plans, making)
        bounds = until_found()
    steps = len(portfolio.candidates) + _SEARCHED_AGAIN
    is_of_all = options.whole or not options.is_by_memory or bool(options.allocators)
    precision = replace(plans.precision, is_of_all=is_of_all)
    return compare(loaded, portfolio, whole.part("compare", steps), precision, bounds)


def raise_region(choice: Choice, needs: Sequence[int], options: FitOptions) -> Choice:
    """The same plan with a larger region, where recordings need more than was found.

    Less than these may do by chance; it is not known.
    """
    r_safe, is_one = max(needs), len(needs) == 1
    winner = replace(choice.winner, r_min=r_safe, r_safe=r_safe)
    comparison = choice.comparison.with_row(winner)
    answer = make_answer(winner.heap, r_safe, choice.answer.known, options)
    size = answer.size
    plan_file = replace(choice.plan_file, r_min=r_safe, r_safe=r_safe, region=size.region)
    return replace(
        choice,
        comparison=comparison,
        winner=winner,
        table=comparison if is_one else choice.table,
        row=winner if is_one else replace(choice.row, needs=tuple(needs), r_safe=r_safe),
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
    alone = Portfolio((Candidate(rival.name, rival.heap, rival.reason, trained),), ())
    compared = compare(choice.shown, alone, progress, options.plans.precision)
    (found,) = compared.rows
    if found.r_safe is not None:
        programs = ChangedPrograms.from_recordings([choice.shown])
        tested = programs.test(found.heap, found.r_safe, found.known)
        found = replace(found, changes=tested, work=found.work + Work(changed=tested.events))
    others = [row for row in choice.comparison.rows if row is not rival]
    rows, work = rank_rows([found, *others]), choice.comparison.work + found.work
    comparison = replace(choice.comparison, rows=rows, work=work)
    comparison, winner = with_series(comparison, found, choice.shown)
    answer = make_answer(winner.heap, winner.r_safe or 0, winner.known, options)
    trained_on = choice.plan_file.trained_on
    return replace(
        choice,
        comparison=comparison,
        winner=winner,
        table=comparison,
        row=winner,
        answer=answer,
        plan_file=plan_file_of(winner, comparison, trained_on, answer.size),
        verdict=f"{winner.name} is chosen: {choice.winner.name} needs less on the excerpt, more "
        "on the whole recording.",
    )


def _require_allocations(name: str, u_max: int) -> None:
    if u_max == 0:
        raise HeapfitError(f"{name}: nothing is ever allocated (record a run that uses its heap)")


def raise_no_region(name: str, u_max: int) -> NoReturn:
    raise HeapfitError(
        f"{name}: no candidate has a safe region for this trace (regions end below 4 GiB; "
        f"its live bytes reach {u_max:,})"
    )


def make_answer(heap: Heap, r_safe: int, known: MarginBasis, options: FitOptions) -> Answer:
    return Answer(compute_size(r_safe, known, options), known, options.peak, heap)


def basis_of(choice: Choice, row: Row) -> MarginBasis:
    """What the margin of a row's plan rests on for all of the choice's recordings."""
    return replace(choice.answer.known, kind=row.known.kind, changes=row.known.changes)


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
        basis = adapt_basis(known, needs.heap.plan)
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
        sizes = {row.name: size_row(row, options) for row in rows}
        least = choose_rung(winner, sizes, comparison, loaded, options)
        if least is not winner:
            comparison = with_choice_first(comparison, least)
        return comparison, least, verdict(comparison, pools)
    comparison = with_measures(comparison, loaded, progress)
    sizes = {row.name: size_row(row, options) for row in comparison.rows}
    choice = comparison.row(pick_offer(list_offers(comparison, sizes, pools), prefer, rivals).name)
    sentence = describe_preference(choice, prefer, cost_of_choice(comparison, choice))
    return with_choice_first(comparison, choice), choice, sentence


def size_row(row: Row, options: FitOptions) -> HeapSize | None:
    """What to set a heap to for the peak and margin that are asked for; None: no region serves."""
    return None if row.r_safe is None else compute_size(row.r_safe, row.known, options)


def choose_rung(
    winner: Row,
    sizes: Mapping[str, HeapSize | None],
    comparison: Comparison,
    loaded: LoadedTrace,
    options: FitOptions,
) -> Row:
    """Chooses among rows with a size: the winner, an undominated one as small, or a rung.

    Without a preference a heap that learns nothing is taken where the last percent of memory costs
    too much (offers.step_down), with margins and without.
    """
    least = sizes[winner.name]
    if least is None:
        return winner
    regions = {name: size.region for name, size in sizes.items() if size is not None}
    rows = [winner, *(row for row in comparison.rows if row is not winner)]
    equal = [row for row in rows if regions.get(row.name) == least.region]
    rungs = [
        row
        for row in rows
        if options.prefer is None and row.name in RUNGS and row not in equal
        if row.name in regions and _is_as_good(sizes[row.name], least, sizes)
    ]
    if len(equal) + len(rungs) < 2:
        return winner
    near = {row.name: row for row in (*equal, *rungs)}
    offers = list_offers(
        with_measures(replace(comparison, rows=tuple(near.values())), loaded), sizes
    )
    best = next(one for one in offers[: len(equal)] if not is_dominated(one, offers[: len(equal)]))
    return near[step_down(best, offers).name]


def _is_as_good(
    size: HeapSize | None, least: HeapSize, sizes: Mapping[str, HeapSize | None]
) -> bool:
    """True if a heap is near the least one, and without margins near all that are set to less."""
    if size is None or not is_near(size.region, least.region):
        return False
    smaller = [one.r_safe for one in sizes.values() if one and one.region <= size.region]
    return is_near(size.r_safe, min(smaller, default=0))
