# SPDX-License-Identifier: Apache-2.0
"""The choice of the plan that serves recordings best; nothing is written.

    all candidates --> the preferred one --> tried on changed programs --> preferred still? --> it
                         ^                                                  | no
                         +-- ranked anew, searched where it may win now ----+

The candidates of one recording are compared here; those of several are made from all of them and
measured on hold-out ones (design/robust). What a row costs is that of the recording that needs most
of it, which is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from typing import TypeAlias

from heapfit.bounds.trace_bounds import quick_bounds
from heapfit.comparison.candidate import Portfolio
from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.comparison import Comparison, compare, with_measures, with_series
from heapfit.comparison.incumbents.heap_names import RUNGS
from heapfit.comparison.incumbents.needs import Needs, find_largest
from heapfit.comparison.incumbents.replacement import IncumbentVerdict
from heapfit.comparison.margin import HeapSize, MarginBasis, MarginKind
from heapfit.comparison.reopening import ChangeTrials, PrunedRows
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import describe_preference, select_row, verdict, verdict_rows
from heapfit.comparison.work import NO_WORK, Work
from heapfit.design.offers import (
    NEAR,
    cost_of_choice,
    is_dominated,
    is_near,
    list_offers,
    pick_offer,
    step_down,
)
from heapfit.design.plan_files import training_record
from heapfit.design.preference import Preference
from heapfit.design.robust.design import Complete, design_several
from heapfit.design.space import configurations_by_name, portfolio_of
from heapfit.errors import HeapfitError
from heapfit.fitting.choice import Choice, compute_size, list_rival_offers, make_choice
from heapfit.fitting.options import FitOptions
from heapfit.fitting.parts import cut_parts
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.sweep import Sweep
from heapfit.sweep.threads import run_beside_body
from heapfit.trace.loaded import LoadedTrace

# The recording that needs most of a row, all rows on that one and on all recordings, and the row.
Settled: TypeAlias = tuple[LoadedTrace, Comparison, Comparison, Row]

_DESIGN = {"make plans": 0.6, "measure": 0.36, "try margins": 0.04}
_TRIED = 36  # changes, about: of three plans
_SEARCHED_AGAIN = 3  # candidates, about
_MOST_PLANS = 3  # that are judged: each takes some 50 replays, and a chance more to pass by luck


def foretell_choice(events: int, recordings: int) -> dict[str, float]:
    """About the seconds of each part of the choice for recordings of so many events in all."""
    size = events / 100_000
    if recordings > 1:
        return {"design": 0.7 + 0.12 * recordings + 1.15 * size, "compare": 0.1 + 0.3 * size}
    return {
        "make plans": 0.1 + 0.3 * size,
        "compare": 0.15 + 0.25 * size,
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
    judge: Callable[[Choice], tuple[IncumbentVerdict | None, Work]] = lambda _: (None, NO_WORK),
) -> Choice:
    """Chooses a plan for recordings; one with counted blocks only if that is asked for, or held.

    `systems`: heaps that may make a new one pointless; `judge`: by them. Where the least plan may
    owe its lead to luck, it is the next that does not; else the least. Without a sweep one
    recording is compared in this process, and several on all cores, where each is held out of the
    plans it checks.
    """
    events, is_one = sum(len(one.events) for one in recordings), len(recordings) == 1
    if is_one and recordings[0].profile.u_max == 0:
        raise HeapfitError(
            f"{names[0]}: nothing is ever allocated (record a run that uses its heap)"
        )
    whole = WeightedProgress(progress, foretell_choice(events, len(recordings)))
    with Sweep() if sweep is None else nullcontext(sweep) as workers:
        choices, judged = list[Choice](), NO_WORK
        for settled in islice(_settle(recordings, options, systems, whole, workers), _MOST_PLANS):
            choices.append(_make_choice(settled, recordings, names, options))
            today, more = judge(choices[-1])
            judged += more
            if today is None or not today.is_in_doubt:
                break
    named = choices[0 if today is not None and today.is_kept else -1]
    work = choices[-1].comparison.work + judged
    return replace(named, comparison=replace(named.comparison, work=work))


def _make_choice(
    settled: Settled,
    recordings: Sequence[LoadedTrace],
    names: Sequence[str],
    options: FitOptions,
) -> Choice:
    """The choice of a row that was settled on."""
    shown, comparison, table, row = settled
    is_one = len(recordings) == 1
    if row.r_safe is None:
        raise HeapfitError(
            f"{names[0]}: no candidate has a safe region for this trace (regions end below 4 GiB; "
            f"its live bytes reach {table.u_max:,})"
        )
    if is_one and (not options.is_by_memory or row is not select_row(table, options.pools)):
        comparison = table.with_first(row)
    if options.whole or (is_one and not options.is_by_memory):
        comparison = with_measures(comparison, shown)
    sentence = _state_choice(row, table, comparison, options)
    comparison, winner = with_series(comparison, comparison.row(row.name), shown)
    if is_one:
        table, row = comparison, winner
    return make_choice(
        row,
        table,
        shown=(shown, comparison, winner),
        trained_on=training_record(names, recordings, table),
        options=options,
        verdict=sentence,
    )


def _settle(
    recordings: Sequence[LoadedTrace],
    options: FitOptions,
    systems: Sequence[Needs],
    whole: WeightedProgress,
    sweep: Sweep,
) -> Iterator[Settled]:
    """The rows that are preferred still once they were tried on changed programs, least first."""
    programs = ChangedPrograms.from_recordings(recordings, whole.part("try changes", _TRIED))
    table, reopen = _measure_candidates(recordings, options, programs, whole, sweep)
    parts = cut_parts(recordings[0]) if len(recordings) == 1 else None
    trials = ChangeTrials(programs, reopen, options.pools, options.is_by_memory)
    compared = whole.part("compare", len(table.rows) + _SEARCHED_AGAIN)
    views: dict[int, Comparison] = {}

    def look_at(row: Row) -> tuple[int, Comparison]:
        if len(recordings) == 1:
            return 0, table
        most = max(range(len(recordings)), key=lambda i: row.needs[i] or 0)
        if most not in views:
            views[most] = _compare_on(recordings[most], table, options, compared)
        return most, views[most]

    while True:
        most, comparison = look_at(select_row(table, options.pools))
        row = _prefer(table, comparison, recordings[most], options, systems)
        most, comparison = look_at(row)
        row = _refine(row, most, comparison.row(row.name).r_safe)
        if parts is not None and row.lasts is None and row.r_safe and not row.is_cut_to_trace:
            table = reopen(parts.judge(table, row, options))
            continue
        is_tried = row.changes is not None and row.changes.is_complete
        if row.r_safe is not None and not is_tried and options.prefer is not Preference.BUILD:
            table = trials.try_row(table.with_row(row), row)
            continue
        if table.peaks:
            tried = replace(comparison.row(row.name), changes=row.changes)
            comparison = replace(comparison.with_row(tried), work=comparison.work + table.work)
        yield recordings[most], comparison, table, row
        if row.lasts is False:  # all were looked at
            return
        table = reopen(table.with_row(replace(row, lasts=False)))


def _measure_candidates(
    recordings: Sequence[LoadedTrace],
    options: FitOptions,
    programs: ChangedPrograms,
    whole: WeightedProgress,
    sweep: Sweep,
) -> tuple[Comparison, Complete]:
    """The candidates measured on all recordings, and what measures those that may win later."""
    if len(recordings) == 1:
        table = _compare_candidates(recordings[0], options, whole)
        return table, PrunedRows(recordings[0], programs, options.precision, options.pools).reopen
    return design_several(
        recordings,
        options,
        sweep=sweep,
        is_whole=options.whole or not options.is_by_memory,
        is_of_all=not options.is_by_memory,
        progress=whole.part("design", _DESIGN),
    )


def _compare_candidates(
    loaded: LoadedTrace, options: FitOptions, whole: WeightedProgress
) -> Comparison:
    """Compares the effort's plans, or those of the allocators that are named.

    Of the effort's plans one that cannot win is dropped, unless all are wanted.
    """
    making = whole.part("make plans", steps=1)
    with run_beside_body(loaded.threads, lambda: quick_bounds(loaded)) as until_found:
        portfolio = (
            configurations_by_name(loaded, options.allocators, options, making)
            if options.allocators
            else portfolio_of(loaded, options, making)
        )
        bounds = until_found()
    steps = len(portfolio.candidates) + _SEARCHED_AGAIN
    is_of_all = options.whole or not options.is_by_memory or bool(options.allocators)
    precision = replace(options.precision, is_of_all=is_of_all)
    return compare(
        loaded, portfolio, progress=whole.part("compare", steps), precision=precision, bounds=bounds
    )


def _compare_on(
    recording: LoadedTrace, table: Comparison, options: FitOptions, progress: Progress
) -> Comparison:
    """All rows of a table, whose plans were made from several recordings, on one of these."""
    known = tuple(replace(one, replayed=0) for one in table.not_applicable)  # the table has counted
    return compare(
        recording, Portfolio(table.rows, known), progress=progress, precision=options.precision
    )


def _refine(row: Row, place: int, r_safe: int | None) -> Row:
    """The row of several recordings with R_safe of one as its comparison has it.

    That may have tried every size. Where it differs, changes are tried in the other region.
    """
    needs = tuple(r_safe if i == place else need for i, need in enumerate(row.needs))
    if needs == row.needs:
        return row
    unseen = row.unseen if row.trained_on_this_trace else needs
    return replace(row, needs=needs, r_safe=find_largest(needs), unseen=unseen, changes=None)


def _prefer(
    table: Comparison,
    comparison: Comparison,
    shown: LoadedTrace,
    options: FitOptions,
    systems: Sequence[Needs],
) -> Row:
    """The preferred row: bytes are those of all recordings, costs those of the shown one."""
    winner = select_row(table, options.pools)
    if winner.r_safe is None:
        return winner
    if options.is_by_memory:
        able = [row for row in verdict_rows(table) if _may_replace(row, winner)]
        sizes = {row.name: size_row(row, options) for row in able}
        least = choose_rung(comparison.row(winner.name), sizes, comparison, shown, options)
        return table.row(least.name)
    sizes = {row.name: size_row(row, options) for row in table.rows}
    measured = replace(table, measures=with_measures(comparison, shown).measures)
    rivals = list_rival_offers(systems, MarginBasis(winner.load, MarginKind.PLAIN), shown, options)
    offers, prefer = list_offers(measured, sizes, options.pools), options.prefer or Preference.RAM
    return table.row(pick_offer(offers, prefer, rivals).name)


def _may_replace(one: Row, row: Row) -> bool:
    """True if one row is of the kind of another, measured, and no worse on hold-out traces."""
    if one.is_cut_to_trace != row.is_cut_to_trace or (one.runs > 1 and not one.needs):
        return False
    most, needed = row.unseen_r_safe, one.unseen_r_safe
    allowed = 1 + NEAR if one.name in RUNGS else 1
    return most is None or (needed is not None and needed <= allowed * most)


def _state_choice(row: Row, table: Comparison, comparison: Comparison, options: FitOptions) -> str:
    """The sentence that names the row, with the figures that decided."""
    if table.peaks:
        why = "" if options.is_by_memory else f"Chosen for {options.prefer}: "
        return why + _describe_several(row, table)
    if options.is_by_memory:
        return verdict(comparison, options.pools)
    return describe_preference(
        row, options.prefer or Preference.RAM, cost_of_choice(comparison, row)
    )


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
