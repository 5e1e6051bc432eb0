# SPDX-License-Identifier: Apache-2.0
"""The adversary of `bounds --plan`: within the limits, and no worse than is proven."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_traces import bimodal, heapfit, heapfit_json, table2

from heapfit import _engine
from heapfit.bounds.adversary import attack_plan
from heapfit.bounds.worst_cases import Limits, least_of_any, worst_case
from heapfit.comparison.comparison import compare
from heapfit.design.portfolio import build_portfolio
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.loaded import load_trace
from heapfit.trace.operations import FREE as FREE_OP
from heapfit.trace.stored import TraceInfo, write_trace

pytestmark = pytest.mark.usefixtures("unmeasured")

POOLS = (Pool(24, 10, True), Pool(100, 4, True))
PROVEN = [
    Plan("first_fit"),
    Plan("first_fit", {"list": 1}),
    Plan("first_fit", {"least_split": 64, "header_size": 24}),
    Plan("best_fit", {"alignment": 4}),
    Plan("best_fit", {"alignment": 16}),
    Plan("segregated_fit"),
    Plan("tlsf"),
    Plan("tlsf", {"probes": 0, "second_level": 1}),
    Plan("tailored"),
    Plan("tailored", {"ends": 2}),
    Plan("tailored", {"layout": 1}),
    Plan("tailored", {"layout": 2, "hole_limit": 4}),
    Plan("sized"),
    Plan("budgeted", {}, POOLS, Plan("best_fit")),
    Plan("class_pools", {}, POOLS, Plan("tlsf")),
]
CAPPED = Limits(np.array([12, 24, 40, 100, 300, 1000]), np.array([9, 20, 30, 10, 6, 3]), 4000)
# As many of each size as the live bytes hold.
FREE = Limits(np.array([12, 28, 60, 124, 252]), np.array([133, 57, 26, 12, 6]), 1600)


@pytest.mark.parametrize("limits", [CAPPED, FREE])
@pytest.mark.parametrize("plan", PROVEN, ids=str)
def test_what_is_found_is_below_what_is_proven(plan: Plan, limits: Limits) -> None:
    found = attack_plan(plan, limits, events=100_000)
    assert found.proven is not None and found.broken is not None
    assert limits.live < found.broken < found.proven.size


@pytest.mark.parametrize("allocator", ["first_fit", "best_fit", "tlsf", "tailored", "halffit"])
def test_no_allocator_withstands_what_none_can(allocator: str) -> None:
    found = attack_plan(Plan(allocator), FREE, events=300_000)
    assert (found.broken or 0) >= least_of_any(FREE)


def test_the_most_is_that_of_every_choice() -> None:
    limits = Limits(np.array([3, 5, 7]), np.array([2, 3, 1]), 19)
    weights = np.array([4, 9, 8])
    most = max(
        int(weights @ counts)
        for counts in np.ndindex(3, 4, 2)
        if limits.sizes @ counts <= limits.live
    )
    assert most <= limits.max_weight(weights) < most + int(weights.max())
    assert limits.max_weight(np.array([3, 5, 7])) == 19


def test_pools_of_each_size_s_worst_case_are_proven_and_one_block_less_is_not() -> None:
    sizes = zip(CAPPED.sizes.tolist(), CAPPED.peaks.tolist(), strict=True)
    pools = tuple(Pool(size, peak, True) for size, peak in sizes)
    whole = Plan("static_pools", {}, pools)
    proven = worst_case(whole, CAPPED)
    assert proven is not None
    assert proven.size == whole.engine().smallest_region
    assert worst_case(Plan("static_pools", {}, (*pools[:-1], Pool(1000, 2, True))), CAPPED) is None
    fixed = Plan("fixed_pool", {"block_size": 1000, "blocks": 78})
    assert worst_case(fixed, CAPPED) is not None
    assert worst_case(replace(fixed, scalars={"block_size": 1000, "blocks": 40}), CAPPED) is None


def test_what_wears_down_has_no_proof() -> None:
    assert worst_case(Plan("first_fit", {"coalesce": 0}), CAPPED) is None
    assert worst_case(Plan("kingsley"), CAPPED) is None


def test_a_trace_that_resizes_has_its_largest_block_twice_for_a_while(tmp_path: Path) -> None:
    (tmp_path / "t.heap").write_text("# pointer_bits 32\na 0 100\na 1 8\nr 0 200\n")
    limits = Limits.of_trace(load_trace(open_any(tmp_path / "t.heap", ImportOptions(), tmp_path)))
    assert (limits.live, limits.copied, limits.count) == (208, 200, 2)
    proven = [worst_case(Plan("first_fit"), one) for one in (limits, replace(limits, copied=0))]
    assert proven[0] is not None and proven[1] is not None
    assert proven[0].size >= proven[1].size + 200


@pytest.mark.parametrize("make", [table2, bimodal])
def test_no_replay_needs_more_than_is_proven(tmp_path: Path, make) -> None:
    trace = open_any(make(tmp_path / "t.heap", 1500), ImportOptions(), tmp_path)
    loaded = load_trace(trace)
    names = ["first_fit", "best_fit", "tlsf", "tailored", "segregated_fit", "budgeted"]
    rows = compare(loaded, build_portfolio(loaded, names, [])).rows
    for row in rows:
        proven = worst_case(row.plan, Limits.of_trace(loaded))
        assert proven is not None
        assert row.r_safe is not None
        assert row.r_safe <= proven.size + row.step


def test_what_is_found_keeps_to_the_limits_at_every_event_and_needs_more(tmp_path: Path) -> None:
    engine, limits = Plan("best_fit").engine(), CAPPED
    found = _engine.find_adversary(
        engine,
        limits.sizes.astype(np.uint64),
        limits.peaks.astype(np.uint64),
        limits.live,
        limits.live,
        events=100_000,
    )
    peaks = dict(zip(limits.sizes.tolist(), limits.peaks.tolist(), strict=True))
    live: dict[int, int] = {}
    for op, number, size in zip(
        found.ops.tolist(), found.objects.tolist(), found.sizes.tolist(), strict=True
    ):
        if op == FREE_OP:
            del live[number]
        else:
            live[number] = size
        assert sum(live.values()) <= limits.live
        assert all(count <= peaks[one] for one, count in Counter(live.values()).items())
    time = np.arange(len(found.ops))
    columns = {"op": found.ops, "object": found.objects, "size": found.sizes, "time": time}
    info = TraceInfo(program="", source="", pointer_bits=32)
    bad = write_trace(tmp_path / "bad.parquet", [columns], info)
    (row,) = compare(loaded := load_trace(bad), build_portfolio(loaded, ["best_fit"], [])).rows
    assert row.r_safe > found.region > CAPPED.live


def test_bounds_says_the_worst_of_each_plan_in_its_region(tmp_path: Path) -> None:
    table2(tmp_path / "four.heap", 800)
    plan = 'region = {}\n[plan]\nallocator = "{}"\nalignment = 8\n'
    for name, region, allocator in (("small", 3000, "tlsf"), ("large", 10**6, "best_fit")):
        (tmp_path / f"{name}.toml").write_text(plan.format(region, allocator))
    words = ("bounds", "four.heap", "--plan", "small.toml", "--plan", "large.toml", "--search", "1")
    content = heapfit_json(*words, folder=tmp_path)
    small, large = content["attacks"]
    shown = heapfit(*words, folder=tmp_path).stdout
    assert "-: none is proven. Worst cases above are of blocks" in " ".join(shown.split())
    assert small["region"] == 3000 < small["broken"] < small["proven"]["size"]
    assert small["broken"] > content["u_max"]
    assert f"small: requests within the limits run out of memory in {small['broken']:,} B." in shown
    assert (large["broken"], large["plays"]) == (None, 0)
    assert "large: nothing within the limits exhausts it: when a request fails" in shown
    assert "attacks" not in heapfit_json(*words[:2], "--search", "0", folder=tmp_path)


def test_a_systems_heap_is_not_attacked(tmp_path: Path) -> None:
    table2(tmp_path / "four.heap", 100)
    (tmp_path / "heap.toml").write_text(
        'region = 8192\nheap = "heap_4"\n[plan]\nallocator = "first_fit"\nalignment = 8\n'
    )
    done = heapfit("bounds", "four.heap", "--plan", "heap.toml", folder=tmp_path)
    assert done.returncode == 1
    assert "is a system's heap, which takes requests of its own" in done.stderr
