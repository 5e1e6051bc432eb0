# SPDX-License-Identifier: Apache-2.0
"""Plans side by side on one trace: the region each needs and the metadata accesses it costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Any, Final, NoReturn

import pyarrow as pa

from heapfit.bounds.trace_bounds import ComparisonBounds, quick_bounds
from heapfit.bounds.worst_cases import Limits, worst_case
from heapfit.comparison.candidate import Candidate, NotApplicable, Portfolio
from heapfit.comparison.costs.measures import Measure, Measures, measures_of
from heapfit.comparison.measuring import (
    STANDARD_PRECISION,
    Precision,
    load_of,
    measure_candidate,
    replay_in,
    try_limit,
)
from heapfit.comparison.pareto import list_unbeaten
from heapfit.comparison.pruning import Pruning, sort_by_cost
from heapfit.comparison.row import Row, rank_rows, row_table, with_work_of
from heapfit.comparison.work import NO_WORK, Work, total_work
from heapfit.errors import HeapfitError, did_you_mean
from heapfit.plan.energy import load_sram
from heapfit.progress import Progress, ignore_progress
from heapfit.sweep.lookahead import Ahead
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import SAMPLES
from heapfit.trace.stored import Trace, TraceInfo
from heapfit.trace.tabular import Tabular, arrow_table

_OF_PLUGINS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "name": attrgetter("name"),
    "allocator": lambda _: "plug-in",
    "r_safe": attrgetter("r_safe"),
    "r_min": attrgetter("r_min"),
    "over_u_max": attrgetter("over_u_max"),
    "accesses_per_operation": attrgetter("accesses_per_operation"),
    "faults": lambda row: ", ".join(one.name for one in row.faults),
}


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Tabular):
    """Rows ranked: smallest R_safe with its margin first (none last), then fewest accesses.

    Of several traces R_safe is that of hold-out ones.
    """

    trace: TraceInfo
    u_max: int  # most live bytes of the trace
    base_alignment: int  # of every region: the largest that the trace or a plan asks for
    rows: tuple[Row, ...]
    not_applicable: tuple[NotApplicable, ...]  # kinds of plans that do not apply, and why
    bounds: ComparisonBounds | None = None  # None: not looked for
    work: Work = NO_WORK  # that it took, the making of the plans included
    peaks: tuple[int, ...] = ()  # of several traces: the most live bytes of each
    content: str = ""  # and a hash of all
    # Of the rows by their names; empty: not looked for (design/offers.py).
    measures: Mapping[str, Measures] = field(default_factory=dict)
    plugins: tuple[Any, ...] = ()  # allocators of others: rows of `heapfit.plugin`

    def __str__(self) -> str:
        best = self.rows[0]
        needs = "no region serves it" if best.r_safe is None else f"{best.r_safe:,} B"
        return (
            f"comparison of {len(self.rows)} plans on {self.u_max:,} B live at most: "
            f"{best.name} is first, {needs}"
        )

    @property
    def unbeaten(self) -> frozenset[str]:
        """The names of the rows that no other beats: as good in every measure, better in one."""
        return list_unbeaten(
            {
                name: [costs.figure(measure) for measure in Measure]
                for name, costs in self.measures.items()
            }
        )

    def row(self, name: str) -> Row:
        """The row of a plan or allocator by its name; HeapfitError if there is none."""
        for row in self.rows:
            if row.name == name:
                return row
        known = did_you_mean(name, [row.name for row in self.rows])
        raise HeapfitError(f"{name}: is not compared here ({known})")

    def with_row(self, row: Row) -> Comparison:
        """The comparison with another row in the place of the one of that name."""
        return replace(self, rows=tuple(row if one.name == row.name else one for one in self.rows))

    def with_first(self, row: Row) -> Comparison:
        """The comparison with one of its rows before the others."""
        return replace(self, rows=(row, *(one for one in self.rows if one is not row)))

    def to_arrow(self) -> pa.Table:
        """The ranked rows as a table; with plug-ins by R_safe, theirs among them."""
        both = [row_table(self.rows), arrow_table(self.plugins, _OF_PLUGINS)]
        joined = pa.concat_tables(both, promote_options="default").sort_by("r_safe")
        return joined if self.plugins else both[0]


def reject_empty_portfolio(not_applicable: Sequence[NotApplicable]) -> NoReturn:
    """Raises HeapfitError with the reasons why there is no plan to compare."""
    whys = "; ".join(f"{one.name}: {one.why}" for one in not_applicable)
    raise HeapfitError(f"no plan to compare ({whys})")


def compare(
    loaded: LoadedTrace,
    portfolio: Portfolio,
    *,
    progress: Progress = ignore_progress,
    precision: Precision = STANDARD_PRECISION,
    bounds: ComparisonBounds | None = None,
    may_be_empty: bool = False,
) -> Comparison:
    """Searches each plan's smallest regions and replays it once, metered, in R_safe.

    Unless its precision is of all, a plan is left as soon as it is known to need more than the best
    of its kind: its row has `r_safe_at_least`, and no R_safe. `bounds`: of the trace, where they
    are known. HeapfitError if there is nothing to compare and that may not be.
    """
    if not portfolio.candidates and not may_be_empty:
        reject_empty_portfolio(portfolio.not_applicable)
    bounds = quick_bounds(loaded) if bounds is None else bounds
    base = base_alignment(loaded.trace, portfolio)
    with closing(_ComparisonSearch(loaded, base, bounds.packing, progress)) as search:
        order = sort_by_cost(loaded, portfolio.candidates)
        search.expect([one for _, one in order if precision.is_of_all or one.is_shown], precision)
        rows = [search.measure(one, precision) for _, one in order]
    return _join_rows(loaded, base, rank_rows(rows), portfolio, bounds)


def _join_rows(
    loaded: LoadedTrace,
    base: int,
    rows: tuple[Row, ...],
    portfolio: Portfolio,
    bounds: ComparisonBounds,
) -> Comparison:
    """Joins ranked rows with their bounds; each replay's placement counts as a packing, too."""
    placed = [row.placed for row in rows if row.placed is not None]
    best = rows[0].plan if rows and rows[0].heap.is_ours else None  # bounds are of plans
    limits = Limits.of_trace(loaded)
    return Comparison(
        trace=loaded.trace.info,
        u_max=load_of(loaded).u_max,
        base_alignment=base,
        rows=rows,
        not_applicable=portfolio.not_applicable,
        bounds=replace(
            bounds,
            packing=min([bounds.packing, *placed]),
            worst_case=None if best is None else worst_case(best, limits),
        ),
        work=total_work([portfolio.work, *(row.work for row in rows)]),
    )


class _ComparisonSearch:
    """The search of one comparison: its rows so far, and the pruning of further candidates."""

    def __init__(
        self,
        loaded: LoadedTrace,
        base: int,
        packing: int,
        progress: Progress,
    ) -> None:
        self._loaded = loaded
        self._base = base
        self._progress = progress
        self._search = partial(
            measure_candidate,
            loaded=loaded,
            base_alignment=base,
            packing=packing,
            progress=self._report,
        )
        self._pruning = Pruning(load_of(loaded))
        self._ahead: Ahead[tuple[str, Precision], Row] = Ahead(loaded.threads)
        self._is_closed = False

    def expect(self, candidates: Sequence[Candidate], precision: Precision) -> None:
        """Starts to measure candidates that are needed, as many at once as there are threads."""
        searches = {
            (one.name, precision): partial(self._search, one, precision=precision)
            for one in candidates
        }
        self._ahead.expect(searches)

    def close(self) -> None:
        """Cancels the measurements that are running."""
        self._is_closed = True
        self._ahead.close()

    def measure(self, one: Candidate, precision: Precision) -> Row:
        """Measures a candidate unless it cannot win."""
        limit = None if precision.is_of_all or precision.every_size else self._pruning.limit(one)
        row = None if limit is None else try_limit(one, self._loaded, self._base, limit)
        if row is None or row.r_safe_at_least is None:
            tried = row
            search = partial(self._search, one, precision=precision)
            row = self._ahead.result((one.name, precision), search)
            row = row if tried is None else with_work_of(row, tried)
        self._pruning.note(one, row.r_safe)
        return row

    def _report(self, step: str, done: float) -> None:
        if self._is_closed:
            raise CancelledError
        self._progress(step, done)


def base_alignment(trace: Trace, portfolio: Portfolio) -> int:
    """The alignment of every region's start: the largest that the trace or a plan asks for."""
    return max([trace.largest_alignment, *(one.plan.alignment for one in portfolio.candidates)])


def with_series(comparison: Comparison, row: Row, loaded: LoadedTrace) -> tuple[Comparison, Row]:
    """The comparison with a series over time in one of its rows, which pages draw.

    It takes as long as some 5 to 40 replays, since all blocks are looked at a thousand times.
    """
    if row.replay_region is None:
        return comparison, row
    region = row.replay_region, comparison.base_alignment
    replay = replay_in(row.plan.engine(), row.heap.events(loaded), region, SAMPLES)
    work = Work(metered=replay.events, walked=replay.blocks_walked)
    drawn = replace(row, replay=replay, work=row.work + work)
    return replace(comparison.with_row(drawn), work=comparison.work + work), drawn


def with_measures(comparison: Comparison, loaded: LoadedTrace) -> Comparison:
    """The comparison with the measures of all its rows, whose calls are replayed one by one."""
    sram = load_sram()
    return replace(
        comparison, measures={row.name: measures_of(row, loaded, sram) for row in comparison.rows}
    )
