# SPDX-License-Identifier: Apache-2.0
"""What a page is of: a recording, the heaps measured on it, and the one that is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from heapfit.comparison.comparison import Comparison, with_series
from heapfit.comparison.incumbents.heaps import SystemHeap
from heapfit.comparison.row import Row
from heapfit.trace.loaded import LoadedTrace


@dataclass(frozen=True, slots=True)
class Case:
    """One recording, measured."""

    shown: LoadedTrace
    comparison: Comparison  # on it
    winner: Row  # among its rows
    today: SystemHeap | None = None  # the heap that the user has; None: not named
    sites: Mapping[int, str] = field(default_factory=dict)  # call sites by name, where known


def drawn_case(
    shown: LoadedTrace, comparison: Comparison, winner: Row, sites: Mapping[int, str]
) -> Case:
    """A case whose winner is replayed once more, as a series over time, to be drawn."""
    comparison, winner = with_series(comparison, winner, shown)
    return Case(shown, comparison, winner, sites=sites)
