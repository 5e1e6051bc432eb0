# SPDX-License-Identifier: Apache-2.0
"""Budgets with a certificate, the search by replays, and classes against every choice of them."""

import random
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_traces import bimodal, event_array, fit_json, heapfit, load_lines, table2

from heapfit import _engine
from heapfit.design.budgets.certified import find_budgets
from heapfit.design.budgets.choice import BudgetChoice, Method
from heapfit.design.budgets.greedy_budgets import plan_from_budgets
from heapfit.design.budgets.integer import Budgets, improve_budgets
from heapfit.design.budgets.program import BudgetLimits
from heapfit.design.plan_options import PlanOptions
from heapfit.design.pools.best_classes import best_classes, cheapest_cuts, classes_of
from heapfit.design.pools.special_pools import pool_sizes, special_pools_plan, special_sizes
from heapfit.design.portfolio import standard_portfolio
from heapfit.design.robust.portfolio import robust_portfolio
from heapfit.design.search.moves import BudgetSizes, Moves
from heapfit.design.search.pooled_design import PooledDesign
from heapfit.design.search.replayed import FAST, OTHERS, search_plans
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan import Plan
from heapfit.progress import ignore_progress
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.operations import ALLOC, FREE, RESIZE
from heapfit.workloads.synthetic import generate_workload, parse_workload

pytestmark = pytest.mark.usefixtures("unmeasured")


def walk(sizes: list[int], most_live: int, events: int, seed: int) -> _engine.EventArray:
    """Each size allocated and freed at random, at most `most_live` of it live."""
    draw = random.Random(seed)
    live: dict[int, list[int]] = {size: [] for size in sizes}
    rows = []
    born = 0
    for _ in range(events):
        size = draw.choice(sizes)
        blocks = live[size]
        if blocks and (len(blocks) == most_live or draw.random() < 0.5):
            rows.append((FREE, blocks.pop(draw.randrange(len(blocks))), 0))
        else:
            rows.append((ALLOC, born, size))
            blocks.append(born)
            born += 1
    return event_array(rows)


def by_program_alone(points: _engine.BudgetPoints, seconds: float = 60.0) -> Budgets:
    """HiGHS from nothing: no budget at all, and a bound that says nothing."""
    nothing = Budgets((0,) * len(points.sizes), 0, points.u_max * len(points.sizes))
    return improve_budgets(points, nothing, seconds, ignore_progress)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    sizes=st.lists(st.integers(1, 400), min_size=1, max_size=4, unique_by=lambda s: -(-s // 8)),
    most_live=st.integers(1, 6),
    events=st.integers(1, 200),
    seed=st.integers(0, 2**32),
)
def test_every_method_agrees_on_small_traces(
    sizes: list[int], most_live: int, events: int, seed: int
) -> None:
    trace = walk(sizes, most_live, events, seed)
    tried = find_budgets(trace, sizes, alignment=8, method=Method.EXHAUSTIVE)
    exact = find_budgets(trace, sizes, alignment=8)
    program = by_program_alone(_engine.budget_points(trace, sizes, 8))
    assert exact.dedicated == exact.bound == tried.dedicated
    assert program.dedicated == program.bound == tried.dedicated
    greedy = find_budgets(trace, sizes, alignment=8, method=Method.GREEDY)
    assert greedy.dedicated <= tried.dedicated <= greedy.bound


@pytest.mark.parametrize("seed", range(4))
def test_highs_agrees_with_branch_and_bound_on_twelve_sizes(seed: int) -> None:
    sizes = [8 * k for k in (2, 3, 5, 8, 13, 21, 25, 34, 47, 55, 71, 89)]
    points = _engine.budget_points(walk(sizes, 8, 4000, seed), sizes, 8)
    searched = _engine.search_budgets(points, 10_000_000)
    program = by_program_alone(points)
    assert program.dedicated == program.bound == searched.dedicated == searched.bound


def test_past_the_time_limit_the_best_found_and_a_bound_are_told() -> None:
    sizes = [8 * k for k in range(3, 43)]
    events = walk(sizes, 10, 20_000, 1)
    greedy = find_budgets(events, sizes, alignment=8, method=Method.GREEDY)
    hurried = find_budgets(events, sizes, alignment=8, seconds=0.05)
    assert greedy.dedicated <= hurried.dedicated < hurried.bound
    assert not hurried.is_proven
    assert "at most" in hurried.account
    assert "below the best" in hurried.account
    points = _engine.budget_points(events, sizes, 8)
    assert (BudgetLimits.from_points(points).excess(np.array(hurried.counts)) <= 0).all()


@given(st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_counts_made_to_fit_violate_no_point(data: st.DataObject) -> None:
    sizes = [24, 40, 64, 104, 256]
    points = _engine.budget_points(walk(sizes, 8, 300, data.draw(st.integers(0, 99))), sizes, 8)
    limits = BudgetLimits.from_points(points)
    wished = np.array([data.draw(st.integers(0, cap)) for cap in limits.caps.tolist()])
    fitting = limits.repair(wished)
    assert (limits.excess(fitting) <= 0).all()
    if (limits.excess(wished) <= 0).all():
        assert (fitting >= wished).all()


def test_fit_tells_the_certificate_of_each_method(tmp_path) -> None:
    table2(tmp_path / "four.heap")
    both = heapfit("fit", "four.heap", "--plans", "plans", folder=tmp_path).stdout
    assert "greedy budgets for the 4 sizes" in both
    assert "exact budgets for the 4 sizes with most bytes at the peak: " in both or (
        "skipped: the same plan as budgeted_4_largest" in both
    )


def test_too_many_combinations_are_refused() -> None:
    sizes = [8 * k for k in range(2, 12)]
    with pytest.raises(HeapfitError, match="more than 10000000 combinations of budgets"):
        find_budgets(walk(sizes, 10, 2000, 1), sizes, alignment=8, method=Method.EXHAUSTIVE)


# ---- the search by replays

SIZES = [528, 1040, 1984, 2952]
EVENTS = 3_000_000


@pytest.fixture(scope="module")
def loaded(tmp_path_factory) -> LoadedTrace:
    folder: Path = tmp_path_factory.mktemp("search")
    return load_trace(open_any(table2(folder / "t.heap", 1500), ImportOptions(), folder))


@pytest.fixture(scope="module")
def exact(loaded: LoadedTrace) -> Plan:
    certified = find_budgets(loaded.events, SIZES, alignment=8)
    plan = plan_from_budgets(SIZES, certified.counts, 8)
    assert plan is not None
    return plan


def region(plan: Plan, loaded: LoadedTrace) -> int:
    found = _engine.Trial(plan.engine(), loaded.events).scan().r_safe
    assert found is not None
    return found


def test_the_search_finds_a_smaller_region_and_tells_it_rightly(
    loaded: LoadedTrace, exact: Plan
) -> None:
    found = search_plans(loaded, [exact], EVENTS)
    assert found is not None
    assert found.r_safe == region(found.plan, loaded)
    assert found.r_safe < region(exact, loaded)


def test_a_seed_gives_the_same_plan_again(loaded: LoadedTrace, exact: Plan) -> None:
    assert search_plans(loaded, [exact], EVENTS) == search_plans(loaded, [exact], EVENTS)


def test_what_is_spent_on_measuring_a_region_is_work_too(loaded: LoadedTrace, exact: Plan) -> None:
    told: list[float] = []
    assert search_plans(loaded, [exact], EVENTS, progress=lambda _, share: told.append(share))
    scan = 140 * len(loaded.events) / EVENTS  # decision 5
    assert np.diff(told[:-1]).max() == pytest.approx(scan, rel=0.2)


def test_without_work_the_best_of_all_starts_is_found(loaded: LoadedTrace, exact: Plan) -> None:
    few = plan_from_budgets(SIZES, [1, 0, 0, 0], 8)
    assert few is not None
    found = search_plans(loaded, [few, exact], 0)
    assert found is not None
    assert found.r_safe <= region(exact, loaded)
    assert found.plan.pools == exact.pools


def test_the_shared_allocator_alone_is_in_the_running(tmp_path: Path) -> None:
    lines = [f"a {size} {8 * size}\nf {size}" for size in range(1, 100)]
    rising = load_lines(tmp_path / "t.heap", lines)
    poor = plan_from_budgets([8, 792], [1, 1], 8)
    assert poor is not None
    found = search_plans(rising, [poor], 0)
    assert found is not None
    assert not found.plan.pools
    assert found.r_safe == region(found.plan, rising) < region(poor, rising)


def test_no_result_is_worse_than_any_allocator_of_the_search(loaded: LoadedTrace) -> None:
    found = search_plans(loaded, [], EVENTS)
    assert found is not None
    for shared in (FAST, *OTHERS):
        assert found.r_safe <= region(Plan(shared.allocator, {"alignment": 8}), loaded)


def test_a_start_without_pools_is_one_more_allocator_for_what_is_left(tmp_path: Path) -> None:
    """Long-lived small blocks and short-lived large ones, each from an end of its own."""
    lines = [f"a {i} {16 + i % 97}\na {i + 9000} {900 + 7 * i}" for i in range(150)]
    lines += [f"f {i + 9000}" for i in range(150)]
    lines += [f"a {i + 20000} {950 + 7 * i}" for i in range(150)]
    shift = load_lines(tmp_path / "t.heap", lines)
    ends = {"alignment": 8, "ends": 2, "high_0": 0xFFFF, "high_1": 0}  # up to 15 granules
    found = search_plans(shift, [Plan("tailored", ends)], 0)
    assert found is not None
    assert found.plan.scalars.get("ends") == 2
    assert found.r_safe == region(found.plan, shift) < region(Plan("best_fit", {}), shift)


def test_sizes_are_merged_where_that_saves(tmp_path: Path) -> None:
    """448 B, kept as 512 B, leave blocks to those that fit no hole; 100 other sizes stay live."""
    lines = [f"a {i} {8 * i + 600}\na {i + 100} 448" for i in range(100)]
    lines += [f"f {i + 100}" for i in range(100)]
    lines += [f"a {i + 200} 512" for i in range(100)]
    shift = load_lines(tmp_path / "t.heap", lines)
    apart = plan_from_budgets([448, 512], [50, 50], 8)
    assert apart is not None
    found = search_plans(shift, [apart], EVENTS)
    assert found is not None
    assert found.r_safe == region(found.plan, shift)
    assert found.r_safe < 1.03 * shift.profile.u_max < region(apart, shift) / 1.1
    sizes = np.array([448, 512], np.uint64)
    assert len(set(found.plan.engine().pools_for(sizes).tolist())) == 1


def test_an_interrupt_ends_it(loaded: LoadedTrace, exact: Plan) -> None:
    told = 0

    def interrupting(step: str, done: float) -> None:
        nonlocal told
        assert (step, 0 <= done <= 1) == ("search budgets", True)
        told += 1
        if told == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search_plans(loaded, [exact], EVENTS, progress=interrupting)
    assert told == 20


def test_fit_adds_what_the_search_found(tmp_path: Path) -> None:
    table2(tmp_path / "t.heap", 1500)
    asked = ("t.heap", "--search", "3", "--plans", "plans")
    rows = fit_json(*asked, folder=tmp_path)["plans"]["rows"]
    by_name = {row["name"]: row for row in rows}
    found = by_name["searched"]
    others = [row["r_safe"] for name, row in by_name.items() if name != "searched"]
    assert found["r_safe"] <= min(others)
    assert "plans tried" in found["reason"]
    assert found["trained_on_this_trace"]


def test_the_search_leaves_static_zones_behind(tmp_path: Path) -> None:
    """All blocks ever live at once set aside is a trap: one block fewer alone saves nothing."""
    spec = parse_workload("phases_w4:events=2000", 1)
    phases = load_trace(generate_workload(spec, tmp_path / "t.parquet"), 4)
    static = plan_from_budgets([528, 1040, 1980, 2952], [10, 10, 10, 10], 4)
    assert static is not None
    found = search_plans(phases, [static], 20_000_000)
    assert found is not None
    assert found.r_safe < 1.03 * phases.profile.u_max
    assert region(Plan("best_fit", {"alignment": 4}), phases) > 1.07 * phases.profile.u_max


def test_a_budget_that_there_is_not_begins_empty() -> None:
    """So its first count is a step from 0, or all that are ever live."""
    sizes = BudgetSizes(8, (64,), (0, 1_000), (64,))
    counts, moves = set(), Moves(sizes, 1)
    for _ in range(500):
        for budget in moves.change(PooledDesign((), OTHERS[0])).budgets:
            assert (budget.size, budget.above) == (64, 56)
            counts.add(budget.count)
    assert counts == {1, 2, 4, 8, 16, 32, 1_000}


# ---- classes of sizes

Event = tuple[int, int, int]  # op, object, size


def random_events(sizes: list[int], seed: int, count: int) -> list[Event]:
    draw = random.Random(seed)
    live: list[int] = []
    events = []
    born = 0
    for _ in range(count):
        action = draw.random()
        if not live or action < 0.5:
            events.append((ALLOC, born, draw.choice(sizes)))
            live.append(born)
            born += 1
        elif action < 0.6:
            events.append((RESIZE, draw.choice(live), draw.choice(sizes)))
        else:
            events.append((FREE, live.pop(draw.randrange(len(live))), 0))
    return events


def stored(events: list[Event], folder: Path) -> LoadedTrace:
    letters = {ALLOC: "a", RESIZE: "r", FREE: "f"}
    lines = (
        f"{letters[op]} {number}" + ("" if op == FREE else f" {size}")
        for op, number, size in events
    )
    return load_lines(folder / "t.heap", lines)


def pool_of(size: int, classes: tuple[int, ...]) -> int:
    return min(one for one in classes if one >= max(size, 1))


def peaks_by_counting(events: list[Event], classes: tuple[int, ...]) -> int:
    """The sum of the pools' peaks, in bytes."""
    live: dict[int, int] = {}
    most: Counter[int] = Counter()
    for op, number, size in events:
        if op == FREE:
            del live[number]
        else:
            live[number] = pool_of(size, classes)
        for pool, count in Counter(live.values()).items():
            most[pool] = max(most[pool], count)
    return sum(pool * count for pool, count in most.items())


def waste_by_counting(events: list[Event], classes: tuple[int, ...]) -> float:
    asked = [size for op, _, size in events if op == ALLOC]
    given_bytes = sum(pool_of(size, classes) for size in asked)
    return given_bytes / sum(asked) - 1


@pytest.mark.parametrize("seed", range(6))
def test_no_choice_of_classes_is_better(tmp_path: Path, seed: int) -> None:
    sizes = [5, 8, 20, 24, 61, 100, 104, 333, 1500]
    events = random_events(sizes, seed, 200)
    best = best_classes(stored(events, tmp_path))
    bounds = sorted({-(-size // 8) * 8 for _, _, size in events if size})
    assert best.bounds == best.sizes == len(bounds) == len(best.least_peaks)
    for count in range(1, len(bounds) + 1):
        choices = [(*few, bounds[-1]) for few in combinations(bounds[:-1], count - 1)]
        least_peaks = best.least_peaks[count - 1]
        assert least_peaks.peaks == min(peaks_by_counting(events, one) for one in choices)
        assert least_peaks.peaks == peaks_by_counting(events, least_peaks.sizes)
        least_waste = best.least_waste[count - 1]
        assert least_waste.waste == pytest.approx(
            min(waste_by_counting(events, one) for one in choices)
        )
        assert least_waste.waste == pytest.approx(waste_by_counting(events, least_waste.sizes))
        assert least_waste.peaks == peaks_by_counting(events, least_waste.sizes)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(count=st.integers(1, 7), seed=st.integers(0, 2**32))
def test_cheapest_cuts_are_the_cheapest_of_all(count: int, seed: int) -> None:
    costs = np.random.default_rng(seed).integers(0, 100, (count, count))

    def cost(last: tuple[int, ...]) -> int:
        starts = (0, *(one + 1 for one in last[:-1]))
        return sum(int(costs[i, j]) for i, j in zip(starts, last, strict=True))

    for number, cut in enumerate(cheapest_cuts(costs, 16), 1):
        every = [(*few, count - 1) for few in combinations(range(count - 1), number - 1)]
        assert len(cut) == number
        assert cost(tuple(cut)) == min(map(cost, every))


@pytest.mark.parametrize("seed", range(4))
def test_range_peaks_are_those_of_following_every_range(seed: int) -> None:
    bounds = [8, 40, 64, 200, 300]
    events = random_events([0, 3, 8, 9, 40, 64, 100, 200, 250, 500], seed, 300)
    # A resize to 0 is a free.
    events = [(op, number, max(size, 1) if op == RESIZE else size) for op, number, size in events]
    expected = np.zeros((5, 5), np.uint32)
    live: dict[int, int] = {}
    for op, number, size in events:
        if op == FREE:
            del live[number]
        else:
            live[number] = max(size, 1)
        for i in range(5):
            for j in range(i, 5):
                above = bounds[i - 1] if i else 0
                count = sum(above < one <= bounds[j] for one in live.values())
                expected[i, j] = max(expected[i, j], count)
    found = _engine.range_peaks(event_array(events), bounds)
    assert (found.reshape(5, 5) == expected).all()


def test_bounds_must_ascend() -> None:
    with pytest.raises(HeapfitError, match="range peaks: the bounds do not ascend"):
        _engine.range_peaks(_engine.EventArray(), [8, 8])


def test_of_many_sizes_those_with_most_live_bytes_may_be_classes(tmp_path: Path) -> None:
    draw = random.Random(1)
    events = [(ALLOC, i, 8 * draw.randrange(1, 2000)) for i in range(3000)]
    events += [(ALLOC, 3000 + i, 8008) for i in range(20000)]
    best = best_classes(stored(events, tmp_path))
    assert best.bounds <= 256 < best.sizes
    assert 8008 in best.least_peaks[-1].sizes
    largest = max(size for _, _, size in events)
    assert {one.sizes[-1] for one in best.least_peaks} == {largest}


def test_no_seven_classes_waste_more_than_the_ten_percent_rules_seven(tmp_path: Path) -> None:
    loaded = load_trace(open_any(bimodal(tmp_path / "p.heap", 4000), ImportOptions(), tmp_path))
    special = special_sizes(loaded.profile)
    plan = special_pools_plan("class_pools", loaded.events, pool_sizes(special, 1500), 8)
    rule = classes_of(plan, loaded.profile)
    best = best_classes(loaded)
    assert len(rule.sizes) == 7
    assert best.least_waste[6].waste < rule.waste
    assert best.least_peaks[6].peaks < rule.peaks
    assert rule.peaks == sum(pool.count * -(-pool.size // 8) * 8 for pool in plan.pools)


def test_fit_tries_the_best_classes(tmp_path: Path) -> None:
    bimodal(tmp_path / "p.heap")
    content = fit_json("p.heap", "--plans", "plans", folder=tmp_path)["plans"]
    best = best_classes(load_trace(open_any(tmp_path / "p.heap", ImportOptions(), tmp_path)))
    (row,) = [row for row in content["rows"] if row["name"] == "class_pools_least_peaks"]
    fewest = min(one.peaks for one in best.least_peaks)
    blocks = sum(pool["size"] * pool["count"] for pool in row["plan"]["pools"])
    assert blocks == fewest
    assert row["r_safe"] >= fewest


def test_nothing_is_cut_into_nothing() -> None:
    assert cheapest_cuts(np.zeros((0, 0), np.int64), 16) == []


def test_pools_that_end_beyond_2_gib_are_left_out_of_the_designs(tmp_path: Path) -> None:
    loaded = stored([(ALLOC, born, (1 << 28) + born % 2) for born in range(9)], tmp_path)
    options = PlanOptions(budgets=BudgetChoice(methods=(), seconds=0, replayed_events=0))
    portfolios = standard_portfolio(loaded, options), robust_portfolio(loaded, options)
    for portfolio in portfolios:
        whys = [one.name for one in portfolio.not_applicable if "end below 2 GiB" in one.why]
        assert len(whys) >= 2, portfolio.not_applicable
