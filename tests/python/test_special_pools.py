# SPDX-License-Identifier: Apache-2.0
"""Mamagkakis et al., section 4, as statements."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.design.pools.special_pools import pool_sizes, special_pools_plan, special_sizes

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


def test_a_size_of_exactly_ten_percent_is_special() -> None:
    assert special_sizes(histogram({40: 10, 50: 9, 60: 81})) == (40, 60)


def test_ten_equal_sizes_are_all_special() -> None:
    assert len(special_sizes(histogram(dict.fromkeys(range(10, 110, 10), 7)))) == 10


def test_a_histogram_without_a_mode_has_no_special_size() -> None:
    assert special_sizes(histogram(dict.fromkeys(range(1, 100), 1))) == ()


def test_a_special_request_of_nothing_is_one_byte() -> None:
    assert special_sizes(histogram({0: 5, 100: 5})) == (1, 100)


def test_no_allocations_make_nothing_special() -> None:
    assert special_sizes(histogram({40: 0})) == ()


@pytest.mark.parametrize(
    ("request_size", "pool"), [(1000, 1024), (1200, 1500), (39, 64), (40, 40), (41, 64), (1, 64)]
)
def test_a_request_is_counted_in_the_papers_pool(request_size: int, pool: int) -> None:
    assert counts_of([request_size], PAPER) == {pool: 1}


def test_powers_run_to_the_first_that_is_not_below_the_maximum() -> None:
    assert pool_sizes((40,), 1025)[-1] == (2048, False)
    assert pool_sizes((40,), 1024)[-1] == (1024, False)
    assert pool_sizes((), 5) == [(64, False)]


def test_a_special_power_of_two_shares_its_pool() -> None:
    assert pool_sizes((64, 200), 200) == [(64, False), (128, False), (200, True)]


def test_there_are_at_most_sixteen_pools() -> None:
    sizes = pool_sizes((24, 40), 1 << 40)
    assert len(sizes) == 16
    assert sizes[-1] == (64 << 13, False)


def test_what_is_too_large_for_sixteen_pools_is_shared() -> None:
    sizes = pool_sizes((24, 40), 1 << 30)
    plan = special_pools_plan("class_pools", events([24, 1 << 20]), sizes, 8)
    assert [pool.size for pool in plan.pools] == [24]
    assert plan.shared is not None
    assert plan.shared.allocator == "tlsf"


def test_a_plan_whose_pools_serve_all_has_no_shared_allocator() -> None:
    assert special_pools_plan("class_pools", events([40, 1500]), PAPER, 8).shared is None


def test_counts_are_the_most_blocks_live_at_once() -> None:
    assert counts_of([40, 40, 39, 1200, 1500, 40], PAPER) == {40: 3, 64: 1, 1500: 2}
