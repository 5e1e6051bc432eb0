# SPDX-License-Identifier: Apache-2.0
"""The winner tried on changed programs, and pruned rows searched again where that costs it the win.

A plan is pruned once it is known to need more than the best. Where changes of the program raise
the best one's margin, or forbid to advise it, a pruned plan may be the best. One that fails with a
change that broke another plan, in the largest region in which it would be the best, is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from heapfit.comparison.change_results import ChangeTest
from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.incumbents.heap_names import RUNGS
from heapfit.comparison.margin import UNIT, heap_size, largest_r_safe
from heapfit.comparison.measuring import Precision, measure_candidate, try_limit
from heapfit.comparison.row import Row, rank_rows, with_work_of
from heapfit.comparison.verdict import select_row, verdict_rows
from heapfit.comparison.work import Work
from heapfit.trace.loaded import LoadedTrace


@dataclass(frozen=True, slots=True)
class ChangeTrials:
    """The trials of rows of a comparison on changed programs."""

    programs: ChangedPrograms
    reopen: Callable[[Comparison], Comparison]  # measures what may win once the best needs more
    pools: bool  # rows whose blocks were counted on the recordings may be named
    is_by_memory: bool  # a row that another beats in bytes is not named, but for RUNGS
    started: dict[str, Iterator[ChangeTest]] = field(default_factory=dict)  # by row

    def try_row(self, comparison: Comparison, row: Row) -> Comparison:
        """The comparison, ranked anew, with changes tried on one row until another needs less.

        The row has a region. It may be tried on, where it stopped, once the others need more.
        """
        assert row.r_safe is not None, "only a row with a region can win"
        if row.name not in self.started:
            self.started[row.name] = self.programs.test_in_steps(row.heap, row.r_safe, row.known)
        rival, before = self._find_rival(comparison, row), row.changes or ChangeTest()
        for tested in self.started[row.name]:
            size = heap_size(row.r_safe, replace(row.known, changes=tested.needed))
            if rival is not None and size.region > rival:
                break
        work = Work(changed=tested.events - before.events)
        tried = replace(row, changes=tested, work=row.work + work)
        comparison = _replace_row(comparison, tried, work)
        return self.reopen(comparison) if tested.needed > 0 else comparison

    def _find_rival(self, comparison: Comparison, row: Row) -> int | None:
        """The least region of another row that may be named; None if bytes do not decide."""
        others = (
            one for one in verdict_rows(comparison) if one is not row and _may_win(one, self.pools)
        )
        sizes = [one.heap_size.region for one in others if one.heap_size is not None]
        return min(sizes, default=None) if self.is_by_memory and row.name not in RUNGS else None


@dataclass(frozen=True, slots=True)
class PrunedRows:
    """The rows of one recording's comparison that were not searched to the end."""

    loaded: LoadedTrace
    programs: ChangedPrograms
    precision: Precision
    pools: bool  # as above

    def reopen(self, comparison: Comparison) -> Comparison:
        """Searches pruned rows that may need less than the best row does now."""
        pruned = [
            row
            for row in comparison.rows
            if row.r_safe is None and row.r_safe_at_least is not None and _may_win(row, self.pools)
        ]
        for row in sorted(pruned, key=lambda one: one.r_safe_at_least or 0):
            found, work = self._search(row, comparison)
            comparison = _replace_row(comparison, found, work)
        return comparison

    def _search(self, row: Row, comparison: Comparison) -> tuple[Row, Work]:
        """A pruned row, searched if it may be the best; and the work that took."""
        size = select_row(comparison, self.pools).heap_size
        limit = None if size is None else largest_r_safe(size.region - UNIT, row.known)
        if limit is not None and limit < (row.r_safe_at_least or 0):
            return row, Work()
        base, work = comparison.base_alignment, Work()
        if size is not None and limit is not None:
            tried = try_limit(row, self.loaded, base, limit)
            if tried.r_safe_at_least is not None:
                return with_work_of(tried, row), tried.work
            tested = [row.changes for row in comparison.rows if row.changes is not None]
            broken = {one.name for changes in tested for one in changes.broken}
            is_served, changed = self.programs.serve_in(row.heap, size.region - UNIT, broken)
            work = tried.work + Work(changed=changed)
            if not is_served:
                return replace(row, work=row.work + work), work
        found = measure_candidate(row, self.loaded, base_alignment=base, precision=self.precision)
        work += found.work
        return replace(found, work=row.work + work), work


def _may_win(row: Row, pools: bool) -> bool:
    return not row.is_searched_further and (pools or not row.is_cut_to_trace)


def _replace_row(comparison: Comparison, row: Row, work: Work) -> Comparison:
    return replace(
        comparison, rows=rank_rows(comparison.with_row(row).rows), work=comparison.work + work
    )
