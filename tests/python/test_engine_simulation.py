# SPDX-License-Identifier: Apache-2.0
"""What crosses between Python and the engine's simulation: laws, arrays, counts and errors."""

from collections.abc import Callable

import numpy as np
import pytest

from heapfit import _engine
from heapfit.errors import HeapfitError

MS = 1_000_000  # ns
SECOND = 1000 * MS
POOL = _engine.Plan("fixed_pool", {"block_size": 2048, "blocks": 10})
REGION = 24_000

ARRIVALS = [
    _engine.Poisson(mean_ns=MS),
    _engine.Periodic(interval_ns=MS),
    _engine.OnOff(on_mean_ns=SECOND, off_mean_ns=SECOND, interval_mean_ns=MS),
    _engine.MarkovModulated(
        interval_mean_ns=[MS, 0], stay_mean_ns=[SECOND, SECOND], weights=[[0, 1], [0.5, 0.5]]
    ),
]
SIZES = [
    _engine.UniformSize(least=80, most=2000),
    _engine.ExponentialSize(least=80, most=2000),
    _engine.BimodalSize(ack_size=40, ack_percent=43, mtu_size=1500, mtu_percent=26),
    _engine.EmpiricalSize(size=np.array([8, 9], "u8"), weight=np.array([0.5, 2])),
    _engine.ListedSizes(size=np.array([8, 9], "u8")),
]
HOLDINGS = [
    _engine.ExponentialHolding(mean_ns=20 * MS),
    _engine.FixedHolding(ns=20 * MS),
    _engine.UniformHolding(least_ns=10 * MS, most_ns=30 * MS),
    _engine.LognormalHolding(mean_ns=20 * MS, sigma=1.5),
    _engine.FifoService(bytes_per_second=1e6),
    _engine.FifoService(packets_per_second=900),
    _engine.EmpiricalHolding(ns=np.array([MS, 20 * MS], "u8"), weight=np.array([1.0, 3.0])),
]


def recorded(holding_ns: list[int] | None = None) -> _engine.RecordedArrivals:
    return _engine.RecordedArrivals(
        time_ns=np.array([0, 5, 6], "u8"),
        size=np.array([100, 200, 300], "u8"),
        holding_ns=None if holding_ns is None else np.array(holding_ns, "u8"),
    )


@pytest.mark.parametrize("arrivals", ARRIVALS)
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("holding", HOLDINGS)
def test_every_law_goes_with_every_other(arrivals, sizes, holding) -> None:
    traffic = _engine.Traffic(arrivals=arrivals, sizes=sizes, holding=holding)
    simulation = _engine.Simulation(POOL, REGION, traffic, seed=1)
    assert simulation.run(1000) == 1000
    counts = simulation.counts()
    assert (counts.requests, counts.time_ns > 0) == (1000, True)
    assert 0 < counts.admitted <= 1000


def test_counts_and_histograms_come_as_numbers_and_arrays() -> None:
    traffic = _engine.Traffic(arrivals=ARRIVALS[0], sizes=SIZES[0], holding=HOLDINGS[0])
    simulation = _engine.Simulation(POOL, REGION, traffic, 7)
    simulation.run(500)
    simulation.reset_counts()
    simulation.run(2000)
    counts = simulation.counts()
    bounds, offered = counts.offered_by_size
    same, refused = counts.refused_by_size
    assert bounds.tolist() == same.tolist() == sorted(bounds)
    assert (len(bounds), offered.sum()) == (64, 2000)
    assert refused.sum() == 2000 - counts.admitted > 0
    assert counts.live_byte_ns < counts.used_byte_ns <= 20480 * counts.time_ns
    assert simulation.live_blocks <= counts.block_peak == 10
    assert simulation.live <= counts.live_peak


def test_a_recording_ends_and_holds_what_was_never_freed() -> None:
    traffic = _engine.Traffic(
        arrivals=recorded([1, _engine.HELD_FOREVER, 1]),
        sizes=None,
        holding=_engine.RecordedHolding(),
    )
    simulation = _engine.Simulation(POOL, REGION, traffic, 1)
    assert simulation.run(10) == 3
    assert (simulation.live_blocks, simulation.live) == (2, 500)


def test_a_simulation_outlives_what_it_was_made_from() -> None:
    traffic = _engine.Traffic(arrivals=recorded(), sizes=None, holding=_engine.FixedHolding(ns=1))
    plan = _engine.Plan("tlsf")
    simulation = _engine.Simulation(plan, REGION, traffic, 1)
    del plan, traffic
    assert simulation.run(3) == 3
    assert simulation.counts().admitted == 3


def test_the_bare_loop_serves_as_many_as_the_pool() -> None:
    traffic = _engine.Traffic(arrivals=ARRIVALS[0], sizes=SIZES[0], holding=HOLDINGS[0])
    simulation = _engine.Simulation(POOL, REGION, traffic, 3)
    simulation.run(5000)
    assert _engine.simulate_without_heap(traffic, 3, 5000, 10) == simulation.counts().admitted


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: _engine.Poisson(mean_ns=0), "Poisson: mean_ns: "),
        (
            lambda: _engine.MarkovModulated(
                interval_mean_ns=[1], stay_mean_ns=[1, 2], weights=[[1]]
            ),
            "MarkovModulated: stay_mean_ns: ",
        ),
        (
            lambda: _engine.EmpiricalSize(size=np.array([], "u8"), weight=np.array([], "f8")),
            "EmpiricalSize: weight: ",
        ),
        (_engine.FifoService, "FifoService: give "),
        (
            lambda: _engine.FifoService(bytes_per_second=1, packets_per_second=1),
            "FifoService: give ",
        ),
        (
            lambda: _engine.Traffic(arrivals=ARRIVALS[0], sizes=None, holding=HOLDINGS[0]),
            "Traffic: sizes: ",
        ),
        (
            lambda: _engine.Simulation(
                POOL,
                100,
                _engine.Traffic(arrivals=recorded(), sizes=None, holding=HOLDINGS[0]),
                1,
            ),
            "region: 100 bytes ",
        ),
    ],
)
def test_bad_laws_are_one_line(make: Callable[[], object], told: str) -> None:
    with pytest.raises(HeapfitError) as error:
        make()
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)
