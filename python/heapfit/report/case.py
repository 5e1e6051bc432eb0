# SPDX-License-Identifier: Apache-2.0
"""The case of a page: a recording, the heaps measured on it, and the chosen one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from heapfit.comparison.comparison import Comparison, with_series
from heapfit.comparison.incumbents.system_heap import SystemHeap
from heapfit.comparison.row import Row
from heapfit.trace.loaded import LoadedTrace


@dataclass(frozen=True, slots=True)
class ReportCase:
    """A recording, the comparison of heaps on it, and the chosen heap."""

    shown: LoadedTrace
    comparison: Comparison  # on it
    winner: Row  # among its rows
    today: SystemHeap | None = None  # the heap that the user has; None: not named
    sites: Mapping[int, str] = field(default_factory=dict)  # call sites by name, where known


def make_case(
    shown: LoadedTrace, comparison: Comparison, winner: Row, sites: Mapping[int, str]
) -> ReportCase:
    """A case whose winner is replayed once more, as a series over time for charts."""
    comparison, winner = with_series(comparison, winner, shown)
    return ReportCase(shown, comparison, winner, sites=sites)
