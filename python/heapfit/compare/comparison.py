# SPDX-License-Identifier: Apache-2.0
"""Plans side by side on one trace: the region each needs and the metadata accesses it costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

import pyarrow as pa

from heapfit import _engine
from heapfit.bounds.trace_bounds import BesideResult, QuickBounds, quick_bounds
from heapfit.compare.candidate import Candidate, NotApplicable, Portfolio
from heapfit.compare.margin import HeapSize, Known, heap_size, kind_of
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import find_allocators, limit_of
from heapfit.plan.energy import Sram
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, no_progress
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import SAMPLES
from heapfit.trace.stored import Trace, TraceInfo
from heapfit.trace.tabular import Tabular, arrow_table

_COUNTED = ("blocks", "pools")  # limits of heaps that hold so many blocks of a size and no more


def counts_blocks(plan: Plan) -> bool:
    """Whether a plan holds so many blocks of a size: pools, budgets, zones, stacks."""
    return limit_of(plan) in _COUNTED


# What it may take to try every size: so many times the trace, and about a second of one core.
TIMES_TO_TRY_ALL = 100
EVENTS_TO_TRY_ALL = 10_000_000
_ROWS_TO_TRY_ALL = 3  # of those cut to the trace, and of the others


@dataclass(frozen=True, slots=True)
class Ground:
    """What all plans measured on a trace have in common."""

    u_max: int  # most live bytes of the trace
    base_alignment: int  # of every region: the largest that the trace or a plan asks for
    packing: int = 0  # bytes of an offline packing that replays may beat


@dataclass(frozen=True, slots=True)
class Effort:
    """How well R_min and R_safe are to be known (docs/decisions/0019)."""

    every_size: bool = False  # each multiple of 8 B of the window, whatever it takes
    also: int = 0  # a region in which the plan failed elsewhere; 0: none is known


STANDARD_EFFORT = Effort()
EXACT = Effort(every_size=True)


@dataclass(frozen=True, slots=True)
class Row:
    """One plan measured on one trace. Sizes in bytes."""

    name: str
    reason: str  # why it was tried, one line
    plan: Plan
    alignment: int  # of its blocks
    r_min: int | None  # smallest region that succeeds
    r_safe: int | None  # smallest that succeeds above all that failed
    step: int  # between scanned regions; 0 where R follows from the plan or one run tells it
    u_max: int  # most live bytes of the trace
    trained_on_this_trace: bool
    replay: _engine.ReplayResult | None  # metered, in `replay_region`; None if no region works
    events_left: int = 0  # that trying every region between the scanned ones would take, about
    placed: int | None = None  # height of its lowest placement where that beats the packing known
    events_replayed: int = 0  # by the search for its regions

    @property
    def replay_region(self) -> int | None:
        """Where the metered replay ran: R_safe, else R_min."""
        return self.r_safe if self.r_safe is not None else self.r_min

    @property
    def over_u_max(self) -> float | None:
        """R_safe / U_max; no allocator can get below 1."""
        return self.r_safe / self.u_max if self.r_safe is not None and self.u_max else None

    @property
    def is_cut_to_trace(self) -> bool:
        """Whether the blocks it holds were counted on this very trace, as in pools and budgets.

        Such a plan says what would do if every run were this one; of 13 programs it ran out on the
        second run of 8 (docs/decisions/0020).
        """
        return self.trained_on_this_trace and counts_blocks(self.plan)

    @property
    def heap_size(self) -> HeapSize | None:
        """What to set a heap to after this one recording; None if no region is safe."""
        return None if self.r_safe is None else heap_size(self.r_safe, self.known)

    @property
    def known(self) -> Known:
        """What the row's margin rests on."""
        return Known(1, self.u_max, kind_of(self.plan, self.trained_on_this_trace))

    @property
    def is_in_pieces(self) -> bool:
        """Whether blocks may lie in pieces; R then is for callers that follow them."""
        return _is_in_pieces(self.plan)

    @property
    def needs_size(self) -> bool:
        """Whether callers hand sizes over; R then is for those that know them."""
        (info,) = find_allocators([self.plan.allocator])
        return info.needs_size

    @property
    def is_exhaustive(self) -> bool:
        """Whether no multiple of 8 B was left out; else R_safe is the smallest found."""
        return self.events_left == 0

    @property
    def is_monotone(self) -> bool:
        """Whether no scanned region fails that is larger than one that works."""
        return self.r_min == self.r_safe

    @property
    def accesses_per_operation(self) -> float | None:
        """Loads and stores of metadata words per allocation, free or resize."""
        if self.replay is None:
            return None
        operations = self.replay.allocations + self.replay.frees + self.replay.resizes
        return (self.replay.loads + self.replay.stores) / max(operations, 1)

    @property
    def footprint(self) -> int | None:
        """Highest offset ever in use in `replay_region`, control structures included."""
        return None if self.replay is None else self.replay.footprint

    def footprint_in_steps(self, step: int) -> int | None:
        """What a low-level allocator gives that grows by `step` bytes at a time, like sbrk."""
        return None if self.footprint is None else -(-self.footprint // step) * step


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Tabular):
    """Rows ranked: smallest R_safe with its margin first (none last), then fewest accesses."""

    trace: TraceInfo
    u_max: int  # most live bytes of the trace
    base_alignment: int  # of every region: the largest that the trace or a plan asks for
    rows: tuple[Row, ...]
    not_applicable: tuple[NotApplicable, ...]  # kinds of plans left out, and why
    bounds: BesideResult | None = None  # None: not looked for

    def __str__(self) -> str:
        best = self.rows[0]
        needs = "no region serves it" if best.r_safe is None else f"{best.r_safe:,} B"
        return (
            f"comparison of {len(self.rows)} plans on {self.u_max:,} B live at most: "
            f"{best.name} is first, {needs}"
        )

    def to_arrow(self) -> pa.Table:
        """Its rows, ranked."""
        return row_table(self.rows)


def row_table(rows: Sequence[Row]) -> pa.Table:
    """Rows of a comparison as a table; `region` is what to set a heap to, margin included."""
    return arrow_table(
        rows,
        {
            "name": lambda row: row.name,
            "allocator": lambda row: row.plan.allocator,
            "region": lambda row: None if row.heap_size is None else row.heap_size.region,
            "r_safe": lambda row: row.r_safe,
            "r_min": lambda row: row.r_min,
            "over_u_max": lambda row: row.over_u_max,
            "accesses_per_operation": lambda row: row.accesses_per_operation,
            "trained_on_this_trace": lambda row: row.trained_on_this_trace,
            "reason": lambda row: row.reason,
        },
    )


def compare(
    loaded: LoadedTrace,
    portfolio: Portfolio,
    progress: Progress = no_progress,
    effort: Effort = STANDARD_EFFORT,
) -> Comparison:
    """Searches each plan's smallest regions and replays it once, metered, in R_safe.

    HeapfitError if there is nothing to compare.
    """
    if not portfolio.candidates:
        refuse_nothing(portfolio.not_applicable)
    return measure(loaded, portfolio, progress, effort)


def refuse_nothing(not_applicable: Sequence[NotApplicable]) -> NoReturn:
    """Tells why there is no plan."""
    whys = "; ".join(f"{one.name}: {one.why}" for one in not_applicable)
    raise HeapfitError(f"no plan to compare ({whys})")


def measure(
    loaded: LoadedTrace,
    portfolio: Portfolio,
    progress: Progress = no_progress,
    effort: Effort = STANDARD_EFFORT,
) -> Comparison:
    """As `compare`, but a portfolio may be empty."""
    bounds = quick_bounds(loaded)
    ground = ground_of(loaded, portfolio, bounds)

    def row(one: Candidate, effort: Effort) -> Row:
        return measure_candidate(one, loaded.events_for(one.plan), ground, effort, progress)

    found = {i: row(one, effort) for i, one in enumerate(portfolio.candidates)}
    while closer := to_look_at_closer(found, loaded.trace.info.events):
        whole = replace(effort, every_size=True)
        found |= {i: row(portfolio.candidates[i], whole) for i in closer}
    rows = ranked(list(found.values()))
    return comparison_of(loaded.trace.info, ground, rows, portfolio, bounds)


def ground_of(loaded: LoadedTrace, portfolio: Portfolio, bounds: QuickBounds) -> Ground:
    """What a portfolio's plans have in common on a trace."""
    base = base_alignment(loaded.trace, portfolio)
    return Ground(loaded.profile.u_max, base, bounds.packing)


def comparison_of(
    info: TraceInfo,
    ground: Ground,
    rows: tuple[Row, ...],
    portfolio: Portfolio,
    bounds: QuickBounds,
) -> Comparison:
    """Ranked rows with the bounds beside them; each replay's placement is a packing, too."""
    placed = [row.placed for row in rows if row.placed is not None]
    best = rows[0].plan if rows else None
    return Comparison(
        trace=info,
        u_max=ground.u_max,
        base_alignment=ground.base_alignment,
        rows=rows,
        not_applicable=portfolio.not_applicable,
        bounds=bounds.beside(best, min(placed, default=bounds.packing)),
    )


def base_alignment(trace: Trace, portfolio: Portfolio) -> int:
    """Of every region: the largest that the trace or a plan asks for."""
    alignments = [candidate.plan.alignment for candidate in portfolio.candidates]
    return max([trace.largest_alignment, *alignments])


def ranked(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The best first, each with the margin that its kind needs. Equal inputs, equal order."""

    def key(row: Row) -> tuple[bool, int, int, float, str]:
        accesses, size = row.accesses_per_operation, row.heap_size
        return (
            size is None,
            0 if size is None else size.region,
            row.r_safe or 0,
            -1.0 if accesses is None else accesses,
            row.name,
        )

    return tuple(sorted(rows, key=key))


def to_look_at_closer(found: Mapping[int, Row], events: int) -> list[int]:
    """The numbers of rows of which every size is still to be tried, on a trace of so many events.

    They are among the first three whose blocks were counted on the trace, or the first three of the
    others: the verdict's is one of them, whichever kind it is of. Where it would take too long,
    R_safe stays the smallest found.
    """
    most = max(TIMES_TO_TRY_ALL * events, EVENTS_TO_TRY_ALL)
    first = [*_first(found.values(), is_cut=True), *_first(found.values(), is_cut=False)]
    return [
        i
        for i, row in found.items()
        if 0 < row.events_left <= most and any(row is one for one in first)
    ]


def _first(rows: Iterable[Row], *, is_cut: bool) -> tuple[Row, ...]:
    of_kind = [row for row in rows if row.is_cut_to_trace == is_cut]
    return ranked(of_kind)[:_ROWS_TO_TRY_ALL]


def energies_over_least(rows: Sequence[Row], sram: Sram) -> list[float | None]:
    """Energy of each row's metadata accesses in an SRAM of its region's size, the least as 1.

    None where there was no replay, or the table has no memory so large.
    """
    energies = [
        sram.energy(row.replay, row.replay_region) if row.replay and row.replay_region else None
        for row in rows
    ]
    least = min((energy for energy in energies if energy), default=None)
    return [energy / least if energy and least else None for energy in energies]


def measure_candidate(
    candidate: Candidate,
    events: _engine.EventArray,
    ground: Ground,
    effort: Effort = STANDARD_EFFORT,
    progress: Progress = no_progress,
) -> Row:
    """One plan's smallest regions on a trace, and a metered replay in R_safe."""
    step = f"compare {candidate.name}"
    plan = candidate.plan.engine()
    trial = _engine.Trial(plan, events, ground.base_alignment)
    search = trial.scan(
        progress=lambda done, total: progress(step, done / max(total, 1)),
        every_size=effort.every_size,
        also=effort.also,
    )
    progress(step, 1.0)
    region = search.r_safe if search.r_safe is not None else search.r_min
    return Row(
        name=candidate.name,
        reason=candidate.reason,
        plan=candidate.plan,
        alignment=plan.alignment,
        r_min=search.r_min,
        r_safe=search.r_safe,
        step=search.step if search.searched else 0,
        u_max=ground.u_max,
        trained_on_this_trace=candidate.trained_on_this_trace,
        replay=None if region is None else _replay(plan, events, region, ground.base_alignment),
        events_left=search.events_left,
        placed=_lower_placement(candidate, events, trial, search, ground.packing),
        events_replayed=search.events,
    )


def _lower_placement(
    candidate: Candidate,
    events: _engine.EventArray,
    trial: _engine.Trial,
    search: _engine.RegionSearch,
    packing: int,
) -> int | None:
    """The checked height of the lowest placement that the search's replays made, if it is lower.

    Only of heaps whose blocks lie in one piece each.
    """
    is_lower = search.height_region and search.height < packing
    if not is_lower or _is_in_pieces(candidate.plan):
        return None
    offsets = trial.placement(search.height_region)
    return _engine.check_placement(_engine.Lifetimes(events), offsets)


def _is_in_pieces(plan: Plan) -> bool:
    (info,) = find_allocators([plan.allocator])
    return info.in_pieces


def _replay(
    plan: _engine.Plan, events: _engine.EventArray, region: int, base_alignment: int
) -> _engine.ReplayResult:
    replay = _engine.Replay(
        plan, region, base_alignment=base_alignment, samples=SAMPLES, expected_events=len(events)
    )
    replay.feed(events)
    return replay.result()
