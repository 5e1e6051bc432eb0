# SPDX-License-Identifier: Apache-2.0
"""Pools are sized: demand, counts that run out, pools that help out, traffic, and as typed."""

import itertools
import math
import random
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from captures import between, ethernet, ipv4, pcap
from page_reader import Page
from small_traces import heapfit, heapfit_json, load_lines, random_calls, table2

from heapfit import _engine
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.trial import replay_trace
from heapfit.drawing.html import render
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan, Pool
from heapfit.progress import ignore_progress
from heapfit.results.sized_schemes import schemes_page
from heapfit.simulation.arrivals import periodic
from heapfit.simulation.arrivals import poisson as poisson_arrivals
from heapfit.simulation.closed_form import exact_metrics
from heapfit.simulation.holding import exponential, fifo
from heapfit.simulation.scheme import Scheme
from heapfit.simulation.sizes import BimodalSize, ListedSizes, UniformSize
from heapfit.simulation.statistics import Estimate
from heapfit.simulation.traffic import Traffic
from heapfit.sizing.demand import (
    Demand,
    measure_demand,
    measure_demands,
    smallest_that_fits,
)
from heapfit.sizing.families import families_for
from heapfit.sizing.from_traffic import Aim, SizedScheme, TrafficSizing, size_family, size_for
from heapfit.sizing.pool_replay import PoolReplay
from heapfit.sizing.pools import PoolOptions, size_pools
from heapfit.sizing.run_out import (
    Chance,
    extrapolate_count,
    least_count,
    looks,
    rarest_shown,
    run_out,
)
from heapfit.sizing.separate_pools import size_separately
from heapfit.sizing.systems.heap_settings import size_heap
from heapfit.sizing.unseen import Evidence
from heapfit.sweep import Sweep
from heapfit.trace.loaded import load_trace
from heapfit.trace.origin import WorkloadSpec
from heapfit.trace.stored import Trace, TraceInfo, write_trace
from heapfit.workloads.synthetic import generate_events, generate_workload, parse_workload, spec_of

ALLOC, RESIZE, FREE = 0, 3, 4


def trace_of(path, events, kind="heap"):
    """(op, object, size, time) as a stored trace."""
    columns = dict(zip(("op", "object", "size", "time"), np.array(events).T, strict=True))
    return write_trace(path, [columns], TraceInfo(program="made", pointer_bits=32, kind=kind))


def timed_calls(seed):
    """Calls of a few sizes with their times; some allocations ask for 0 bytes."""
    return [
        (op, name, 64 if (op, size) == (RESIZE, 0) else size, 75 * (i // 3))
        for i, (op, name, size) in enumerate(random_calls(seed, 3000, [0, 40, 41, 64, 100, 1500]))
    ]


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
    events = timed_calls(seed)
    assign = smallest_that_fits(pools)
    demands = measure_demand(trace_of(tmp_path / "t", events), len(pools), assign)
    needs, times = model(events, len(pools), assign)
    for demand, expected, time in zip(demands, needs, times, strict=True):
        assert (
            demand.needs.sum(axis=0).tolist()
            == np.bincount(expected, minlength=demand.needs.shape[1]).tolist()
        )
        assert demand.microseconds == sum(time.values())
        assert demand.offered == pytest.approx(
            sum(live * lasts for live, lasts in time.items()) / sum(time.values())
        )
        assert demand.peak == max(expected)
        assert demand.share_above(3) == sum(need > 3 for need in expected) / len(expected)


def test_a_chain_takes_as_many_units_as_hold_it(tmp_path):
    events = timed_calls(7)

    def assign(sizes):
        return np.zeros(len(sizes), dtype=np.int64), 1 + sizes // 100

    (demand,) = measure_demand(trace_of(tmp_path / "t", events), 1, assign)
    (needs,), _ = model(events, 1, assign)
    assert demand.peak == max(needs) > 100
    assert demand.requests == len(needs)


def test_demand_does_not_depend_on_where_a_batch_ends(tmp_path, limit):
    events = timed_calls(4)
    trace = trace_of(tmp_path / "t", events)
    assign = smallest_that_fits([(2000, False)])
    (whole,) = measure_demand(trace, 1, assign)
    limit(BATCH=37)
    (cut,) = measure_demand(trace, 1, assign)
    assert cut.needs.tolist() == whole.needs.tolist()
    assert cut.microseconds == whole.microseconds
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


def test_erlangs_load_is_the_mean_over_time_and_not_what_arrivals_find(tmp_path):
    """Pairs each ms, of 0.5 ms: 1 erlang, and arrivals find 0 and 1. B(3, 1) = 1/16, B(3, 0.5) =
    0.0127."""
    events = [
        (op, 2 * pair + one, 40, 1000 * pair + 500 * (op == FREE))
        for pair in range(1000)
        for op in (ALLOC, FREE)
        for one in (0, 1)
    ]
    trace = trace_of(tmp_path / "pairs.parquet", [*events, (ALLOC, 2000, 40, 1_000_000)])
    (pool,) = size_pools(trace, 0.5, PoolOptions([40])).pools
    demand = pool.alone.demand
    assert demand.mean_live == pytest.approx(0.5, rel=0.001)
    assert demand.offered == 1
    assert run_out(demand, 3).independent == pytest.approx(1 / 16)
    assert replace(pool, count=3).erlang_b == pytest.approx(1 / 16)


# ---- counts against the law

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
    refused = _engine.erlang_b(count, 10)  # where a full pool refuses
    assert found.independent == pytest.approx(refused, rel=0.12)
    assert found.in_bursts == pytest.approx(refused, rel=0.25)


def test_requests_of_three_units_are_as_many_of_a_third_of_the_pool():
    needs = np.array([[0, 0, 0, 1, 0, 0, 1]])  # two requests of three units, live at once
    demand = Demand(needs, 0, 0.5)
    assert demand.spread == (4.5, 1.5**2)
    assert demand.own_units == 3
    assert run_out(demand, 3).independent == pytest.approx(_engine.erlang_b(1, 0.5))


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


def test_an_interval_is_students_and_no_narrower_than_its_looks_allow():
    apart = Chance.of(0.2, np.array([0.19, 0.21]), 0.0)  # t 12.706, standard error 0.01
    assert (apart.lowest, apart.highest) == pytest.approx((0.072938, 0.327062), abs=1e-6)
    equal = Chance.of(0.2, np.array([0.2, 0.2]), 0.03)  # 3 events in 100 looks: 20 seen
    assert (equal.lowest, equal.highest) == pytest.approx((0.2, 0.319443), abs=1e-6)
    assert Chance.of(0.2, np.array([0.2]), 0.03) == Chance(0.2, 0.0, 1.0)


def test_looks_follow_from_littles_law(demand):
    assert demand.mean_live == pytest.approx(10, rel=0.02)
    assert looks(demand) == pytest.approx(200_000 / 20, rel=0.4)  # variances of 20 stretches
    assert looks(demand) <= demand.requests / (2 * demand.mean_live)
    assert rarest_shown(demand) == 3 / looks(demand)
    assert looks(replace(demand, mean_live=1e9)) == 1  # all of it is one look


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


def test_an_admission_of_1_is_all_that_is_recorded(poisson):
    assert all(one.run_out.count == one.demand.peak for one in size_separately(poisson, 1.0).pools)


@pytest.mark.parametrize("admission", [0.0, -0.5, 2.0, math.nan, math.inf])
def test_an_admission_that_is_no_share_is_refused(poisson, admission):
    with pytest.raises(HeapfitError, match=r"admission: .* must be above 0 and below 1"):
        size_separately(poisson, admission)


def test_pools_that_do_not_hold_the_largest_request_are_refused(poisson):
    with pytest.raises(HeapfitError, match=r"2,000 bytes, above .* of 512 .*partition_size=512"):
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


# ---- pools that help each other out

CAMPUS = "campus:packets=50000"


@pytest.fixture(scope="module")
def campus(tmp_path_factory):
    return generate_workload(parse_workload(CAMPUS), tmp_path_factory.mktemp("campus") / "trace")


@pytest.fixture(scope="module")
def sizing(campus):
    return size_pools(campus, 0.95)


@pytest.fixture(scope="module")
def recorded(campus, tmp_path_factory):
    """The same events without a word of where they are from."""
    path = tmp_path_factory.mktemp("recorded") / "trace"
    columns = ("op", "object", "size", "alignment", "time", "thread", "site")
    return write_trace(path, campus.batches(columns), TraceInfo(program="recorded"))


def _refused(trace, sizing):
    """By the allocator itself."""
    pools = tuple(Pool(pool.size, pool.count, pool.is_exact) for pool in sizing.pools)
    plan = Plan("class_pools", {"alignment": 4}, pools)
    return replay_trace(trace, plan, plan.engine().smallest_region, keep_going=True).refusals


def test_the_allocator_refuses_just_what_is_told(campus, sizing):
    requests = sum(pool.alone.demand.requests for pool in sizing.pools)
    assert _refused(campus, sizing) == round(sizing.refused * requests) > 0


def test_every_pool_admits_the_share_and_a_fifth_less_memory_does(sizing):
    assert all(pool.refused <= 0.05 for pool in sizing.pools)
    assert max(pool.refused for pool in sizing.pools) > 0.049
    assert sizing.memory < 0.85 * sizing.alone.memory
    assert sizing.memory == sum(pool.size * pool.count for pool in sizing.pools)


def test_pools_without_fall_back_have_the_least_counts_that_serve_the_trace(campus, sizing):
    replay = PoolReplay(campus.events(), sizing.alone.shapes)
    counts = np.array([pool.count_without_fall_back for pool in sizing.pools])
    refused = replay.run(counts, falls_back=False).sum(0)
    fewer = replay.run(np.maximum(counts - 1, 0), falls_back=False).sum(0)
    for place, count in enumerate(counts):
        assert refused.share(place) <= 0.05 and (count == 0 or fewer.share(place) > 0.05)
    assert all(one.count_without_fall_back <= one.alone.run_out.count for one in sizing.pools)


GROWTH = (("a", 64), ("r", 128), ("r", 256))


def test_a_pool_that_only_resizes_enter_is_sized(tmp_path):
    trace = load_lines(tmp_path / "run.heap", ["a 0 64", "r 0 128", "f 0"]).trace
    first, second = size_pools(trace, 0.9, PoolOptions(sizes=(64, 128))).pools
    assert (first.count, second.count) == (1, 1)
    assert (first.count_without_fall_back, second.count_without_fall_back) == (1, 1)


def test_counts_without_fall_back_serve_a_trace_whose_blocks_grow_through_the_pools(tmp_path):
    grown = [f"{verb} {block} {size}" for block in range(9) for verb, size in GROWTH]
    trace = load_lines(tmp_path / "run.heap", grown).trace
    sizing = size_pools(trace, 0.9, PoolOptions(sizes=(64, 128, 256)))
    counts = np.array([pool.count_without_fall_back for pool in sizing.pools])
    replay = PoolReplay(trace.events(), sizing.alone.shapes)
    assert replay.run(counts, falls_back=False).is_within(0.1)
    for place in range(3):
        fewer = counts - (np.arange(3) == place)
        assert not replay.run(fewer, falls_back=False).is_within(0.1)


def test_a_workload_is_judged_on_other_seeds_of_its_own(sizing):
    refused = requests = 0
    for seed in range(2, 10):
        replay = PoolReplay(generate_events(parse_workload(CAMPUS, seed)), sizing.alone.shapes)
        found = replay.run(np.array([pool.count for pool in sizing.pools])).sum(1)
        refused, requests = refused + found.refused.sum(), requests + found.requests.sum()
    chance = sizing.unseen.overall
    assert sizing.unseen.evidence is Evidence.SEEDS and sizing.unseen.draws == 8
    assert chance.share == refused / requests
    assert chance.lowest < chance.share < chance.highest


def test_intervals_hold_what_many_more_draws_refuse(campus):
    few, many = (size_pools(campus, 0.9, PoolOptions(draws=draws)).unseen for draws in (8, 100))
    assert few.overall.lowest <= many.overall.share <= few.overall.highest
    held = [
        one.lowest <= other.share <= one.highest
        for one, other in zip(few.pools, many.pools, strict=True)
    ]
    assert all(held)
    assert many.overall.highest - many.overall.lowest < few.overall.highest - few.overall.lowest


def test_a_recording_is_judged_by_the_other_half(recorded):
    sizing = size_pools(recorded, 0.9)
    assert sizing.unseen.evidence is Evidence.HALVES
    assert len(sizing.unseen.memory) == 2
    assert sizing.memory not in sizing.unseen.memory  # each half has counts of its own
    assert sizing.unseen.overall.share != sizing.refused


def test_a_recording_whose_second_half_is_another_is_found_out(tmp_path):
    """What 64 B do in the first half, 1,024 B do in the second."""
    count = 20_000
    objects = np.repeat(np.arange(count, dtype=np.uint32), 2)
    op = np.tile(np.array([0, 4], dtype=np.uint8), count)
    size = np.where(op == 0, np.where(objects < count // 2, 64, 1024), 0).astype(np.uint64)
    zero = np.zeros(2 * count)
    columns = {"op": op, "object": objects, "size": size, "alignment": zero.astype(np.uint8)}
    columns |= {"time": zero.astype(np.uint64), "thread": zero.astype(np.uint32)}
    columns |= {"site": zero.astype(np.uint32)}
    trace = write_trace(tmp_path / "t", iter([columns]), TraceInfo())
    sizing = size_pools(trace, 0.9, PoolOptions(sizes=[64, 1024]))
    assert sizing.refused == 0
    assert sizing.unseen.pools[1].share > 0.4  # none of 1,024 B had been asked for


@pytest.mark.parametrize("name", ["campus", "recorded"])
def test_workers_judge_the_same(name, request):
    trace, options = request.getfixturevalue(name), PoolOptions(draws=5)
    alone = size_pools(trace, 0.9, options)
    with Sweep(2) as sweep:
        assert size_pools(trace, 0.9, options, sweep=sweep).unseen == alone.unseen


@pytest.mark.parametrize("admission", [0.6, 0.8])
def test_counts_are_within_a_percent_of_the_best_of_all_combinations(tmp_path, admission):
    trace = generate_workload(parse_workload("campus:packets=3000"), tmp_path / "t")
    sizing = size_pools(trace, admission, PoolOptions([128, 700, 1500], 2))
    replay = PoolReplay(trace.events(), sizing.alone.shapes)
    peaks = [range(pool.demand.peak + 1) for pool in sizing.alone.pools]
    every = sorted(itertools.product(*peaks), key=lambda counts: _memory(sizing, counts))
    best = next(one for one in every if replay.run(np.array(one)).is_within(1 - admission))
    assert _memory(sizing, best) <= sizing.memory <= 1.01 * _memory(sizing, best)


def _memory(sizing, counts):
    return sizing.alone.bytes_of(np.array(counts))


@pytest.mark.parametrize("text", ["campus:packets=7,rate=99", "t2_w1:limit=3"])
def test_a_stored_workload_tells_how_it_was_drawn(tmp_path, text):
    trace = generate_workload(parse_workload(text, 5), tmp_path / "t")
    spec = spec_of(trace)
    again = generate_workload(spec, tmp_path / "again")
    assert spec.seed == 5
    assert again.info.source == trace.info.source
    assert again.events().sizes().tolist() == trace.events().sizes().tolist()
    assert spec_of(Trace.open(trace.path)) == spec


@pytest.mark.parametrize(
    "origin",
    [
        None,
        WorkloadSpec("none_such", 1),
        WorkloadSpec("campus", 1, {"packet": 5}),
    ],
)
def test_what_no_workload_makes_is_none(tmp_path, origin):
    trace = generate_workload(parse_workload("t2_w1:limit=3"), tmp_path / "t")
    assert spec_of(replace(trace, origin=origin)) is None


# ---- offered traffic

# Elsayed and Galal's traffic at an inter-arrival time of 0.002.
ARTICLE = Traffic(poisson_arrivals(0.002), UniformSize(80, 2000), exponential(1.0))
# 20 requests live on average: quick to simulate.
SMALL = Traffic(poisson_arrivals(0.05), UniformSize(80, 2000), exponential(1.0))


def exact(traffic, admission=0.999, buffer_size=None):
    with ThreadPoolExecutor(1) as executor:
        return {
            family.name: size_family(
                traffic, family, aim=Aim(), executor=executor, admissions=[admission]
            )[0]
            for family in families_for(traffic, buffer_size)
            if exact_metrics(traffic, family.make(1))
        }


def test_the_articles_pools_need_what_the_closed_form_say():
    found = exact(ARTICLE, buffer_size=2048)
    fixed = found["fixed_pool"].scheme.plan.scalars
    assert (fixed["blocks"], fixed["block_size"]) == (555, 2048)
    assert round(555 * (2048 + 36) / 1000) == 1157  # KB, published prototype
    chained = found["chained_pool 512 B"].scheme.plan.scalars["partitions"]
    assert round(chained * (512 + 36) / 1000) == 776
    small = found["chained_pool 64 B"].scheme.plan.scalars["partitions"]
    assert round(small * (64 + 0.25) / 1000) == 606  # with two bits of metadata a partition


def test_simulated_memories_are_told_with_an_interval_that_holds_them():
    found = size_for(SMALL, Aim(0.99, replications=4), workers=2)
    names = {one.name: one for one in found.schemes}
    assert {"tlsf", "best_fit", "class_pools", "partition_pool 64 B"} < set(names)
    for one in found.schemes:
        assert one.lowest <= one.memory <= one.highest
        assert one.is_exact == one.name.startswith(("fixed", "chained"))
        assert one.reached.mean >= 0.99
    # Runs need at least as much as partitions wherever they lie; here bits cost less than chains.
    units = {
        name: names[f"{name} 64 B"].scheme.plan.scalars["partitions"]
        for name in ("chained_pool", "partition_pool")
    }
    assert units["partition_pool"] > units["chained_pool"]
    memories = [one.memory for one in found.schemes]
    assert memories == sorted(memories)


@pytest.mark.usefixtures("few")
def test_simulated_memories_are_judged_on_draws_they_were_not_found_on():
    found = size_for(SMALL, Aim(0.9, replications=4)).schemes
    for one in found:
        if one.is_exact:
            assert one.unseen is None
        else:
            reached, unseen = one.reached, one.unseen
            assert unseen.mean != reached.mean
            assert abs(unseen.mean - reached.mean) < unseen.half_width + reached.half_width < 0.04
    assert any(one.unseen is not None for one in found)


@pytest.mark.usefixtures("few")
def test_more_runs_to_judge_on_change_no_memory():
    few, more = (size_for(SMALL, Aim(0.9, replications=4, judged=n)).schemes for n in (2, 12))
    for one, other in zip(few, more, strict=True):
        known = ("name", "memory", "lowest", "highest", "reached")
        assert [getattr(one, key) for key in known] == [getattr(other, key) for key in known]
        assert one.is_exact or one.unseen.mean != other.unseen.mean


def test_the_same_seed_gives_the_same_with_any_number_of_workers():
    traffic = Traffic(poisson_arrivals(0.1), UniformSize(80, 2000), exponential(1.0))
    aim = Aim(0.95, replications=3, seed=7)
    one, other = size_for(traffic, aim, 1), size_for(traffic, aim, 3)
    assert [(s.name, s.memory, s.reached) for s in one.schemes] == [
        (s.name, s.memory, s.reached) for s in other.schemes
    ]


def test_budgets_are_tried_where_a_size_is_frequent():
    traffic = Traffic(poisson_arrivals(0.1), BimodalSize(40, 43, 1500, 26), exponential(1.0))
    found = {one.name: one for one in size_for(traffic, Aim(0.95, replications=2), 2).schemes}
    pools = found["budgeted"].scheme.plan.pools
    assert [(pool.size, pool.count) for pool in pools] == [(40, 4), (1500, 2)]
    assert (40, True) in [(p.size, p.is_exact) for p in found["class_pools"].scheme.plan.pools]


@pytest.fixture
def few(monkeypatch):
    """Some kinds of schemes only: all of them take their time."""
    kept = ("fixed_pool", "chained_pool 256 B", "class_pools", "tlsf")
    monkeypatch.setattr(
        "heapfit.sizing.from_traffic.families_for",
        lambda *given: tuple(one for one in families_for(*given) if one.name in kept),
    )


@pytest.mark.usefixtures("few")
def test_a_queue_is_sized_by_simulation_alone():
    traffic = Traffic(periodic(0.01), UniformSize(80, 2000), fifo("packets", 101.0))
    found = size_for(traffic, Aim(0.9, replications=2), workers=2)
    assert not any(one.is_exact for one in found.schemes)
    fixed = next(one for one in found.schemes if one.name == "fixed_pool")
    assert fixed.scheme.plan.scalars["blocks"] == 1  # served before the next one comes


def test_what_is_too_rare_to_simulate_is_told_and_closed_form_still_answer():
    found = size_for(SMALL, Aim(1 - 1e-9, replications=2))
    for one in found.schemes:
        if one.is_exact:
            assert 1 - one.reached.mean <= 1e-9
        else:
            assert one.memory is None
            assert one.why_not == "too rare to simulate: a loss of 1.0e-09"
    assert found.schemes[0].is_exact


def test_traffic_that_cannot_be_sized_is_refused():
    with pytest.raises(HeapfitError, match="pool size: 1,024 bytes are below the largest request"):
        exact(ARTICLE, buffer_size=1024)
    with pytest.raises(HeapfitError, match="admission: 1 must be"):
        size_for(ARTICLE, Aim(1.0))
    listed = Traffic(poisson_arrivals(0.1), ListedSizes((40, 1500)), exponential(1.0))
    assert not exact(listed)


# ---- as typed

TRAFFIC = """\
[traffic]
arrivals = { law = "poisson", interval = 0.002 }
sizes = { law = "uniform", least = 80, most = 2000 }
holding = { law = "exponential", mean = 1.0 }
"""


@pytest.fixture
def traffic(tmp_path):
    path = tmp_path / "traffic.toml"
    path.write_text(TRAFFIC)
    return path.name


@pytest.fixture
def capture(tmp_path):
    """4,000 packets of 40 and 1,500 B, a millisecond apart on average."""
    draw = random.Random(1)
    time, packets = 0.0, []
    for _ in range(4000):
        time += draw.expovariate(1000)
        frame = ethernet(ipv4(draw.choice([40, 1500])))
        packets.append((time, frame, len(frame)))
    (tmp_path / "c.pcap").write_bytes(pcap(packets))
    return "c.pcap"


def test_the_profile_of_a_capture_counts_its_packets(tmp_path, capture):
    shown = heapfit("profile", capture, "--queue", "link:100M", folder=tmp_path).stdout
    assert shown.splitlines()[1].startswith("4,000 packets, ")


def test_traffic_as_json_has_the_plans_and_the_curve(tmp_path, traffic):
    (tmp_path / traffic).write_text(TRAFFIC.replace("0.002", "0.05"))
    arguments = (traffic, "--admission", 0.97, "--times", 2, "--report", "page.html")
    content = heapfit_json("size", *arguments, folder=tmp_path)
    fixed = next(one for one in content["schemes"] if one["scheme"] == "fixed_pool")
    assert fixed["plan"]["blocks"] == 27
    assert fixed["exact"] and fixed["half_width"] is None
    assert fixed["lowest"] == fixed["memory"] == fixed["highest"]
    admissions = {one["admission"] for one in content["curve"]}
    assert admissions == {0.7, 0.9, 0.97}
    page = (tmp_path / "page.html").read_text()
    assert re.search(r'href="#memory"[^>]*>Memory<', page)
    assert page.index('id="memory"') < page.index('id="chart-memory"') < page.index('id="numbers"')
    for drawn in Page(page).figures["chart-memory"]["data"]:
        shown = [one for one in content["curve"] if one["scheme"] == drawn["name"]]
        low, high = drawn["error_y"]["arrayminus"], drawn["error_y"]["array"]
        columns = drawn["x"], drawn["y"], np.subtract(drawn["y"], low), np.add(drawn["y"], high)
        assert [list(map(pytest.approx, row)) for row in zip(*columns, strict=True)] == [
            [1 - one["admission"], one["memory"], one["lowest"], one["highest"]] for one in shown
        ]


def test_each_scheme_of_a_page_is_drawn_in_a_style_of_its_own():
    """Colours are fewer; points lie where they were found, bars to where they may."""
    curve = tuple(
        SizedScheme(
            f"scheme {number}", admission, Scheme("", Plan("tlsf"), memory := 900 + number),
            memory - 7, memory + 40, Estimate(admission), None,
        )
        for number in range(15)
        for admission in (0.9, 0.99)
    )  # fmt: skip
    page = Page(render(schemes_page(TrafficSizing(Aim(), curve[:3], curve), "calls", "size")))
    drawn = page.figures["chart-memory"]["data"]
    assert [one["name"] for one in drawn] == [f"scheme {number}" for number in range(15)]
    styles = [(one["line"]["color"], one["line"]["dash"]) for one in drawn]
    assert len({*styles}) == 15
    assert [dash for _, dash in styles] == ["solid"] * 7 + ["dot"] * 7 + ["dash"]
    assert drawn[4]["x"] == pytest.approx([0.1, 0.01]) and drawn[4]["y"] == [904, 904]
    assert (drawn[4]["error_y"]["array"], drawn[4]["error_y"]["arrayminus"]) == ([40] * 2, [7] * 2)


def test_a_trace_is_sized_pool_by_pool(tmp_path):
    table2(tmp_path / "t.txt", events=20_000)
    done = heapfit("size", "t.txt", "--admission", 0.9, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    answer, lines = " ".join(lines[:2]), lines[1:]
    assert answer.startswith("Set aside ")
    assert answer.endswith("; 51,984 B where none may take a larger one.")
    assert lines[1].startswith("t.txt (20,000 events): each pool is to serve 90 %")
    assert [line.split()[0] for line in lines[3:8]] == ["=528", "=1040", "=1978", "=2952", "all"]
    assert lines[3].split()[:4] == ["=528", "6", "8", "3,168"]
    assert max(map(len, lines[:7])) <= 80
    arguments = ("--sizes", "1040,2952", "--admission", "0.98")
    content = heapfit_json("size", "t.txt", *arguments, folder=tmp_path)
    assert [pool["size"] for pool in content["pools"]] == [1040, 2952]
    assert all(10 < pool["alone"]["count"] <= 20 for pool in content["pools"])
    assert content["memory"] == sum(pool["bytes"] for pool in content["pools"])
    assert content["memory"] <= content["memory_alone"]
    assert len(content["curve_alone"]) == 11


def test_what_a_trace_cannot_show_has_a_star(tmp_path):
    table2(tmp_path / "t.txt", events=2000)
    words = ("size", "t.txt", "--admission", 0.999999, "--report", "page.html")
    done = heapfit(*words, folder=tmp_path)
    page = (tmp_path / "page.html").read_text()
    content = heapfit_json(*words, folder=tmp_path)
    *curves, chosen = Page(page).figures["chart-memory"]["data"]
    drawn = {point for one in curves for point in zip(one["x"], one["y"], strict=True)}
    curve = {(1 - one["admission"], one["memory"]) for one in content["curve_alone"]}
    assert sorted(drawn) == [pytest.approx(point) for point in sorted(curve)]
    beyond = [one["beyond_trace"] for one in content["curve_alone"]]
    dashes = (["solid"] if not all(beyond) else []) + (["dash"] if any(beyond) else [])
    assert [one["line"]["dash"] for one in curves] == dashes
    assert (chosen["x"], chosen["y"]) == ([pytest.approx(1e-6)], [content["memory"]])
    assert re.search(r"528\sB\*", page) and "* beyond what this trace shows" in page
    names = [line.split()[0] for line in done.stdout.splitlines()[4:9]]
    assert names == ["=528*", "=1040*", "=1978*", "=2952*", "all"]
    text = " ".join(done.stdout.split())
    assert "* beyond what this trace shows: no share below" in text
    assert re.search(r"[\d/]+ blocks \([\d,]+ B\) served all that was recorded: --ad", text)


def test_extrapolated_counts_are_no_more_than_those_without_fall_back(tmp_path):
    trace = generate_workload(parse_workload("campus:packets=2000", 1), tmp_path / "campus.parquet")
    sizing = size_pools(trace, 0.999999)
    assert sizing.alone.is_beyond
    assert all(one.count == one.count_without_fall_back for one in sizing.pools)
    replay = PoolReplay(trace.events(), sizing.alone.shapes)
    assert replay.run(np.array(sizing.serving)).is_within(0)
    recorded = size_pools(trace, 1.0)
    assert recorded.serving == tuple(one.count for one in recorded.pools) == sizing.serving
    least = sum(one.count * one.size for one in recorded.pools)
    assert least < sizing.memory
    shown = heapfit("size", "campus.parquet", "--admission", 0.999999, folder=tmp_path).stdout
    assert f": all recorded requests find a block, as in {least:,} B." in " ".join(shown.split())


def test_a_capture_needs_a_queue_unless_it_is_stored_with_one(tmp_path, capture):
    done = heapfit("size", capture, folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        "heapfit: c.pcap: a capture tells when packets come, not how long they stay (add --queue "
        "fifo:N with your CPU's packets a second, or --queue link:BITS_PER_S)\n"
    )
    heapfit("import", capture, "-o", "c.parquet", "--queue", "fifo:1200", folder=tmp_path)
    stored = heapfit_json("size", "c.parquet", folder=tmp_path)
    given = heapfit_json("size", capture, "--queue", "fifo:1200", folder=tmp_path)
    assert stored["queue"] == "fifo:1200"
    assert stored["pools"] == given["pools"]


def test_a_queue_that_is_slower_than_its_capture_has_no_number_of_buffers(tmp_path, capture):
    done = heapfit("size", capture, "--queue", "fifo:100", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "packets a second come, and fifo:100 ends " in done.stderr


@pytest.mark.parametrize(
    ("system", "line"),
    [
        ("lwip", "#define PBUF_POOL_SIZE "),
        ("zephyr", "CONFIG_NET_BUF_RX_COUNT="),
        ("openthread", "#define OPENTHREAD_CONFIG_NUM_MESSAGE_BUFFERS "),
    ],
)
def test_settings_of_a_capture_are_text_to_copy(tmp_path, capture, system, line):
    arguments = ("settings", system, capture, "--queue", "fifo:1200")
    done = heapfit(*arguments, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert line in done.stdout
    assert (
        "RAM of buffers x bytes, headers included" in " ".join(done.stdout.split(" * "))
        and not done.stderr
    )
    content = heapfit_json(*arguments, folder=tmp_path)
    assert content["text"].rstrip("\n") == done.stdout.rstrip("\n")
    assert f"{line}{content['settings'][1]['value']}" in done.stdout
    assert content["settings"][1]["run_out"]["count"] == content["settings"][1]["value"]


def test_settings_count_what_the_device_receives_and_say_so(tmp_path):
    """Three packets come at once, one of a size that no TCP segment of lwIP's has; two are sent."""
    talk = [("8", 1500), ("9", 100), ("9", 100)]
    come = [
        (0.1 * i, between(f"10.0.0.{at}", "10.0.0.7", size)) for i in range(60) for at, size in talk
    ]
    sent = [(0.1 * i, between("10.0.0.7", f"10.0.0.{at}")) for i in range(60) for at, _ in talk]

    def ask(name, packets, *more):
        rows = [(time, frame, len(frame)) for time, frame in sorted(packets)]
        (tmp_path / name).write_bytes(pcap(rows))
        content = heapfit_json("settings", "lwip", name, *more, folder=tmp_path)
        values = {one["name"]: one["value"] for one in content["settings"]}
        return values["MEMP_NUM_TCPIP_MSG_INPKT"], " ".join(content["remarks"])

    queue = ("--queue", "hold:fixed:10ms")
    (alone, _), (both, told) = ask("in.pcap", come, *queue), ask("all.pcap", come + sent, *queue)
    assert alone == both == 3 and "only packets that 10.0.0.7 receives are counted" in told
    assert "60 packets are larger than TCP_MSS 536 allows" in told and "tcp_mss=1460" in told
    pair = [one for one in come + sent if b"\x02\0\0\0\0\x09" not in one[1][:12]]
    both, told = ask("pair.pcap", pair, *queue)
    assert both == 2 and "BOTH DIRECTIONS ARE COUNTED" in told and ",to=10.0.0.8" in told
    assert ask("pair.pcap", pair, "--queue", "hold:fixed:10ms,to=10.0.0.8")[0] == 1
    assert ask("all.pcap", come + sent, "--queue", "hold:fixed:10ms,rate=40")[0] > 6
    merged = [(0.1 * i, between("10.0.0.8", "10.0.0.7", 40 + 3 * 1460)) for i in range(60)]
    (as_sent, told), (kept, untold) = (
        ask("big.pcap", merged, *queue, *more) for more in ((), ("--assume", "mtu=9000"))
    )
    assert (as_sent, kept) == (3, 1) and "counted as the 180 segments" in told and "kept" in untold
    (tmp_path / "cut.pcap").write_bytes((tmp_path / "big.pcap").read_bytes()[:-9])
    shown = heapfit("settings", "lwip", "cut.pcap", *queue, folder=tmp_path).stdout
    assert "The rest is left out, from packet 61" in " ".join(shown.replace("*", " ").split())


@pytest.mark.usefixtures("traffic")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("size", "t.txt", "--sizes", "64;512"),
            "64;512 is not a size in bytes, such as 65536",
        ),
        (("settings", "lwip", "t.txt", "--assume", "mtu"), "--assume mtu: is neither NAME=NUMBER"),
        (("settings", "lwip", "t.txt", "--assume", "x=1"), "lwip has no assumption named 'x'"),
        (
            ("settings", "lwip", "t.txt", "--assume", "CONFIG_alignment=2000000"),
            "alignment=2000000 is out of range",
        ),
        (("settings", "zephyr", "t.txt", "--assume", "x=1"), "no assumption named 'x' (none)"),
        (("settings", "lwip", "t.txt", "--assume", "528=a-b"), "528=a-b: is neither NAME=NUMBER"),
        (("settings", "lwip", "t.txt", "--assume", "0=A"), "0 bytes: is not a block size"),
    ],
)
def test_bad_input_gets_one_line(tmp_path, arguments, message):
    table2(tmp_path / "t.txt")
    done = heapfit(*arguments, folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("heapfit: ") and done.stderr.count("\n") == 1
    assert message in done.stderr


@pytest.mark.usefixtures("traffic")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("size", "t.txt", "--seed", "2"), "--seed has no effect here: t.txt is no TOML file"),
        (
            ("size", "traffic.toml", "--queue", "fifo:1"),
            "--queue has no effect here: traffic.toml is",
        ),
        (("settings", "t.txt", "lwip"), "for 'SYSTEM': 't.txt' is a file, and not one of 'lwip',"),
    ],
)
def test_options_that_say_nothing_are_wrong_usage(tmp_path, arguments, message):
    table2(tmp_path / "t.txt")
    done = heapfit(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
