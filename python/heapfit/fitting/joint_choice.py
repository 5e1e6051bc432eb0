# SPDX-License-Identifier: Apache-2.0
"""The choice of the plan that serves several recordings best; nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.comparison import Comparison, compare, with_series
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.heaps import RUNGS
from heapfit.comparison.margin import HeapSize
from heapfit.comparison.row import Row
from heapfit.comparison.work import Work
from heapfit.design.front.design_front import list_offers, with_measures
from heapfit.design.front.offers import NEAR, Offer, pick_offer
from heapfit.design.front.preference import Preference
from heapfit.design.robust.design import (
    RobustDesigns,
    RobustOptions,
    design_loaded,
    joint_training_record,
    robust_plan_file,
)
from heapfit.design.robust.row import RobustRow, find_largest
from heapfit.fitting.choice import (
    NO_INPUTS,
    Choice,
    ChoiceInputs,
    choose_rung,
    list_rival_offers,
    make_answer,
    raise_no_region,
)
from heapfit.fitting.options import FitOptions
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.sweep import Sweep
from heapfit.trace.loaded import LoadedTrace

_DESIGN = {"make plans": 0.6, "measure": 0.36, "try margins": 0.04}
_SEARCHED_AGAIN = 3  # candidates, about


def foretell_joint_choice(events: int, recordings: int) -> dict[str, float]:
    """About the seconds of each part of the choice for recordings of so many events in all."""
    size = events / 100_000
    return {"design": 0.7 + 0.12 * recordings + 1.15 * size, "compare": 0.1 + 0.3 * size}


def choose_for_several(
    recordings: Sequence[LoadedTrace],
    names: Sequence[str],
    options: FitOptions,
    progress: Progress = ignore_progress,
    inputs: ChoiceInputs = NO_INPUTS,
) -> Choice:
    """Chooses a plan for several recordings, and checks it on each when made without it."""
    robust = _make_robust_options(options)
    events = sum(len(one.events) for one in recordings)
    whole = WeightedProgress(progress, foretell_joint_choice(events, len(recordings)))
    with Sweep() if inputs.sweep is None else nullcontext(inputs.sweep) as workers:
        designs = design_loaded(recordings, robust, whole.part("design", _DESIGN), workers)
    compared = whole.part("compare", len(designs.rows) + _SEARCHED_AGAIN)
    row = designs.choose(options.pools)
    most, comparison = _compare_on_worst(row, designs, recordings, robust, compared)
    sentence = ""
    if options.is_by_memory:
        designs, row = _take_rung_of_several(row, designs, comparison, recordings, options)
    else:
        measured = with_measures(comparison, recordings[most])
        rivals = list_rival_offers(inputs.systems, designs.basis(row), recordings[most], options)
        designs, row = _prefer_of_several(designs, measured, recordings, options, rivals)
        most, comparison = _compare_on_worst(row, designs, recordings, robust, compared)
        sentence = f"Chosen for {options.prefer}: "
    loaded = recordings[most]
    winner = next(one for one in comparison.rows if one.name == row.name)
    comparison, winner = with_series(comparison, winner, loaded)
    row = _replace_region(row, most, winner.r_safe)
    region = row.region
    if region is None:
        raise_no_region(names[0], max(designs.u_max))
    comparison, winner, row = _retry_changes(comparison, winner, row, designs, recordings)
    if options.whole:
        comparison = with_measures(comparison, loaded)
    answer = make_answer(winner.heap, region, designs.basis(row), options)
    trained_on = joint_training_record(designs, names, events)
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
    """The designs and the row, or the rung that `choose_rung` takes.

    That one is tried on changed programs first, which may raise its region. Costs are those of the
    recording that `comparison` is of, which needs most of the row.
    """

    def find_size(one: RobustRow) -> HeapSize | None:
        return designs.heap_size(one, options.peak, options.margin)

    size = find_size(row)
    known = {one.name: one for one in comparison.rows if one.r_safe is not None}
    able = {
        one.name: one
        for one in sorted(designs.rows, key=lambda one: one is not row)
        if one.name in known and _may_replace(one, row)
    }
    if size is None or row.name not in able:
        return designs, row
    shown = next(one for one in recordings if one.trace.info == comparison.trace)
    sizes = {name: find_size(one) for name, one in able.items()}
    found = able[choose_rung(known[row.name], sizes, comparison, shown, options).name]
    if found is row:
        return designs, row
    if found.changes is None and found.region is not None:
        programs = ChangedPrograms.from_recordings(recordings)
        tested = programs.test(Heap(found.name, found.plan), found.region, designs.basis(found))
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
    measured: Comparison,
    recordings: Sequence[LoadedTrace],
    options: FitOptions,
    rivals: Sequence[Offer],
) -> tuple[RobustDesigns, RobustRow]:
    """The designs and the preferred row, tried on changed programs like any choice.

    Costs are those of the recording that was measured, bytes those of all recordings.
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
        picked = pick_offer(list_offers(measured, sizes, options.pools), prefer, rivals)
        row = rows[picked.name]
        if row.changes is not None or row.region is None:
            return designs, row
        tried = replace(
            row, changes=programs.test(Heap(row.name, row.plan), row.region, designs.basis(row))
        )
        designs = replace(designs, rows=tuple(tried if one is row else one for one in designs.rows))


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
        effort=options.effort,
        is_for_choice=not options.whole and options.is_by_memory,
        is_of_all=not options.is_by_memory,
        pools=options.pools,
    )


def _replace_region(row: RobustRow, trace: int, r_safe: int | None) -> RobustRow:
    """The row with R_safe of one trace from the comparison, which may have tried every size."""
    regions = tuple(r_safe if i == trace else region for i, region in enumerate(row.regions))
    return replace(row, regions=regions, region=find_largest(regions))


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
        tested = programs.test(Heap(row.name, row.plan), row.region, designs.basis(row))
        row, work = replace(row, changes=tested), Work(changed=tested.events)
    tried = replace(winner, changes=row.changes)
    rows = tuple(tried if one is winner else one for one in comparison.rows)
    return replace(comparison, rows=rows, work=comparison.work + work), tried, row


def _make_portfolio(designs: RobustDesigns) -> Portfolio:
    """Every plan that was made from all recordings, to be measured on one of them."""
    candidates = [
        Candidate(
            row.name,
            Heap(row.name, row.plan),
            row.reason,
            row.is_trained,
            is_shown=row.name in RUNGS,
        )
        for row in designs.rows
    ]
    return Portfolio(tuple(candidates), designs.not_applicable)


def _describe_several(row: RobustRow, designs: RobustDesigns) -> str:
    """A sentence on the plan, what it needs, and what it needed of hold-out recordings."""
    runs = f"all {designs.recordings} recordings"
    sentence = f"{row.name} needs {row.region:,} B, the smallest found, for {runs}"
    if row.unseen_region is not None and row.is_trained:
        sentence += f", and {row.unseen_region:,} B in the holdout check"
    counted = next((one for one in designs.rows if one.is_cut and one is not row), None)
    if counted is None or counted.region is None or counted.region >= (row.region or 0):
        return f"{sentence}."
    return (
        f"{sentence}. If every future run equalled one of these, {counted.name} would do "
        f"with {counted.region:,} B."
    )
