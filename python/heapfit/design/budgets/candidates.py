# SPDX-License-Identifier: Apache-2.0
"""Budgets as candidates: two selections of sizes, each by one or several methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from heapfit.comparison.candidate import Candidate, NotApplicable, skip_duplicate
from heapfit.comparison.incumbents.heap import Heap
from heapfit.design.budgets import greedy_budgets
from heapfit.design.budgets.certified import Method, find_budgets
from heapfit.trace.loaded import LoadedTrace


def budget_candidates(
    loaded: LoadedTrace, methods: Sequence[Method]
) -> list[Candidate | NotApplicable]:
    """Candidates with budgets, for two selections of sizes; each plan only once."""
    candidates: list[Candidate | NotApplicable] = []
    for method in methods:
        for name, sizes, chosen in _selections(loaded):
            suffix = "" if method is Method.GREEDY else f"_{method}"
            certified = find_budgets(
                loaded.events, sizes, alignment=loaded.alignment, method=method
            )
            plan = greedy_budgets.plan_from_budgets(sizes, certified.counts, loaded.alignment)
            made = f"{method} budgets for {chosen}: {certified.account}"
            candidates.append(
                NotApplicable(f"{name}{suffix}", f"no budget for {chosen} leaves the peak as it is")
                if plan is None
                else skip_duplicate(
                    Candidate(
                        f"{name}{suffix}",
                        Heap(f"{name}{suffix}", plan),
                        made,
                        trained_on_this_trace=True,
                    ),
                    candidates,
                )
            )
    return candidates


def _selections(loaded: LoadedTrace) -> Iterator[tuple[str, list[int], str]]:
    """The selections of sizes to budget: a name, the sizes, and the selection in words."""
    largest = greedy_budgets.largest_classes(loaded)
    yield "budgeted_4_largest", largest, "the 4 sizes with most bytes at the peak"
    frequent = greedy_budgets.frequent_classes(loaded.profile, loaded.alignment)
    yield "budgeted_16_frequent", frequent, "the 16 most frequent sizes"
