# SPDX-License-Identifier: Apache-2.0
"""Rows of core's allocators, of baselines, and of the designs made from recordings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from heapfit import _engine
from heapfit.bounds.trace_bounds import quick_bounds
from heapfit.comparison.candidate import Candidate
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.costs.measures import measures_of
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.measuring import Ground, measure_candidate
from heapfit.comparison.row import Row, rank_rows
from heapfit.comparison.verdict import select_row
from heapfit.design.placement.tailored_plans import layouts
from heapfit.design.portfolio import build_portfolio, standard_portfolio
from heapfit.league.recordings import LeagueRecording
from heapfit.league.rows import (
    BASELINE,
    CORE,
    DESIGN,
    IN_PIECES,
    OTHER_RUN,
    PLAIN,
    SIZED,
    THIS_RUN,
    UNSIZED,
    LeagueRow,
)
from heapfit.league.stamps import own_stamp
from heapfit.plan.allocators import find_allocators, takes_pools
from heapfit.plan.energy import load_sram
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace

FIT = "heapfit fit"  # the plan that fit would take of all that it tries
_BITS = 32  # metadata are 32-bit offsets on every machine


@dataclass(frozen=True, slots=True)
class PlainJob:
    """A job: the named allocators of ours, with standard plans, on one recording."""

    recording: LeagueRecording
    alignment: int
    allocators: tuple[str, ...]  # that take no pools


@dataclass(frozen=True, slots=True)
class DesignJob:
    """A job: the designs made from one run of a program, on that run and on others."""

    learned_from: LeagueRecording
    others: tuple[LeagueRecording, ...]
    alignment: int
    allocators: tuple[str, ...]  # whose designs are wanted


@dataclass(frozen=True, slots=True)
class _LoadedRecording:
    """A recording that plans are measured on."""

    recording: LeagueRecording
    loaded: LoadedTrace
    packing: int

    @classmethod
    def load(cls, recording: LeagueRecording, alignment: int) -> _LoadedRecording:
        loaded = load_trace(Trace.open(recording.path), alignment)
        return cls(recording, loaded, quick_bounds(loaded).packing)

    def measure(self, candidate: Candidate) -> Row:
        base = self.loaded.trace.base_alignment_for(candidate.plan.alignment)
        ground = Ground(self.loaded.profile.u_max, base)
        return measure_candidate(candidate, self.loaded.events_for(candidate.plan), ground)

    def row(self, measured: Row, learned: str, learned_from: str) -> LeagueRow:
        """The league's row of a measured plan."""
        (info,) = find_allocators([measured.plan.allocator])
        figures = measures_of(measured, self.loaded, load_sram(None))
        return LeagueRow(
            recording=self.recording.name,
            content=self.recording.content,
            recorded_bits=self.loaded.trace.info.pointer_bits,
            events=self.recording.events,
            alignment=self.loaded.alignment,
            kind=_kind(info, learned),
            entrant=measured.name,
            interface=_interface(info),
            bits=_BITS,
            learned=learned,
            learned_from=learned_from,
            u_max=self.loaded.profile.u_max,
            packing=self.packing,
            r_min=measured.r_min,
            r_safe=measured.r_safe,
            step=measured.step,
            accesses=measured.accesses_per_operation,
            instructions=figures.time,
            code=figures.size,
            stack=None,
            worst_case=info.worst_case or "",
            faults="",
            note="" if measured.r_safe else "no region is safe",
            events_replayed=measured.work.events,
            stamp=own_stamp(),
        )


def _kind(info: _engine.AllocatorInfo, learned: str) -> str:
    if learned != PLAIN:
        return DESIGN
    return CORE if info.ships else BASELINE


def _interface(info: _engine.AllocatorInfo) -> str:
    if info.in_pieces:
        return IN_PIECES
    return SIZED if info.needs_size else UNSIZED


def plain_rows(job: PlainJob) -> list[LeagueRow]:
    """A row for each allocator, and for each layout of tailored."""
    ground = _LoadedRecording.load(job.recording, job.alignment)
    named = build_portfolio(ground.loaded, job.allocators, []).candidates
    wanted = {one.plan.allocator for one in named}
    more = [
        Candidate(name, Heap(name, plan), "a layout", trained_on_this_trace=False)
        for name, plan in layouts(job.alignment).items()
        if plan.allocator in wanted and name not in {one.name for one in named}
    ]
    return [ground.row(ground.measure(one), PLAIN, "") for one in [*named, *more]]


def design_rows(job: DesignJob) -> list[LeagueRow]:
    """The designs made from one run, measured on it and on the program's other runs."""
    first = _LoadedRecording.load(job.learned_from, job.alignment)
    measured = [first.measure(one) for one in _candidates(first.loaded, job.allocators)]
    designs = [row for row in measured if row.trained_on_this_trace]
    chosen = _choose_for_fit(first, measured)
    taken = [*designs, *([] if chosen is None else [chosen])]
    name = job.learned_from.name
    rows = [first.row(row, THIS_RUN, name) for row in taken]
    for recording in job.others:
        other = _LoadedRecording.load(recording, job.alignment)
        again = (other.measure(_make_candidate(row)) for row in taken)
        rows += [other.row(row, OTHER_RUN, name) for row in again]
    return rows


def _candidates(loaded: LoadedTrace, allocators: Sequence[str]) -> list[Candidate]:
    """The candidates of fit, then those of allocators of pools by name; each plan once."""
    pools = [info.name for info in find_allocators(allocators) if takes_pools(info)]
    made = [*standard_portfolio(loaded).candidates, *build_portfolio(loaded, pools, []).candidates]
    return list(_drop_duplicates(one for one in made if one.plan.allocator in allocators))


def _drop_duplicates(made: Iterable[Candidate]) -> Iterable[Candidate]:
    known: list[Candidate] = []
    for one in made:
        if all(other.plan != one.plan and other.name != one.name for other in known):
            known.append(one)
    return known


def _choose_for_fit(ground: _LoadedRecording, measured: Sequence[Row]) -> Row | None:
    """The row that fit would choose of these, under a name of its own."""
    shipped = [row for row in measured if find_allocators([row.plan.allocator])[0].ships]
    unsized = [row for row in shipped if not row.needs_size and not row.is_in_pieces]
    if not unsized:
        return None
    info, u_max = ground.loaded.trace.info, ground.loaded.profile.u_max
    comparison = Comparison(info, u_max, ground.loaded.alignment, rank_rows(unsized), ())
    return replace(select_row(comparison), name=FIT)


def _make_candidate(row: Row) -> Candidate:
    return Candidate(row.name, row.heap, row.reason, trained_on_this_trace=False)
