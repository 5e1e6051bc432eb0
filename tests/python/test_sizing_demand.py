# SPDX-License-Identifier: Apache-2.0
"""Demand on pools, against a model that follows every block by itself."""

import random

import numpy as np
import pytest

from heapfit.sizing.demand import BLOCKS, measure_demand, measure_demands, smallest_that_fits
from heapfit.trace.stored import TraceInfo, write_trace

ALLOC, RESIZE, FREE = 0, 3, 4


def trace_of(path, events, kind="heap"):
    """(op, object, size, time) as a stored trace."""
    columns = dict(zip(("op", "object", "size", "time"), np.array(events).T, strict=True))
    return write_trace(path, [columns], TraceInfo(program="made", pointer_bits=32, kind=kind))


def random_events(seed, count=3000):
    """Allocations, resizes (to 0 too) and frees of a few sizes; a size of 0 occurs."""
    draw = random.Random(seed)
    live, events, born, time = [], [], 0, 0
    for _ in range(count):
        time += draw.randrange(0, 50)
        kind = draw.random()
        if not live or kind < 0.45:
            events.append((ALLOC, born, draw.choice([0, 40, 41, 64, 100, 1500]), time))
            live.append(born)
            born += 1
        elif kind < 0.6:
            events.append((RESIZE, draw.choice(live), draw.choice([40, 64, 1500]), time))
        else:
            events.append((FREE, live.pop(draw.randrange(len(live))), 0, time))
    return events


def model(events, pools, assign):
    """Needs in order, and microseconds by live units, of each pool: one event after the other."""
    where, live = {}, [0] * pools
    needs, times = [[] for _ in range(pools)], [{} for _ in range(pools)]
    last = 0
    for op, name, size, time in events:
        for pool in range(pools):
            times[pool][live[pool]] = times[pool].get(live[pool], 0) + time - last
        last = time
        if name in where:
            pool, units = where.pop(name)
            live[pool] -= units
        if op == FREE:
            continue
        (pool,), (units,) = assign(np.array([max(size, 1)]))
        live[pool] += int(units)
        needs[pool].append(live[pool])
        where[name] = (pool, int(units))
    return needs, times


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_demand_is_what_following_every_block_tells(tmp_path, seed):
    pools = [(40, True), (64, False), (128, False), (1500, True)]
    events = random_events(seed)
    assign = smallest_that_fits(pools)
    demands = measure_demand(trace_of(tmp_path / "t", events), len(pools), assign)
    needs, times = model(events, len(pools), assign)
    for demand, expected, time in zip(demands, needs, times, strict=True):
        assert (
            demand.needs.sum(axis=0).tolist()
            == np.bincount(expected, minlength=demand.needs.shape[1]).tolist()
        )
        counted = {units: us for units, us in enumerate(demand.time_us.tolist()) if us}
        assert counted == {units: us for units, us in time.items() if us}
        assert demand.peak == max(expected)
        assert demand.share_above(3) == sum(need > 3 for need in expected) / len(expected)


def test_a_chain_takes_as_many_units_as_hold_it(tmp_path):
    events = random_events(7)

    def assign(sizes):
        return np.zeros(len(sizes), dtype=np.int64), 1 + sizes // 100

    (demand,) = measure_demand(trace_of(tmp_path / "t", events), 1, assign)
    (needs,), _ = model(events, 1, assign)
    assert demand.peak == max(needs) > 100
    assert demand.requests == len(needs)


def test_stretches_are_equal_in_events_and_cover_the_trace(tmp_path):
    events = [(ALLOC, i, 40, i) for i in range(100)]
    (demand,) = measure_demand(
        trace_of(tmp_path / "t", events), 1, smallest_that_fits([(64, False)])
    )
    assert demand.needs.sum(axis=1).tolist() == [100 // BLOCKS] * BLOCKS
    assert demand.shares_above(50).tolist() == [0.0] * 10 + [1.0] * 10


def test_demand_does_not_depend_on_where_a_batch_ends(tmp_path, limit):
    events = random_events(4)
    trace = trace_of(tmp_path / "t", events)
    assign = smallest_that_fits([(2000, False)])
    (whole,) = measure_demand(trace, 1, assign)
    limit(BATCH=37)
    (cut,) = measure_demand(trace, 1, assign)
    assert cut.needs.tolist() == whole.needs.tolist()
    assert cut.time_us.tolist() == whole.time_us.tolist()
    assert cut.mean_live == whole.mean_live


@pytest.mark.parametrize(
    ("size", "pool"),
    [(40, 0), (39, 1), (41, 1), (64, 1), (65, 2), (1500, 3), (1200, 3), (1501, -1)],
)
def test_exact_pools_come_first_then_the_smallest_that_fits(size, pool):
    assign = smallest_that_fits([(40, True), (64, False), (128, False), (1500, True)])
    assert assign(np.array([size]))[0].tolist() == [pool]


def test_the_mean_of_recordings_counts_each_request_once(tmp_path):
    few = [(ALLOC, 0, 8, 0), (ALLOC, 1, 8, 1)]  # finds 0, then 1 live
    many = [(ALLOC, name, 8, name) for name in range(6)]
    traces = [trace_of(tmp_path / f"{len(one)}.parquet", one) for one in (few, many)]
    (found,) = measure_demands(
        traces, 1, lambda size: (np.zeros(len(size), int), np.ones(len(size), int))
    )
    assert (found.requests, found.recordings) == (8, 2)
    assert found.mean_live == pytest.approx((2 * 0.5 + 6 * 2.5) / 8)
