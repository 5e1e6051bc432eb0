# SPDX-License-Identifier: Apache-2.0
"""The case of a page: a recording, the heaps measured on it, and the chosen one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from heapfit.comparison.candidate import Candidate
from heapfit.comparison.comparison import Comparison, with_series
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.measuring import Ground, find_events, measure_candidate
from heapfit.comparison.row import Row
from heapfit.trace.loaded import LoadedTrace


@dataclass(frozen=True, slots=True)
class ReportCase:
    """A recording, the comparison of heaps on it, and the chosen heap."""

    shown: LoadedTrace
    comparison: Comparison  # on it
    winner: Row  # among its rows
    today: Heap | None = None  # the heap that the user has; None: not named
    fitted: Row | None = None  # where the winner is a heap that is kept: what it is compared with
    sites: Mapping[int, str] = field(default_factory=dict)  # call sites by name, where known


def keep_heap(case: ReportCase, kept: Heap) -> ReportCase:
    """The case with the heap that is kept as its winner, measured as the rows are."""
    comparison, shown = case.comparison, case.shown
    one = Candidate(kept.title, kept, "the heap that is kept", False)
    ground = Ground(comparison.u_max, comparison.base_alignment)
    row = measure_candidate(one, find_events(one, shown), ground)
    others = (
        other for other in comparison.rows if not other.heap.is_ours or other.plan != kept.plan
    )
    comparison, row = with_series(replace(comparison, rows=(row, *others)), row, shown)
    return replace(case, comparison=comparison, winner=row, fitted=case.winner)


def make_case(
    shown: LoadedTrace, comparison: Comparison, winner: Row, sites: Mapping[int, str]
) -> ReportCase:
    """A case whose winner is replayed once more, as a series over time for charts."""
    comparison, winner = with_series(comparison, winner, shown)
    return ReportCase(shown, comparison, winner, sites=sites)
