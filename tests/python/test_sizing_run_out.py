# SPDX-License-Identifier: Apache-2.0
"""Counts of pools from a trace, against the law that the trace was drawn from."""

import math

import numpy as np
import pytest

from heapfit import _engine
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.trial import replay_trace
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan
from heapfit.progress import ignore_progress
from heapfit.sizing.demand import Demand, measure_demand, smallest_that_fits
from heapfit.sizing.run_out import (
    extrapolate_count,
    interval,
    least_count,
    looks,
    rarest_shown,
    run_out,
)
from heapfit.sizing.separate_pools import size_separately
from heapfit.sizing.systems.heap_settings import size_heap
from heapfit.trace.loaded import load_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

POISSON = "poisson_500:rate=20,holding_us=500000,events={}"  # 10 live on average


def poisson_tail(mean: float, least: int) -> float:
    """The chance of `least` or more."""
    return 1 - sum(math.exp(-mean) * mean**k / math.factorial(k) for k in range(least))


@pytest.fixture(scope="module")
def poisson(tmp_path_factory):
    path = tmp_path_factory.mktemp("poisson") / "trace"
    return generate_workload(parse_workload(POISSON.format(400_000)), path)


@pytest.fixture(scope="module")
def demand(poisson):
    (found,) = measure_demand(poisson, 1, smallest_that_fits([(2000, False)]))
    return found


@pytest.mark.parametrize("count", [8, 12, 16, 18])
def test_shares_are_those_of_the_law(demand, count):
    expected = poisson_tail(10, count)
    found = run_out(demand, count)
    assert found.share == pytest.approx(expected, rel=0.12)
    assert found.time_share == pytest.approx(expected, rel=0.12)
    refused = _engine.erlang_b(count, 10)  # where a full pool refuses
    assert found.independent == pytest.approx(refused, rel=0.12)
    assert found.in_bursts == pytest.approx(refused, rel=0.25)


def test_requests_of_three_units_are_as_many_of_a_third_of_the_pool():
    needs = np.array([[0, 0, 0, 1, 0, 0, 1]])  # two requests of three units, live at once
    demand = Demand(needs, needs[0], 0.5)
    assert demand.spread == (1.5, 1.5**2)
    assert run_out(demand, 3).independent == pytest.approx(_engine.erlang_b(1, 0.5))


def test_above_it_is_no_narrower_than_as_many_independent_looks_allow():
    """Of 100 seen in 10,000: 103, and twice the root of 100."""
    lowest, highest = interval(0.01, np.array([0.01, 0.01, 0.01]), 0.0003)
    assert (lowest, highest) == (0.01, pytest.approx(0.01 + 0.0003 + 2 * 0.001))


def test_stretches_that_differ_make_it_as_wide_above_as_below():
    lowest, highest = interval(0.5, np.array([0.4, 0.5, 0.5, 0.6]), 1e-9)
    assert 0.5 - lowest == pytest.approx(highest - 0.5)
    assert 0.1 < highest - 0.5 < 0.15  # 3.18 * 0.0816 / 2


BURSTS = "campus"  # a queue that stays full for long after a burst


@pytest.mark.parametrize(
    ("workload", "pool", "counts"),
    [
        (POISSON.format(40_000), 2000, (10, 13, 16, 20)),
        (BURSTS, 1500, (40, 60, 80, 100)),
    ],
)
def test_intervals_hold_the_true_share_in_95_of_100_traces(tmp_path, workload, pool, counts):
    demands = []
    for seed in range(40):
        trace = generate_workload(parse_workload(workload, seed), tmp_path / f"{seed}")
        demands += measure_demand(trace, 1, smallest_that_fits([(pool, False)]))
    for count in counts:
        true = sum(demand.share_above(count) for demand in demands) / len(demands)
        found = [run_out(demand, count) for demand in demands]
        assert true > 0
        assert sum(one.lowest <= true <= one.highest for one in found) >= 36


def test_bursts_leave_fewer_looks_than_blocks_turn_over(tmp_path):
    trace = generate_workload(parse_workload(BURSTS), tmp_path / "t")
    (demand,) = measure_demand(trace, 1, smallest_that_fits([(1500, False)]))
    assert looks(demand) < demand.requests / (2 * demand.mean_live) / 2


def test_looks_follow_from_littles_law(demand):
    assert demand.mean_live == pytest.approx(10, rel=0.02)
    assert looks(demand) == pytest.approx(200_000 / 20, rel=0.4)  # variances of 20 stretches
    assert looks(demand) <= demand.requests / (2 * demand.mean_live)
    assert rarest_shown(demand) == 3 / looks(demand)


@pytest.mark.parametrize("refused", [0.1, 0.01, 0.001])
def test_the_least_count_is_that_of_the_law(demand, refused):
    exact = next(n for n in range(100) if poisson_tail(10, n) <= refused)
    found = least_count(demand, 1 - refused)
    assert abs(found.count - exact) <= 1
    assert found.share <= refused < demand.share_above(found.count - 1)
    assert not found.is_beyond


def test_what_is_too_rare_for_the_trace_is_extrapolated_and_told(demand):
    found = least_count(demand, 1 - 1e-6)
    exact = next(n for n in range(100) if poisson_tail(10, n) <= 1e-6)
    assert found.is_beyond
    assert found.share == pytest.approx(1e-6)
    assert exact <= found.count <= exact + 8  # a Poisson tail falls faster than it is continued
    assert found.highest == rarest_shown(demand) > 1e-4
    assert extrapolate_count(demand, 1e-9) > found.count


def test_a_limit_of_the_program_is_not_extrapolated(tmp_path):
    trace = generate_workload(parse_workload("t2_w4"), tmp_path / "t")  # at most 10 of each size
    for pool in size_separately(trace, 1 - 1e-6).pools:
        assert pool.run_out.is_beyond
        assert pool.run_out.count == 10


def test_a_pool_of_the_count_refuses_no_larger_a_share(poisson, demand):
    for count in (9, 12, 15):
        plan = Plan("fixed_pool", {"block_size": 2000, "blocks": count})
        result = replay_trace(poisson, plan, plan.engine().smallest_region, keep_going=True)
        refused = result.refusals / result.allocations
        assert refused <= demand.share_above(count)
        assert refused == pytest.approx(_erlang_b(count, 10), rel=0.1)


def _erlang_b(servers, offered):
    blocking = 1.0
    for n in range(1, servers + 1):
        blocking = offered * blocking / (n + offered * blocking)
    return blocking


def test_a_trace_with_few_looks_shows_little(tmp_path):
    trace = generate_workload(parse_workload("poisson_500:events=4000"), tmp_path / "t")
    (pool,) = size_separately(trace, 0.999, [2000]).pools
    assert pool.looks < 10
    assert pool.run_out.is_beyond
    assert pool.run_out.highest > 0.3
    assert pool.run_out.count >= pool.demand.peak


def test_pools_are_those_a_design_would_have(tmp_path):
    trace = generate_workload(parse_workload("campus:packets=20000"), tmp_path / "t")
    sizing = size_separately(trace, 0.99)
    assert [(pool.size, pool.is_exact) for pool in sizing.pools] == [
        *[(40, True), (64, False), (128, False), (256, False)],
        *[(512, False), (1024, False), (1500, True)],
    ]
    assert sum(pool.demand.requests for pool in sizing.pools) == 20_000
    assert sizing.memory == sum(pool.size * pool.run_out.count for pool in sizing.pools)
    memory = [one.memory for one in sizing.curve()]
    assert memory == sorted(memory)
    assert [one.is_beyond for one in sizing.curve()][-1]


@pytest.mark.parametrize("admission", [0.0, 1.0, -0.5, 2.0, math.nan, math.inf])
def test_an_admission_that_is_no_share_is_refused(poisson, admission):
    with pytest.raises(HeapfitError, match=r"admission: .* must be above 0 and below 1"):
        size_separately(poisson, admission)


def test_pools_that_do_not_hold_the_largest_request_are_refused(poisson):
    with pytest.raises(HeapfitError, match=r"asks for 2,000 bytes, above the largest pool of 512"):
        size_separately(poisson, 0.99, [64, 512])
    with pytest.raises(HeapfitError, match="pools: sizes must be 1 to"):
        size_separately(poisson, 0.99, [0, 5000])


def test_sizes_that_live_elsewhere_are_left_out_of_the_heap(tmp_path):
    trace = generate_workload(parse_workload("t2_w4:events=20000"), tmp_path / "t")
    loaded, heap = load_trace(trace), find_heap("best_fit", 8)

    def needed(*elsewhere: int) -> int:
        return size_heap(heap, [loaded], elsewhere, ignore_progress)[1].size.r_safe

    assert 15_000 < needed(2952, 1978) < 20_000 < needed()  # 10 x (1040 + 528) at most
    with pytest.raises(HeapfitError, match="no request is left for the heap"):
        needed(2952, 1978, 1040, 528)
