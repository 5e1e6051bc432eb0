# SPDX-License-Identifier: Apache-2.0
"""Where closed forms apply, and that they are made of the right classes."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from heapfit import _engine
from heapfit.plan.plan import Plan, Pool
from heapfit.simulation.arrivals import Periodic, Poisson
from heapfit.simulation.closed_form import exact_metrics, unit_classes
from heapfit.simulation.holding import ExponentialHolding, FifoService, UniformHolding
from heapfit.simulation.scheme import Scheme
from heapfit.simulation.sizes import (
    BimodalSize,
    EmpiricalSize,
    ExponentialSize,
    ListedSizes,
    UniformSize,
)
from heapfit.simulation.traffic import Traffic

TRAFFIC = Traffic(Poisson(0.1), UniformSize(80, 2000), ExponentialHolding(1.0))


def scheme(allocator: str, **tunables: int) -> Scheme:
    plan = Plan(allocator, tunables)
    return Scheme("one", plan, max(plan.engine().smallest_region, 10_000))


FIXED = scheme("fixed_pool", block_size=2048, blocks=8)
CHAINED = scheme("chained_pool", partition_size=512, partitions=30)


def test_uniform_sizes_become_classes_of_exact_shares():
    """80 to 512, 513 to 1024, 1025 to 1536, 1537 to 2000."""
    classes = unit_classes(UniformSize(80, 2000), 512)
    assert classes.units.tolist() == [1, 2, 3, 4]
    counts = [433, 512, 512, 464]
    assert classes.share == pytest.approx([float(Fraction(n, 1921)) for n in counts], rel=1e-12)
    assert classes.mean_size == pytest.approx([296, 768.5, 1280.5, 1768.5], rel=1e-12)


@pytest.mark.parametrize(
    "sizes",
    [
        UniformSize(1, 7),
        ExponentialSize(8, 350),
        ExponentialSize(5, 5),
        BimodalSize(40, 43, 1500, 26),
        EmpiricalSize((9, 3, 9), (1.0, 2.0, 1.0)),
    ],
)
def test_a_distribution_is_what_the_engine_draws(sizes):
    values, shares = sizes.distribution()
    assert shares.sum() == pytest.approx(1)
    drawn = _engine.Simulation(
        FIXED.plan.engine(), FIXED.region, replace(TRAFFIC, sizes=sizes).engine(), 1
    )
    drawn.run(100_000)
    counts = drawn.counts()
    mean = float((values * shares).sum())
    assert counts.requested_bytes / counts.requests == pytest.approx(mean, rel=0.02)
    bounds, offered = counts.offered_by_size
    below = np.searchsorted(values, bounds, side="right")
    expected = np.append(0, np.cumsum(shares))[below]
    assert np.cumsum(offered) / counts.requests == pytest.approx(expected, abs=0.006)


def test_a_fixed_pool_is_refused_by_erlang_whatever_the_sizes():
    exact = exact_metrics(TRAFFIC, FIXED)
    admitted = 1 - _engine.erlang_b(8, 10.0)
    assert exact["bandwidth_admission"] == pytest.approx(admitted)
    assert exact["request_admission"] == pytest.approx(admitted)
    live = 10.0 * admitted * 1040
    assert exact["memory_utilisation"] == pytest.approx(live / FIXED.region)
    assert exact["pool_utilisation"] == pytest.approx(live / (8 * 2048))
    assert exact["internal_fragmentation"] == pytest.approx(10.0 * admitted * (2048 - 1040))


def test_requests_above_a_buffer_take_nothing_from_the_others():
    narrow = scheme("fixed_pool", block_size=1040, blocks=8)
    share = 961 / 1921
    exact = exact_metrics(TRAFFIC, narrow)
    admitted = share * (1 - _engine.erlang_b(8, 10.0 * share))
    assert exact["request_admission"] == pytest.approx(admitted)


def test_chained_partitions_are_refused_by_kaufman_and_roberts():
    classes = unit_classes(UniformSize(80, 2000), 512)
    refused = _engine.kaufman_roberts(30, classes.units, 10.0 * classes.share)
    exact = exact_metrics(TRAFFIC, CHAINED)
    assert exact["request_admission"] == pytest.approx(1 - (classes.share * refused).sum())
    assert exact["bandwidth_admission"] < exact["request_admission"]


def test_holding_times_of_the_same_mean_give_the_same():
    other = replace(TRAFFIC, holding=UniformHolding(0.5, 1.5))
    assert exact_metrics(other, CHAINED) == exact_metrics(TRAFFIC, CHAINED)


PACKETS = replace(TRAFFIC, sizes=BimodalSize(40, 43, 1500, 26))


def class_pools(**tunables: int) -> Scheme:
    """40 B and 1500 B exactly, the rest by the pools of 512, 1024 and 1536 B."""
    sizes = ((40, True), (512, False), (1024, False), (1500, True), (1536, False))
    pools = tuple(Pool(size, 4, is_exact) for size, is_exact in sizes)
    plan = Plan("class_pools", tunables, pools)
    return Scheme("one", plan, plan.engine().smallest_region)


def test_class_pools_that_refuse_are_an_erlang_system_each():
    exact = exact_metrics(PACKETS, class_pools(overflow=2))
    each = 0.31 / 1459  # of the sizes from 41 to 1499
    shares = [0.43, 472 * each, 512 * each, 0.26, 475 * each]
    admitted = sum(share * (1 - _engine.erlang_b(4, 10 * share)) for share in shares)
    assert exact["request_admission"] == pytest.approx(admitted)


def test_class_pools_simulated_agree_with_the_closed_form():
    scheme = class_pools(overflow=2)
    simulation = _engine.Simulation(scheme.plan.engine(), scheme.region, PACKETS.engine(), 1)
    simulation.run(1000)
    simulation.reset_counts()
    simulation.run(400_000)
    counts = simulation.counts()
    exact = exact_metrics(PACKETS, scheme)
    bytes_admitted = counts.admitted_bytes / counts.requested_bytes
    assert exact["bandwidth_admission"] == pytest.approx(bytes_admitted, abs=0.004)
    assert exact["request_admission"] == pytest.approx(counts.admitted / counts.requests, abs=0.004)
    used = (counts.used_byte_ns - counts.live_byte_ns) / counts.time_ns
    assert exact["internal_fragmentation"] == pytest.approx(used, rel=0.02)


@pytest.mark.parametrize(
    ("traffic", "one"),
    [
        (replace(TRAFFIC, arrivals=Periodic(0.1)), FIXED),
        (replace(TRAFFIC, holding=FifoService(1e6, None)), FIXED),
        (replace(TRAFFIC, sizes=ListedSizes((80, 90))), FIXED),
        (replace(TRAFFIC, sizes=UniformSize(1, 2**31)), CHAINED),
        (TRAFFIC, scheme("partition_pool", partition_size=512, partitions=30)),
        (TRAFFIC, scheme("tlsf")),
        (PACKETS, class_pools()),
    ],
)
def test_without_its_conditions_there_is_no_closed_form(traffic, one):
    assert exact_metrics(traffic, one) is None
