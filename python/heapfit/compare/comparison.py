# SPDX-License-Identifier: Apache-2.0
"""Plans side by side on one trace: the region each needs and the metadata accesses it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import NoReturn

import pyarrow as pa

from heapfit import _engine
from heapfit.bounds.trace_bounds import BesideResult, QuickBounds, quick_bounds
from heapfit.compare.candidate import Candidate, NotApplicable, Portfolio
from heapfit.compare.contest import Contest, cheapest_first
from heapfit.compare.margin import HeapSize, Known, heap_size, kind_of
from heapfit.compare.work import NO_WORK, Work, work_of
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import counts_blocks, find_allocators
from heapfit.plan.energy import Sram
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, no_progress
from heapfit.sweep.ahead import Ahead
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import SAMPLES
from heapfit.trace.stored import Trace, TraceInfo
from heapfit.trace.tabular import Tabular, arrow_table

# What it may take to try every size: so many times the trace, and about a second of one core.
TIMES_TO_TRY_ALL = 100
EVENTS_TO_TRY_ALL = 10_000_000
_ROWS_TO_TRY_ALL = 3  # of each kind


@dataclass(frozen=True, slots=True)
class Ground:
    """What all plans measured on a trace have in common."""

    u_max: int  # most live bytes of the trace
    base_alignment: int  # of every region: the largest that the trace or a plan asks for
    packing: int = 0  # bytes of an offline packing that replays may beat
    threads: int = 0  # that try regions of a plan at once; 0: one for each core


@dataclass(frozen=True, slots=True)
class Precision:
    """How well R_min and R_safe are to be known (docs/decisions/0019)."""

    every_size: bool = False  # each multiple of 8 B of the window, whatever it takes
    also: int = 0  # a region in which the plan failed elsewhere; 0: none is known
    every_size_of_best: bool = True  # likewise, of the few plans that may win, where it is cheap
    is_of_all: bool = True  # else R_safe only of plans that may win (contest.py)


STANDARD_PRECISION = Precision()
EXACT = Precision(every_size=True)
WITHOUT_EVERY_SIZE = Precision(every_size_of_best=False)


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
    replay: _engine.ReplayResult | None  # metered, in `replay_region`; None if no region works.
    # Its series is empty, but of rows that went through with_series.
    events_left: int = 0  # that trying every region between the scanned ones would take, about
    placed: int | None = None  # height of its lowest placement where that beats the packing known
    r_safe_at_least: int | None = None  # bytes; of a plan that was left, as it cannot win
    beaten_by: str | None = None  # the row for which it was left (front/left.py)
    work: Work = NO_WORK  # that all this took
    is_searched_further: bool = False  # than `fit` looks: the verdict does not name it

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
    work: Work = NO_WORK  # that it took, the making of the plans included

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
    precision: Precision = STANDARD_PRECISION,
    bounds: QuickBounds | None = None,
) -> Comparison:
    """Searches each plan's smallest regions and replays it once, metered, in R_safe.

    Unless its precision is of all, a plan is left as soon as it is known to need more than the best
    of its kind: its row has `r_safe_at_least`, and no R_safe. `bounds`: of the trace, where they
    are known. HeapfitError if there is nothing to compare.
    """
    if not portfolio.candidates:
        refuse_nothing(portfolio.not_applicable)
    return measure(loaded, portfolio, progress, precision, bounds)


def refuse_nothing(not_applicable: Sequence[NotApplicable]) -> NoReturn:
    """Tells why there is no plan."""
    whys = "; ".join(f"{one.name}: {one.why}" for one in not_applicable)
    raise HeapfitError(f"no plan to compare ({whys})")


def measure(
    loaded: LoadedTrace,
    portfolio: Portfolio,
    progress: Progress = no_progress,
    precision: Precision = STANDARD_PRECISION,
    bounds: QuickBounds | None = None,
) -> Comparison:
    """As `compare`, but a portfolio may be empty."""
    bounds = quick_bounds(loaded) if bounds is None else bounds
    ground = ground_of(loaded, portfolio, bounds)

    ring = _Ring(loaded, portfolio, ground, progress)
    with closing(ring):
        order = cheapest_first(loaded, portfolio.candidates)
        ring.expect([one for _, one in order if precision.is_of_all or one.is_shown], precision)
        for i, one in order:
            ring.measure(i, one, precision)
        whole = replace(precision, every_size=True, is_of_all=True)
        while closer := to_look_at_closer(ring.found, loaded.trace.info.events, precision):
            for i in closer:
                ring.measure(i, portfolio.candidates[i], whole)
            ring.reopen(precision)
    rows = ranked(list(ring.found.values()))
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
        work=work_of([portfolio.work, *(row.work for row in rows)]),
    )


class _Ring:
    """The rows of one comparison, and what the rest have to beat."""

    def __init__(
        self, loaded: LoadedTrace, portfolio: Portfolio, ground: Ground, progress: Progress
    ) -> None:
        self.found: dict[int, Row] = {}
        self._loaded = loaded
        self._portfolio = portfolio
        self._ground = ground
        self._progress = progress
        self._contest = Contest(ground.u_max)
        self._ahead: Ahead[tuple[str, Precision], Row] = Ahead(loaded.threads)
        self._is_closed = False

    def expect(self, candidates: Sequence[Candidate], precision: Precision) -> None:
        """These are measured in any case: as many at once as there are threads."""
        works = {(one.name, precision): partial(self._search, one, precision) for one in candidates}
        self._ahead.expect(works)

    def close(self) -> None:
        """Ends what is under way."""
        self._is_closed = True
        self._ahead.close()

    def measure(self, i: int, one: Candidate, precision: Precision) -> None:
        """A candidate's row, unless it cannot win; more is known of one that has a row already."""
        events = self._loaded.events_for(one.plan)
        limit = None if precision.is_of_all else self._contest.limit(one)
        row = beaten(one, events, self._ground, limit) if limit is not None else None
        if row is None or row.r_safe_at_least is None:
            tried = row
            row = self._ahead.result((one.name, precision), partial(self._search, one, precision))
            row = row if tried is None else with_work_of(row, tried)
        before = self.found.get(i)
        self.found[i] = row if before is None else with_work_of(row, before)
        self._contest.note(one, row.r_safe)

    def _search(self, one: Candidate, precision: Precision) -> Row:
        events = self._loaded.events_for(one.plan)
        return measure_candidate(one, events, self._ground, precision, self._tell)

    def _tell(self, step: str, done: float) -> None:
        if self._is_closed:
            raise CancelledError
        self._progress(step, done)

    def reopen(self, precision: Precision) -> None:
        """Tries those again that may win now, since the best turned out to need more."""
        self._contest = Contest(self._ground.u_max)
        for i, row in self.found.items():
            self._contest.note(self._portfolio.candidates[i], row.r_safe)
        for i, row in self.found.items():
            one, at_least = self._portfolio.candidates[i], row.r_safe_at_least
            if at_least is not None and (self._contest.limit(one) or at_least) >= at_least:
                self.measure(i, one, precision)


def with_work_of(row: Row, before: Row) -> Row:
    """A row that was measured again, with what the first measurement took."""
    return replace(row, work=before.work + row.work)


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


def to_look_at_closer(
    found: Mapping[int, Row], events: int, precision: Precision = STANDARD_PRECISION
) -> list[int]:
    """The numbers of rows of which every size is still to be tried, on a trace of so many events.

    They are among the first three of their kind: blocks counted on the trace or not, searched
    further or not. So the verdict's is one of them, and what is searched further takes no other's
    place. Where it would take too long, R_safe stays the smallest found.
    """
    if not precision.every_size_of_best:
        return []
    most = max(TIMES_TO_TRY_ALL * events, EVENTS_TO_TRY_ALL)
    kinds: dict[tuple[bool, bool], list[Row]] = {}
    for row in found.values():
        kinds.setdefault((row.is_cut_to_trace, row.is_searched_further), []).append(row)
    first = [row for rows in kinds.values() for row in ranked(rows)[:_ROWS_TO_TRY_ALL]]
    return [
        i
        for i, row in found.items()
        if 0 < row.events_left <= most and any(row is one for one in first)
    ]


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
    precision: Precision = STANDARD_PRECISION,
    progress: Progress = no_progress,
) -> Row:
    """One plan's smallest regions on a trace, and a metered replay in R_safe."""
    step = f"compare {candidate.name}"
    plan = candidate.plan.engine()
    trial = _engine.Trial(plan, events, ground.base_alignment)
    search = trial.scan(
        threads=ground.threads,
        progress=lambda done, total: progress(step, done / max(total, 1)),
        every_size=precision.every_size,
        also=precision.also,
    )
    progress(step, 1.0)
    region = search.r_safe if search.r_safe is not None else search.r_min
    replay = None if region is None else _replay(plan, events, (region, ground.base_alignment))
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
        replay=replay,
        events_left=search.events_left,
        placed=_lower_placement(candidate, events, trial, search, ground.packing),
        work=_work_of(search, replay, precision),
        is_searched_further=candidate.is_searched_further,
    )


def beaten(candidate: Candidate, events: _engine.EventArray, ground: Ground, limit: int) -> Row:
    """The row of a plan after one replay in a region: whether it needs more than that."""
    plan = candidate.plan.engine()
    tried = _engine.Trial(plan, events, ground.base_alignment).run(limit)
    return Row(
        name=candidate.name,
        reason=candidate.reason,
        plan=candidate.plan,
        alignment=plan.alignment,
        r_min=None,
        r_safe=None,
        step=0,
        u_max=ground.u_max,
        trained_on_this_trace=candidate.trained_on_this_trace,
        replay=None,
        r_safe_at_least=None if tried.runs else limit + _engine.REGION_UNIT,
        work=Work(regions=tried.events),
        is_searched_further=candidate.is_searched_further,
    )


def _work_of(
    search: _engine.RegionSearch, replay: _engine.ReplayResult | None, precision: Precision
) -> Work:
    is_whole = precision.every_size and search.searched
    return Work(
        regions=0 if is_whole else search.events,
        every_size=search.events if is_whole else 0,
        metered=0 if replay is None else replay.events,
        walked=0 if replay is None else replay.blocks_walked,
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
    plan: _engine.Plan, events: _engine.EventArray, region: tuple[int, int], samples: int = 0
) -> _engine.ReplayResult:
    size, base_alignment = region
    replay = _engine.Replay(
        plan, size, base_alignment=base_alignment, samples=samples, expected_events=len(events)
    )
    replay.feed(events)
    return replay.result()


def with_series(comparison: Comparison, row: Row, loaded: LoadedTrace) -> tuple[Comparison, Row]:
    """The comparison with one of its rows as a series over time, which is what a page draws.

    It takes as long as some 5 to 40 replays, since all blocks are looked at a thousand times.
    """
    if row.replay_region is None:
        return comparison, row
    region = row.replay_region, comparison.base_alignment
    replay = _replay(row.plan.engine(), loaded.events_for(row.plan), region, SAMPLES)
    work = Work(metered=replay.events, walked=replay.blocks_walked)
    drawn = replace(row, replay=replay, work=row.work + work)
    rows = tuple(drawn if one is row else one for one in comparison.rows)
    return replace(comparison, rows=rows, work=comparison.work + work), drawn
