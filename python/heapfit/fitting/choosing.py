# SPDX-License-Identifier: Apache-2.0
"""The choice of the plan that serves one or several recordings best; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TypeAlias

from heapfit.bounds.trace_bounds import quick_bounds
from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.comparison import Comparison, compare, with_series
from heapfit.comparison.incumbents.heaps import RUNGS
from heapfit.comparison.incumbents.needs import Needs
from heapfit.comparison.margin import HeapSize, MarginBasis, MarginKind
from heapfit.comparison.reopening import ChangeTrials
from heapfit.comparison.row import Row, find_largest
from heapfit.comparison.verdict import describe_preference, select_row, verdict, verdict_rows
from heapfit.comparison.work import Work
from heapfit.design.front.design_front import (
    cost_of_choice,
    list_offers,
    with_choice_first,
    with_measures,
)
from heapfit.design.front.offers import NEAR, Offer, is_dominated, is_near, pick_offer, step_down
from heapfit.design.front.preference import Preference
from heapfit.design.plan_files import plan_file_of, training_record
from heapfit.design.robust.design import RobustOptions, design_loaded
from heapfit.design.space import configurations_by_name, portfolio_of
from heapfit.errors import HeapfitError
from heapfit.fitting.choice import Choice, compute_size, list_rival_offers, make_answer
from heapfit.fitting.options import FitOptions
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.sweep import Sweep
from heapfit.sweep.threads import run_beside_body
from heapfit.trace.loaded import LoadedTrace

_DESIGN = {"make plans": 0.6, "measure": 0.36, "try margins": 0.04}
_TRIED = 36  # changes, about: of three plans
_SEARCHED_AGAIN = 3  # candidates, about

# The recording that needs most, its comparison, that of all recordings, the row to take, and why.
_Settled: TypeAlias = tuple[LoadedTrace, Comparison, Comparison, Row, str]


def foretell_choice(events: int, recordings: int) -> dict[str, float]:
    """About the seconds of each part of the choice for recordings of so many events in all."""
    size = events / 100_000
    if recordings > 1:
        return {"design": 0.7 + 0.12 * recordings + 1.15 * size, "compare": 0.1 + 0.3 * size}
    return {
        "make plans": 0.1 + 0.3 * size,
        "compare": 0.15 + 0.25 * size,
        "prefer": 0.01,
        "try changes": 0.03 + 0.1 * size,
    }


def choose(
    recordings: Sequence[LoadedTrace],
    names: Sequence[str],
    *,
    options: FitOptions,
    progress: Progress = ignore_progress,
    sweep: Sweep | None = None,
    systems: Sequence[Needs] = (),
) -> Choice:
    """Chooses a plan for recordings; one with counted blocks only if that is asked for, or held.

    `systems`: heaps that may make a new one pointless. Without a sweep one recording is compared in
    this process, and several on all cores, where each is held out of the plans it checks.
    """
    events = sum(len(one.events) for one in recordings)
    whole = WeightedProgress(progress, foretell_choice(events, len(recordings)))
    if len(recordings) == 1:
        settled = _settle_one(recordings[0], names[0], options, whole, systems)
    else:
        settled = _settle_several(recordings, options, whole, sweep, systems)
    shown, comparison, table, row, sentence = settled
    if row.r_safe is None:
        raise HeapfitError(
            f"{names[0]}: no candidate has a safe region for this trace (regions end below 4 GiB; "
            f"its live bytes reach {table.u_max:,})"
        )
    comparison, winner = with_series(comparison, comparison.row(row.name), shown)
    if options.whole:
        comparison = with_measures(comparison, shown)
    if len(recordings) == 1:
        table, row = comparison, winner
    else:
        sentence += _describe_several(row, table)
    answer = make_answer(row.heap, row.r_safe or 0, row.known, options)
    trained_on = training_record(names, recordings, table)
    plan_file = plan_file_of(row, table, trained_on, answer.size)
    return Choice(shown, comparison, winner, table, row, answer, plan_file, sentence)


def _settle_one(
    loaded: LoadedTrace,
    name: str,
    options: FitOptions,
    whole: WeightedProgress,
    systems: Sequence[Needs],
) -> _Settled:
    """The row of one recording that is preferred still once its changes are tried."""
    if loaded.profile.u_max == 0:
        raise HeapfitError(f"{name}: nothing is ever allocated (record a run that uses its heap)")
    comparison = _compare_candidates(loaded, options, whole)
    preferring = whole.part("prefer")
    programs = ChangedPrograms.from_recordings([loaded], whole.part("try changes", _TRIED))
    precision = options.plans.precision
    trials = ChangeTrials(loaded, programs, precision, options.pools, options.is_by_memory)
    known = MarginBasis(1, comparison.u_max, MarginKind.PLAIN)
    rivals = list_rival_offers(systems, known, loaded, options)
    while True:
        comparison, row, sentence = _apply_preference(
            comparison, loaded, options, rivals, preferring
        )
        if row.r_safe is None or (row.changes is not None and row.changes.is_complete):
            return loaded, comparison, comparison, row, sentence
        comparison = trials.try_row(comparison, row)


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


def _settle_several(
    recordings: Sequence[LoadedTrace],
    options: FitOptions,
    whole: WeightedProgress,
    sweep: Sweep | None,
    systems: Sequence[Needs],
) -> _Settled:
    """The row that is preferred for all recordings, tried on changes of their program."""
    robust = _make_robust_options(options)
    with Sweep() if sweep is None else nullcontext(sweep) as workers:
        designs = design_loaded(recordings, robust, whole.part("design", _DESIGN), workers)
    compared = whole.part("compare", len(designs.rows) + _SEARCHED_AGAIN)
    row = select_row(designs, options.pools)
    most, comparison = _compare_on_worst(row, designs, recordings, robust, compared)
    sentence = ""
    if options.is_by_memory:
        designs, row = _take_rung_of_several(row, designs, comparison, recordings, options)
    else:
        measured = with_measures(comparison, recordings[most])
        rivals = list_rival_offers(systems, row.known, recordings[most], options)
        designs, row = _prefer_of_several(designs, measured, recordings, options, rivals)
        most, comparison = _compare_on_worst(row, designs, recordings, robust, compared)
        sentence = f"Chosen for {options.prefer}: "
    winner, known = comparison.row(row.name), row.r_safe
    row, work = _replace_region(row, most, winner.r_safe), designs.work
    if row.changes is not None and row.r_safe not in {None, known}:
        row = _try_changes(row, recordings)
        work += Work(changed=0 if row.changes is None else row.changes.events)
    comparison = comparison.with_row(replace(winner, changes=row.changes))
    comparison = replace(comparison, work=comparison.work + work)
    return recordings[most], comparison, designs, row, sentence


def _try_changes(row: Row, recordings: Sequence[LoadedTrace]) -> Row:
    """The row with its trial on changed programs; it has a region."""
    programs = ChangedPrograms.from_recordings(recordings)
    return replace(row, changes=programs.test(row.heap, row.r_safe or 0, row.known))


def _compare_on_worst(
    row: Row,
    designs: Comparison,
    recordings: Sequence[LoadedTrace],
    robust: RobustOptions,
    progress: Progress,
) -> tuple[int, Comparison]:
    """The recording that needs most of a plan, and the comparison of all plans on it."""
    most = max(range(len(recordings)), key=lambda i: row.needs[i] or 0)
    return most, compare(recordings[most], _make_portfolio(designs), progress, robust.precision)


def _take_rung_of_several(
    row: Row,
    designs: Comparison,
    comparison: Comparison,
    recordings: Sequence[LoadedTrace],
    options: FitOptions,
) -> tuple[Comparison, Row]:
    """The designs and the row, or the rung that `choose_rung` takes.

    That one is tried on changed programs first, which may raise its region. Costs are those of the
    recording that `comparison` is of, which needs most of the row.
    """

    size = size_row(row, options)
    known = {one.name: one for one in comparison.rows if one.r_safe is not None}
    able = {
        one.name: one
        for one in sorted(designs.rows, key=lambda one: one is not row)
        if one.name in known and _may_replace(one, row)
    }
    if size is None or row.name not in able:
        return designs, row
    shown = next(one for one in recordings if one.trace.info == comparison.trace)
    sizes = {name: size_row(one, options) for name, one in able.items()}
    found = able[choose_rung(known[row.name], sizes, comparison, shown, options).name]
    if found is row:
        return designs, row
    if found.changes is None and found.r_safe is not None:
        found = _try_changes(found, recordings)
        designs = designs.with_row(found)
    own = size_row(found, options)
    most = size.region if options.prefer else (1 + NEAR) * size.region
    is_as_small = own is not None and own.region <= most and not found.known.is_trace_specific
    return designs, found if is_as_small else row


def _may_replace(one: Row, row: Row) -> bool:
    """True if one row is of the kind of another, measured, and no worse on hold-out traces."""
    if one.is_cut_to_trace != row.is_cut_to_trace or one.known.is_trace_specific or not one.needs:
        return False
    most = row.needed if row.needed is None or one.name not in RUNGS else (1 + NEAR) * row.needed
    return most is None or (one.needed is not None and one.needed <= most)


def _prefer_of_several(
    designs: Comparison,
    measured: Comparison,
    recordings: Sequence[LoadedTrace],
    options: FitOptions,
    rivals: Sequence[Offer],
) -> tuple[Comparison, Row]:
    """The designs and the preferred row, tried on changed programs like any choice.

    Costs are those of the recording that was measured, bytes those of all recordings.
    """
    while True:
        rows = {one.name: one for one in designs.rows}
        sizes = {
            name: None if one.known.is_trace_specific else size_row(one, options)
            for name, one in rows.items()
        }
        prefer = options.prefer or Preference.RAM
        picked = pick_offer(list_offers(measured, sizes, options.pools), prefer, rivals)
        row = rows[picked.name]
        if row.changes is not None or row.r_safe is None:
            return designs, row
        designs = designs.with_row(_try_changes(row, recordings))


def _make_robust_options(options: FitOptions) -> RobustOptions:
    return RobustOptions(
        alignment=options.alignment,
        choice=options.budgets,
        call_sites=options.call_sites,
        sized=options.sized,
        effort=options.effort,
        is_for_choice=not options.whole and options.is_by_memory,
        is_of_all=not options.is_by_memory,
        pools=options.pools,
    )


def _replace_region(row: Row, trace: int, r_safe: int | None) -> Row:
    """The row with R_safe of one trace from the comparison, which may have tried every size."""
    needs = tuple(r_safe if i == trace else need for i, need in enumerate(row.needs))
    unseen = row.unseen if row.trained_on_this_trace else needs
    return replace(row, needs=needs, r_safe=find_largest(needs), unseen=unseen)


def _make_portfolio(designs: Comparison) -> Portfolio:
    """Every plan that was made from all recordings, to be measured on one of them."""
    candidates = [
        Candidate(
            row.name,
            row.heap,
            row.reason,
            row.trained_on_this_trace,
            is_shown=row.name in RUNGS,
        )
        for row in designs.rows
    ]
    return Portfolio(tuple(candidates), designs.not_applicable)


def _describe_several(row: Row, designs: Comparison) -> str:
    """A sentence on the plan, what it needs, and what it needed of hold-out recordings."""
    runs = f"all {len(designs.peaks)} recordings"
    sentence = f"{row.name} needs {row.r_safe:,} B, the smallest found, for {runs}"
    if row.unseen_r_safe is not None and row.trained_on_this_trace:
        sentence += f", and {row.unseen_r_safe:,} B in the holdout check"
    counted = next((one for one in designs.rows if one.is_cut_to_trace and one is not row), None)
    if counted is None or counted.r_safe is None or counted.r_safe >= (row.r_safe or 0):
        return f"{sentence}."
    return (
        f"{sentence}. If every future run equalled one of these, {counted.name} would do "
        f"with {counted.r_safe:,} B."
    )


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
