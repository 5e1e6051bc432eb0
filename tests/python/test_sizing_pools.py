# SPDX-License-Identifier: Apache-2.0
"""Counts of pools that help each other out, against the allocator and against draws unseen."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from heapfit.comparison.trial import replay_trace
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan, Pool
from heapfit.sizing.demand import BLOCKS
from heapfit.sizing.pool_counts import least_counts
from heapfit.sizing.pool_replay import PoolReplay, Refusals
from heapfit.sizing.pools import PoolOptions, size_pools
from heapfit.sizing.unseen import Evidence
from heapfit.sweep import Sweep
from heapfit.trace.origin import Maker, Origin
from heapfit.trace.stored import Trace, TraceInfo, write_trace
from heapfit.workloads.synthetic import generate_events, generate_workload, parse_workload, spec_of

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


def test_shares_are_of_the_rows_that_have_requests() -> None:
    found = Refusals(np.array([[0], [1], [4]]), np.array([[0], [1], [2]]))
    assert found.shares(0).tolist() == [1.0, 0.5]


def test_the_allocator_refuses_just_what_is_told(campus, sizing):
    assert _refused(campus, sizing) == round(sizing.refused * sizing.requests) > 0


def test_every_pool_admits_the_share_and_a_fifth_less_memory_does(sizing):
    assert all(pool.refused <= 0.05 for pool in sizing.pools)
    assert max(pool.refused for pool in sizing.pools) > 0.049
    assert sizing.memory < 0.85 * sizing.alone.memory
    assert sizing.memory == sum(pool.size * pool.count for pool in sizing.pools)


def test_a_workload_is_judged_on_other_seeds_of_its_own(sizing):
    refused = requests = 0
    for seed in range(2, 10):
        replay = PoolReplay(generate_events(parse_workload(CAMPUS, seed)), sizing.alone.shapes)
        found = replay.run(np.array([pool.count for pool in sizing.pools])).sum_pools()
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


def test_what_is_too_rare_for_the_trace_keeps_its_extrapolated_count(campus):
    sizing = size_pools(campus, 1 - 1e-6)
    assert sizing.alone.is_beyond and sizing.refused == 0
    assert [pool.count for pool in sizing.pools] == [
        pool.alone.run_out.count for pool in sizing.pools
    ]


def test_pools_that_cannot_be_sized_are_refused(campus):
    with pytest.raises(HeapfitError, match=r"asks for 1,500 bytes, above the largest pool of 512"):
        size_pools(campus, 0.99, PoolOptions(sizes=[64, 512]))


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


def test_a_search_out_of_tries_returns_counts_that_do():
    most, tries = np.array([30, 30]), iter(range(5))
    found = least_counts(
        lambda counts: next(tries, None) is not None and bool(counts.sum() >= 31),
        np.array([10, 20]),
        least=np.zeros(2, np.int64),
        start=most,
        most=most,
    )
    assert 31 <= found.sum() < 60


def test_counts_never_go_below_the_least():
    most = np.array([9, 9])
    least = np.array([3, 7])
    found = least_counts(lambda _: True, np.array([10, 20]), least=least, start=most, most=most)
    assert found.tolist() == [3, 7]


@pytest.mark.parametrize(("share", "is_met"), [(0.2, True), (0.03, False)])
def test_a_goal_is_of_each_pools_own_requests(share, is_met):
    found = Refusals(np.array([[90, 10]] * BLOCKS), np.array([[1, 2]] * BLOCKS))
    assert found.is_within(share) is is_met


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
        Origin(Maker.WORKLOAD, 1, "none_such"),
        Origin(Maker.WORKLOAD, 1, "campus", {"packet": 5}),
    ],
)
def test_what_no_workload_makes_is_none(tmp_path, origin):
    trace = generate_workload(parse_workload("t2_w1:limit=3"), tmp_path / "t")
    assert spec_of(replace(trace, origin=origin)) is None
