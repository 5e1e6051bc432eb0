# SPDX-License-Identifier: Apache-2.0
"""Pools of sizes: special ones of Mamagkakis et al., budgets of Lee and Yi; the fullest moments."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from small_traces import event_array, load_lines, random_calls

from heapfit import _engine
from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.comparison import compare
from heapfit.comparison.incumbents.heap import Heap
from heapfit.design.budgets.greedy_budgets import (
    classes_with_most,
    plan_from_budgets,
)
from heapfit.design.pools.special_pools import pool_sizes, special_pools_plan, special_sizes
from heapfit.design.pools.static_pools import ALLOCATOR, block_sizes, worst_case_plan
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Pool
from heapfit.trace.loaded import live_sizes_at, load_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

POWERS = [(64, False), (128, False), (256, False), (512, False), (1024, False)]
PAPER = [(40, True), *POWERS, (1500, True)]


@dataclass(frozen=True)
class Histogram:
    """The part of a profile that the rule looks at."""

    sizes: NDArray[np.uint64]
    allocations: NDArray[np.uint64]


def histogram(counts: dict[int, int]) -> Histogram:
    sizes = np.array(sorted(counts), np.uint64)
    return Histogram(sizes, np.array([counts[int(size)] for size in sizes], np.uint64))


def test_requests_of_0_count_as_requests_of_1() -> None:
    assert special_sizes(histogram({0: 500, 1: 500, 40: 1000})) == (1, 40)
    assert special_sizes(histogram({0: 60, 1: 60, 40: 1000})) == (1, 40)
    plan = special_pools_plan("class_pools", events([0, 1, 40]), pool_sizes((1, 40), 40), 8)
    assert [pool.size for pool in plan.pools] == [1, 40]


def paper_mix() -> Histogram:
    """43 % of 40 B, 26 % of 1500 B, the rest over many sizes of 0.02 % each."""
    rest = dict.fromkeys(range(41, 1500), 2)
    return histogram({40: 4300, 1500: 2600, **rest})


def events(sizes: list[int]) -> _engine.EventArray:
    """All of these allocated, then all freed in order."""
    count = len(sizes)
    array = _engine.EventArray()
    array.append(
        np.repeat(np.array([0, 4], np.uint8), count),
        np.tile(np.arange(count, dtype=np.uint32), 2),
        np.array(sizes + count * [0], np.uint64),
        None,
    )
    return array


def counts_of(sizes: list[int], pools: list[tuple[int, bool]]) -> dict[int, int]:
    plan = special_pools_plan("class_pools", events(sizes), pools, 8)
    return {pool.size: pool.count for pool in plan.pools}


def test_the_papers_mix_gives_the_papers_seven_pools() -> None:
    special = special_sizes(paper_mix())
    assert special == (40, 1500)
    assert pool_sizes(special, 1500) == PAPER


@pytest.mark.parametrize(
    ("counts", "special"),
    [
        ({40: 10, 50: 9, 60: 81}, (40, 60)),
        (dict.fromkeys(range(10, 110, 10), 7), tuple(range(10, 110, 10))),
        (dict.fromkeys(range(1, 100), 1), ()),
    ],
)
def test_a_size_of_ten_percent_or_more_is_special(counts, special) -> None:
    assert special_sizes(histogram(counts)) == special


@pytest.mark.parametrize(
    ("request_size", "pool"), [(1000, 1024), (1200, 1500), (39, 64), (40, 40), (41, 64), (1, 64)]
)
def test_a_request_is_counted_in_the_papers_pool(request_size: int, pool: int) -> None:
    assert counts_of([request_size], PAPER) == {pool: 1}


@pytest.mark.parametrize(
    ("special", "largest", "count", "last"),
    [
        ((40,), 1025, 7, (2048, False)),
        ((40,), 1024, 6, (1024, False)),
        ((), 5, 1, (64, False)),
        ((64, 200), 200, 3, (200, True)),  # a power of two that is special shares its pool
        ((24, 40), 1 << 40, 16, (64 << 13, False)),
    ],
)
def test_powers_run_to_the_first_that_is_not_below_the_maximum(special, largest, count, last):
    sizes = pool_sizes(special, largest)
    assert (len(sizes), sizes[-1]) == (count, last)


def test_what_is_too_large_for_sixteen_pools_is_shared() -> None:
    sizes = pool_sizes((24, 40), 1 << 30)
    plan = special_pools_plan("class_pools", events([24, 1 << 20]), sizes, 8)
    assert [pool.size for pool in plan.pools] == [24]
    assert plan.shared is not None
    assert plan.shared.allocator == "tlsf"


def test_counts_are_the_most_blocks_live_at_once() -> None:
    assert counts_of([40, 40, 39, 1200, 1500, 40], PAPER) == {40: 3, 64: 1, 1500: 2}


# ---- every size set aside for its own worst case


def test_each_size_has_a_pool_of_its_worst_case_and_no_search_is_needed(tmp_path) -> None:
    spec = parse_workload("t2_w4:limit=3,events=2000")
    loaded = load_trace(generate_workload(spec, tmp_path / "w"), alignment=8)
    plan = worst_case_plan(ALLOCATOR, loaded)
    # 1978 B are rounded up to a multiple of 8.
    assert plan.pools == tuple(Pool(size, 3, True) for size in (528, 1040, 1984, 2952))
    (row,) = compare(
        loaded, Portfolio((Candidate("static", Heap("static", plan), "", True),), ())
    ).rows
    assert row.step == 0
    assert row.r_safe is not None
    assert 3 * (528 + 1040 + 1984 + 2952) <= row.r_safe <= 3 * (528 + 1040 + 1984 + 2952) + 128


def test_sizes_that_need_equal_blocks_are_one_class(tmp_path) -> None:
    spec = parse_workload("t2_w4:size_1=521,size_2=528,size_3=527,size_4=1,events=500")
    loaded = load_trace(generate_workload(spec, tmp_path / "w"), alignment=8)
    assert block_sizes(loaded.profile, 8) == [8, 528]
    assert block_sizes(loaded.profile, 4) == [4, 524, 528]
    plan = worst_case_plan(ALLOCATOR, loaded)
    peaks = _engine.pool_peaks(loaded.events, [(528, True)], 8, ALLOCATOR)
    assert [pool.count for pool in plan.pools if pool.size == 528] == list(peaks.counts)


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        (range(8, 2048 + 1, 8), None),
        (range(8, 2056 + 1, 8), "257 sizes up to 2,056 B are too many, or too large, for pools"),
        ((8, 2**31 - 64), None),
        ((8, 2**31 - 56), "2 sizes up to 2,147,483,592 B are too many, or too large, for pools"),
    ],
)
def test_pools_of_each_size_end_at_256_of_them_and_below_2_gib(tmp_path, sizes, told) -> None:
    lines = [f"a {number} {size}" for number, size in enumerate(sizes)]
    loaded = load_lines(tmp_path / "run.heap", lines)
    if told is None:
        assert len(worst_case_plan(ALLOCATOR, loaded).pools) == len(sizes)
    else:
        with pytest.raises(HeapfitError, match=f"^{told}$"):
            worst_case_plan(ALLOCATOR, loaded)


# ---- Lee and Yi's budgets

ALLOC, FREE = 0, 4


def test_a_plan_keeps_no_empty_budget() -> None:
    # 64 bytes are live only after the peak of 1000 + 128, which a bucket of 64 would raise.
    events = event_array([(ALLOC, 0, 1000), (ALLOC, 1, 128), (FREE, 0, 0), (ALLOC, 2, 64)])
    sizes = [64, 128]
    plan = plan_from_budgets(sizes, _engine.greedy_budgets(events, sizes, 8), 8)
    assert plan is not None
    assert [(pool.size, pool.count) for pool in plan.pools] == [(128, 1)]


def test_no_budget_means_no_plan() -> None:
    counts = _engine.greedy_budgets(event_array([(ALLOC, 0, 64)]), [128], 8)
    assert plan_from_budgets([128], counts, 8) is None


@pytest.mark.parametrize(
    ("weights", "alignment", "count", "chosen"),
    [
        ({33: 2, 37: 2, 40: 2, 64: 5}, 8, 1, [40]),  # sizes of one class are weighed together
        ({33: 2, 37: 2, 40: 2, 64: 5}, 8, 4, [40, 64]),
        ({33: 2, 37: 2, 40: 2, 64: 5}, 4, 1, [64]),
        ({8: 1, 16: 1, 24: 1}, 8, 2, [8, 16]),
        ({8: 0, 16: 1}, 8, 2, [16]),
    ],
)
def test_the_classes_with_most_weight_are_chosen_of_equal_ones_the_smaller(
    weights, alignment, count, chosen
) -> None:
    sizes, heavy = (np.array([*one], np.uint64) for one in (weights, weights.values()))
    assert classes_with_most(sizes, heavy, alignment, count) == chosen


@pytest.mark.parametrize("event", [0, 41, 149])
def test_what_is_live_at_an_event_is_what_was_asked_for_last(event: int) -> None:
    events = random_calls(99, 150, [13, 16, 24, 37, 40, 64, 104, 200])
    sizes, counts = live_sizes_at(event_array(events), event)
    live: dict[int, int] = {}
    for _, object_number, size in events[: event + 1]:
        live[object_number] = size
    expected = [size for size in live.values() if size > 0]
    assert dict(zip(sizes.tolist(), counts.tolist(), strict=True)) == {
        size: expected.count(size) for size in sorted(set(expected))
    }
