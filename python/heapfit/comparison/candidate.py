# SPDX-License-Identifier: Apache-2.0
"""Candidates of a comparison: a plan with the reason to try it, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.margin import MarginBasis, margin_kind
from heapfit.comparison.work import Work
from heapfit.forecast.load import Load
from heapfit.plan.allocators import counts_blocks
from heapfit.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Candidate:
    """A heap to measure."""

    name: str
    heap: Heap
    reason: str  # why it is tried, one line
    trained_on_this_trace: bool  # made from the very trace it is measured on
    replayed: int = 0  # events, to find it
    is_shown: bool = False  # with every answer, whatever it needs
    is_searched_further: bool = False  # than `fit` looks: the verdict does not name it
    notes: tuple[str, ...] = ()  # each a sentence on what the trace asks of that heap

    @property
    def plan(self) -> Plan:
        """The plan that places the heap's blocks."""
        return self.heap.plan

    @property
    def is_cut_to_trace(self) -> bool:
        """True if the blocks it holds were counted on this very trace, as in pools and budgets.

        Such a plan says what would do if every run were this one; of 13 programs it ran out on the
        second run of 8 (decision 20).
        """
        return self.trained_on_this_trace and counts_blocks(self.plan)

    def margin_basis(self, load: Load, changes: float = 0.0) -> MarginBasis:
        """What its margin rests on for a load; `changes`: percent that changed programs need."""
        return MarginBasis(load, margin_kind(self.plan, self.trained_on_this_trace), changes)


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A kind of plan without use for this trace, or whose plan another candidate has already."""

    name: str
    why: str  # one line
    same_as: str | None = None  # the candidate that has this plan already
    replayed: int = 0  # events, to find that


@dataclass(frozen=True, slots=True)
class Portfolio:
    """The plans to measure, and the kinds of plans that do not apply."""

    candidates: tuple[Candidate, ...]
    not_applicable: tuple[NotApplicable, ...]

    @property
    def work(self) -> Work:
        """The work of making the plans."""
        found = [one.replayed for one in self.candidates]
        return Work(plans=sum(found) + sum(one.replayed for one in self.not_applicable))

    def plan(self, name: str) -> Plan | None:
        """The plan of a candidate, or of the one it equals here; None if it cannot be made."""
        same = {one.name: one.same_as for one in self.not_applicable if one.same_as}
        plans = {candidate.name: candidate.plan for candidate in self.candidates}
        while name in same:
            name = same[name]
        return plans.get(name)


def skip_duplicate(
    one: Candidate, before: Sequence[Candidate | NotApplicable]
) -> Candidate | NotApplicable:
    """The candidate, or NotApplicable where an earlier candidate has the same plan."""
    for other in before:
        if isinstance(other, Candidate) and other.plan == one.plan:
            return NotApplicable(
                one.name, f"the same plan as {other.name}", other.name, one.replayed
            )
    return one
