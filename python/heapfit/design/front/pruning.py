# SPDX-License-Identifier: Apache-2.0
"""Configurations that need no search, since a few replays show another better in everything.

A search takes some 140 replays. One replay in a region with room shows what calls cost there, and
one in a small region whether more memory than that is needed:

    what calls cost    by a tenth more than a rival's: loads, stores, mean and longest
    code               no less than the rival's
    memory             it fails where the rival, and the plan that the verdict would name, do

What calls cost depends a little on the region, so a tenth is asked for (docs/front.md has what was
measured). Memory and code need no such margin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from heapfit import _engine
from heapfit.comparison.candidate import Candidate
from heapfit.comparison.costs.heap_costs import count_calls, find_code
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.measuring import Ground, try_limit
from heapfit.comparison.row import Row
from heapfit.comparison.work import Work
from heapfit.trace.loaded import LoadedTrace

_CLEARLY: Final = 0.9  # times what the other costs


@dataclass(frozen=True, slots=True)
class _Costs:
    """The costs of a heap's calls in some region, and its code size."""

    loads: int  # of metadata words, by all calls; energy follows from these two, too
    stores: int
    mean: float  # instructions of a call
    longest: float
    size: int  # bytes of code

    def are_clearly_less(self, others: _Costs) -> bool:
        """True if each cost of a call is less by a tenth, with no more code."""
        mine = self.loads, self.stores, self.mean, self.longest
        theirs = others.loads, others.stores, others.mean, others.longest
        is_quicker = all(a <= _CLEARLY * b for a, b in zip(mine, theirs, strict=True))
        return is_quicker and self.size <= others.size


@dataclass(frozen=True, slots=True)
class _Rival:
    """A searched configuration, with R_safe and costs known."""

    row: Row
    r_safe: int
    costs: _Costs


class Rivals:
    """The searched configurations, which may show that others need no search."""

    def __init__(
        self, loaded: LoadedTrace, ground: Ground, rows: Sequence[Row], least: int
    ) -> None:
        """`least`: R_safe of the plan that a verdict names; what needs less is never pruned."""
        self._loaded = loaded
        self._ground = ground
        self._least = least
        known = (self._rival(row) for row in rows)
        self._rivals = sorted((one for one in known if one is not None), key=lambda one: one.r_safe)

    def prune(self, candidate: Candidate) -> Row | None:
        """The row of a candidate that a rival beats, naming the rival; None if it must be searched.

        It takes two or three replays.
        """
        events = self._loaded.events_for(candidate.plan)
        trial = _engine.Trial(candidate.plan.engine(), events, self._ground.base_alignment)
        roomy = trial.first_success(2 * max(self._ground.u_max, trial.smallest_region))
        costs = None if roomy.region is None else self._costs(candidate.heap, roomy.region)
        rival = None if costs is None else self._find_better(costs)
        if rival is None:
            return None
        limit = max(rival.r_safe, self._least)
        row = try_limit(candidate, events, self._ground, limit)
        if row.r_safe_at_least is None:
            return None
        work = row.work + Work(regions=roomy.events, metered=len(events))
        return replace(row, work=work, beaten_by=rival.row.name)

    def _find_better(self, costs: _Costs) -> _Rival | None:
        """The rival of least memory that costs clearly less."""
        better = (rival for rival in self._rivals if rival.costs.are_clearly_less(costs))
        return next(better, None)

    def _rival(self, row: Row) -> _Rival | None:
        costs = None if row.r_safe is None else self._costs(row.heap, row.r_safe)
        return None if row.r_safe is None or costs is None else _Rival(row, row.r_safe, costs)

    def _costs(self, heap: Heap, region: int) -> _Costs | None:
        """The costs of a heap's calls in a region; None if its code was not measured."""
        code = find_code(heap)
        if code is None or code.size is None:
            return None
        calls = count_calls(heap, self._loaded, region)
        modelled = code.model.estimate(calls)
        if modelled is None:
            return None
        loads, stores = (int((calls[kind] * calls["calls"]).sum()) for kind in ("loads", "stores"))
        return _Costs(loads, stores, modelled.mean, modelled.longest, code.size)
