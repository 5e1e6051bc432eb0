# SPDX-License-Identifier: Apache-2.0
"""The choice of the plan that serves several recordings best; nothing is written."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.comparison import Comparison, compare, with_series
from heapfit.comparison.incumbents.heaps import RUNGS
from heapfit.comparison.row import Row, find_largest
from heapfit.comparison.verdict import select_row
from heapfit.comparison.work import Work
from heapfit.design.front.design_front import list_offers, with_measures
from heapfit.design.front.offers import NEAR, Offer, pick_offer
from heapfit.design.front.preference import Preference
from heapfit.design.robust.design import RobustOptions, design_loaded
from heapfit.fitting.choice import (
    NO_INPUTS,
    Choice,
    ChoiceInputs,
    choose_rung,
    list_rival_offers,
    make_choice,
    raise_no_region,
    size_row,
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
    row = select_row(designs, options.pools)
    most, comparison = _compare_on_worst(row, designs, recordings, robust, compared)
    sentence = ""
    if options.is_by_memory:
        designs, row = _take_rung_of_several(row, designs, comparison, recordings, options)
    else:
        measured = with_measures(comparison, recordings[most])
        rivals = list_rival_offers(inputs.systems, row.known, recordings[most], options)
        designs, row = _prefer_of_several(designs, measured, recordings, options, rivals)
        most, comparison = _compare_on_worst(row, designs, recordings, robust, compared)
        sentence = f"Chosen for {options.prefer}: "
    loaded = recordings[most]
    comparison, winner = with_series(comparison, comparison.row(row.name), loaded)
    row = _replace_region(row, most, winner.r_safe)
    if row.r_safe is None:
        raise_no_region(names[0], designs.u_max)
    work = designs.work
    if row.changes is not None and row.r_safe != designs.row(row.name).r_safe:
        row = _try_changes(row, recordings)
        work += Work(changed=0 if row.changes is None else row.changes.events)
    winner = replace(winner, changes=row.changes)
    comparison = replace(comparison.with_row(winner), work=comparison.work + work)
    if options.whole:
        comparison = with_measures(comparison, loaded)
    sentence += _describe_several(row, designs)
    found = loaded, comparison, winner
    return make_choice(
        found,
        designs,
        row=row,
        sentence=sentence,
        names=names,
        recordings=recordings,
        options=options,
    )


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
