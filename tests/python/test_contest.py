# SPDX-License-Identifier: Apache-2.0
"""Candidates that cannot win are left early; the answer is that of the whole search."""

from dataclasses import replace

import pytest

from heapfit.comparison.candidate import Candidate
from heapfit.comparison.comparison import Comparison, compare
from heapfit.comparison.contest import Pruning
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.margin import MarginBasis, MarginKind, heap_size
from heapfit.comparison.measuring import Precision
from heapfit.comparison.verdict import best_row, select_row, verdict
from heapfit.design.portfolio import standard_portfolio
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

U_MAX = 80_000


def candidate(name: str, *, is_cut: bool = False, is_trained: bool = False) -> Candidate:
    plan = Plan("class_pools", {}, (Pool(64, 3, True),)) if is_cut else Plan("tailored")
    return Candidate(name, Heap(name, plan), "", is_cut or is_trained)


def region(r_safe: int, kind: MarginKind) -> int:
    return heap_size(r_safe, MarginBasis(1, U_MAX, kind)).region


def test_the_limit_is_the_largest_region_that_is_as_good_with_its_margin() -> None:
    contest = Pruning(U_MAX)
    assert contest.limit(candidate("a")) is None
    contest.note(candidate("a"), 90_000)
    assert contest.limit(candidate("b")) == 90_000
    limit = contest.limit(candidate("c", is_trained=True))
    assert limit is not None and limit < 90_000
    best = region(90_000, MarginKind.PLAIN)
    assert region(limit, MarginKind.PLACED) <= best < region(limit + 8, MarginKind.PLACED)


def test_counted_blocks_have_to_beat_their_own_kind_and_what_may_be_chosen() -> None:
    contest = Pruning(U_MAX)
    contest.note(candidate("pools", is_cut=True), 85_000)
    assert contest.limit(candidate("plain")) is None
    contest.note(candidate("plain"), 90_000)
    assert contest.limit(candidate("more", is_cut=True)) == 85_000
    contest.note(candidate("plainer"), 82_000)
    assert contest.limit(candidate("more", is_cut=True)) == 82_000


def test_what_is_always_shown_is_always_searched() -> None:
    contest = Pruning(U_MAX)
    contest.note(candidate("a"), 90_000)
    assert contest.limit(replace(candidate("b"), is_shown=True)) is None


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedTrace:
    path = tmp_path_factory.mktemp("contest") / "drawn.parquet"
    spec = parse_workload("phases_w4:events=800", 1)
    return load_trace(generate_workload(spec, path))


@pytest.fixture(scope="module")
def both(loaded: LoadedTrace) -> tuple[Comparison, Comparison]:
    portfolio = standard_portfolio(loaded)
    few = Precision(is_of_all=False)
    return compare(loaded, portfolio), compare(loaded, portfolio, precision=few)


def test_the_winner_and_the_verdict_are_those_of_the_whole_search(
    both: tuple[Comparison, Comparison],
) -> None:
    whole, short = both
    assert verdict(whole) == verdict(short)
    mine, theirs = select_row(short), select_row(whole)
    assert (mine.name, mine.r_safe) == (theirs.name, theirs.r_safe)
    cut, shown = best_row(whole, is_cut=True), best_row(short, is_cut=True)
    assert cut is not None and cut.r_safe is not None and shown is not None
    assert theirs.r_safe is not None and cut.r_safe < theirs.r_safe
    assert (shown.name, shown.r_safe) == (cut.name, cut.r_safe)


def test_what_is_told_of_a_plan_that_was_left_is_so(both: tuple[Comparison, Comparison]) -> None:
    whole, short = both
    found = {row.name: row.r_safe for row in whole.rows}
    left = [row for row in short.rows if row.r_safe_at_least is not None]
    assert len(left) > 3
    for row in left:
        known = found[row.name]
        assert row.r_safe is None and row.replay is None
        assert known is None or known >= (row.r_safe_at_least or 0)
    assert {row.name: row.r_safe for row in short.rows if row.r_safe} == {
        row.name: found[row.name] for row in short.rows if row.r_safe
    }


def test_work_is_counted_by_what_it_is_for(both: tuple[Comparison, Comparison]) -> None:
    whole, short = both
    assert short.work.plans == whole.work.plans > 0
    assert short.work.regions < whole.work.regions
    assert whole.work.metered >= sum(row.replay.events for row in whole.rows if row.replay)
    assert whole.work.events == whole.work.plans + sum(row.work.events for row in whole.rows)
