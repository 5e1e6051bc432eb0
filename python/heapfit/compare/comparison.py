# SPDX-License-Identifier: Apache-2.0
"""Plans side by side on one trace: the region each needs and the metadata accesses it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from heapfit import _engine
from heapfit.bounds.trace_bounds import BesideResult, quick_bounds
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

_COUNTED = ("blocks", "pools")  # limits of heaps that hold so many blocks of a size and no more


def counts_blocks(plan: Plan) -> bool:
    """Whether a plan holds so many blocks of a size: pools, budgets, zones, stacks."""
    return limit_of(plan) in _COUNTED


@dataclass(frozen=True, slots=True)
class Row:
    """One plan measured on one trace. Sizes in bytes."""

    name: str
    reason: str  # why it was tried, one line
    plan: Plan
    alignment: int  # of its blocks
    r_min: int | None  # smallest region that succeeds
    r_safe: int | None  # smallest from which every larger scanned region succeeds
    step: int  # between scanned regions; 0 where R follows from the plan or one run tells it
    u_max: int  # most live bytes of the trace
    trained_on_this_trace: bool
    replay: _engine.ReplayResult | None  # metered, in `replay_region`; None if no region works

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
        (info,) = find_allocators([self.plan.allocator])
        return info.in_pieces

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


@dataclass(frozen=True, slots=True)
class Comparison:
    """Rows ranked: smallest R_safe with its margin first (none last), then fewest accesses."""

    trace: TraceInfo
    u_max: int  # most live bytes of the trace
    base_alignment: int  # of every region: the largest that the trace or a plan asks for
    rows: tuple[Row, ...]
    not_applicable: tuple[NotApplicable, ...]  # kinds of plans left out, and why
    bounds: BesideResult | None = None  # None: not looked for


def compare(
    loaded: LoadedTrace, portfolio: Portfolio, progress: Progress = no_progress
) -> Comparison:
    """Searches each plan's smallest regions and replays it once, metered, in R_safe.

    HeapfitError if there is nothing to compare.
    """
    if not portfolio.candidates:
        refuse_nothing(portfolio.not_applicable)
    return measure(loaded, portfolio, progress)


def refuse_nothing(not_applicable: Sequence[NotApplicable]) -> NoReturn:
    """Tells why there is no plan."""
    whys = "; ".join(f"{one.name}: {one.why}" for one in not_applicable)
    raise HeapfitError(f"no plan to compare ({whys})")


def measure(
    loaded: LoadedTrace, portfolio: Portfolio, progress: Progress = no_progress
) -> Comparison:
    """As `compare`, but a portfolio may be empty."""
    base, u_max = base_alignment(loaded.trace, portfolio), loaded.profile.u_max
    rows = ranked(
        [
            measure_candidate(one, loaded.events_for(one.plan), u_max, base, progress)
            for one in portfolio.candidates
        ]
    )
    return Comparison(
        trace=loaded.trace.info,
        u_max=u_max,
        base_alignment=base,
        rows=rows,
        not_applicable=portfolio.not_applicable,
        bounds=quick_bounds(loaded).beside(rows[0].plan if rows else None),
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
    u_max: int,
    base_alignment: int,
    progress: Progress = no_progress,
) -> Row:
    """One plan's smallest regions on a trace, and a metered replay in R_safe."""
    step = f"compare {candidate.name}"
    plan = candidate.plan.engine()
    search = _engine.Trial(plan, events, base_alignment).scan(
        progress=lambda done, total: progress(step, done / max(total, 1))
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
        u_max=u_max,
        trained_on_this_trace=candidate.trained_on_this_trace,
        replay=None if region is None else _replay(plan, events, region, base_alignment),
    )


def _replay(
    plan: _engine.Plan, events: _engine.EventArray, region: int, base_alignment: int
) -> _engine.ReplayResult:
    replay = _engine.Replay(
        plan, region, base_alignment=base_alignment, samples=SAMPLES, expected_events=len(events)
    )
    replay.feed(events)
    return replay.result()
