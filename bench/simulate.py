# SPDX-License-Identifier: Apache-2.0
"""How fast the engine simulates, as ratios to its bare event loop in the same run.

    python bench/simulate.py               ratios, on one core, and the time of a curve
    python bench/simulate.py --resident    resident memory while the number of requests grows

The bare loop draws the same requests and keeps the same times, but has no heap: it serves what
arrives while as few are live as the heap held at most. The traffic is that of Elsayed and Galal,
figure 5: 80 to 2,000 bytes alike, held for a second on average, seven rates. All figures of a run
are taken in turns, the best of each kept, in processor time: others on the machine matter less.
This is no test: nothing fails.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from heapfit import _engine

TURNS = 5
REQUESTS = 200_000
WARM_UP = 5_000
INTERVALS_NS = [500_000 * step for step in range(1, 8)]
MEAN_HOLDING_NS = 1_000_000_000
HALF_WIDTH = 0.01  # of the admission, 95 %
REPLICATION = 10_000  # requests
STUDENT = 2.26  # 95 %, ten replications; less for more
MILLION = 1_000_000
MICRO = 1e-6
CALLS = 1_000  # of a closed form, timed together


@dataclass(frozen=True)
class Scheme:
    """A heap of 272 buffers of 2 KiB, or of partitions in about as much memory."""

    name: str
    plan: _engine.Plan
    aim: int | None  # at most this many times the bare loop's time

    def simulation(self, traffic: _engine.Traffic, seed: int) -> _engine.Simulation:
        return _engine.Simulation(self.plan, max(self.plan.smallest_region, 557_056), traffic, seed)


def partitions(allocator: str, size: int, count: int, **more: int) -> _engine.Plan:
    return _engine.Plan(allocator, {"partition_size": size, "partitions": count, **more})


SCHEMES = [
    Scheme("fixed_pool, 272 x 2048", _engine.Plan("fixed_pool", {"blocks": 272}), 2),
    Scheme("chained_pool, 1024 x 512", partitions("chained_pool", 512, 1024), 2),
    Scheme("contiguous, bits, 1024 x 512", partitions("partition_pool", 512, 1024, metadata=1), 5),
    Scheme("contiguous, list, 1024 x 512", partitions("partition_pool", 512, 1024), None),
    Scheme("contiguous, bits, 8192 x 64", partitions("partition_pool", 64, 8192, metadata=1), None),
    Scheme("tlsf", _engine.Plan("tlsf"), None),
]


def traffic_of(interval_ns: int) -> _engine.Traffic:
    return _engine.Traffic(
        arrivals=_engine.Poisson(mean_ns=interval_ns),
        sizes=_engine.UniformSize(least=80, most=2000),
        holding=_engine.ExponentialHolding(mean_ns=MEAN_HOLDING_NS),
    )


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


@dataclass(frozen=True)
class Speed:
    simulated: float  # seconds of REQUESTS
    bare: float


def speed_of(scheme: Scheme, traffic: _engine.Traffic) -> Speed:
    """The best of some turns of both."""
    simulation = scheme.simulation(traffic, seed=1)
    simulation.run(WARM_UP)
    simulated, bare = [], []
    for _ in range(TURNS):
        simulation.reset_counts()
        simulated.append(seconds(lambda: simulation.run(REQUESTS)))
        most = simulation.counts().block_peak
        bare.append(
            seconds(lambda: _engine.simulate_without_heap(traffic, 1, REQUESTS, most))  # noqa: B023
        )
    return Speed(min(simulated), min(bare))


def ratios() -> None:
    """A line a scheme: its speed, and its time over the bare loop's at the best and worst rate."""
    for scheme in SCHEMES:
        speeds = [speed_of(scheme, traffic_of(interval)) for interval in INTERVALS_NS]
        times = [speed.simulated / speed.bare for speed in speeds]
        rates = [REQUESTS / speed.simulated / MILLION for speed in speeds]
        aim = f"   aim 1/{scheme.aim}" if scheme.aim else ""
        print(
            f"{scheme.name:30} {min(rates):5.2f} to {max(rates):5.2f} M requests/s   "
            f"1/{min(times):.2f} to 1/{max(times):.2f}{aim}"
        )


def point(scheme: Scheme, interval_ns: int) -> int:
    """Replications until the half-width is small enough: how many it took."""
    admissions: list[float] = []
    while True:
        simulation = scheme.simulation(traffic_of(interval_ns), seed=len(admissions))
        simulation.run(WARM_UP)
        simulation.reset_counts()
        simulation.run(REPLICATION)
        counts = simulation.counts()
        admissions.append(counts.admitted_bytes / counts.requested_bytes)
        count = len(admissions)
        if count >= 10:
            half_width = STUDENT * statistics.stdev(admissions) / count**0.5
            if half_width <= HALF_WIDTH * statistics.mean(admissions):
                return count


def curves() -> None:
    for scheme in SCHEMES:
        started = time.process_time()
        replications = sum(point(scheme, interval) for interval in INTERVALS_NS)
        took = time.process_time() - started
        print(
            f"{scheme.name:30} 7 points to {HALF_WIDTH:.0%}: {took:.2f} s, {replications} "
            f"replications of {REPLICATION:,} requests"
        )


def closed_forms() -> None:
    """A point of figure 5 by Kaufman and Roberts, in time and in requests of the bare loop."""
    demand = np.array([1, 2, 3, 4], dtype=np.uint64)  # partitions of 512 B for 80 to 2,000 B
    share = np.array([433, 512, 512, 464]) / 1921  # of the sizes
    offered = share * MEAN_HOLDING_NS / INTERVALS_NS[3]
    traffic = traffic_of(INTERVALS_NS[3])
    exact, bare = [], []
    for _ in range(TURNS):
        exact.append(
            seconds(lambda: [_engine.kaufman_roberts(1024, demand, offered) for _ in range(CALLS)])
        )
        bare.append(seconds(lambda: _engine.simulate_without_heap(traffic, 1, REQUESTS, 1024)))
    point_s, request_s = min(exact) / CALLS, min(bare) / REQUESTS
    print(
        f"{'Kaufman-Roberts, 1024 units':30} {point_s / MICRO:.1f} us a point, as long as "
        f"{point_s / request_s:.0f} requests of the bare loop"
    )


def resident() -> None:
    for scheme in SCHEMES:
        simulation = scheme.simulation(traffic_of(2_000_000), seed=1)
        for millions in (1, 9, 40):
            simulation.run(millions * MILLION)
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MILLION
            print(f"{scheme.name:30} {millions:3} M requests more: resident at most {most:.1f} MB")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--resident", action="store_true")
    wish = arguments.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if wish.resident:
        resident()
    else:
        ratios()
        curves()
        closed_forms()


if __name__ == "__main__":
    main()
