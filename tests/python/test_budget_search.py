# SPDX-License-Identifier: Apache-2.0
"""Budgets with a certificate, and classes of sizes against every choice of them."""

import random
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import packet_pools
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_traces import bimodal, event_array, load_lines, random_calls

from heapfit import _engine
from heapfit.design.budgets.certified import Method, find_budgets
from heapfit.design.effort import Effort
from heapfit.design.plan_options import PlanOptions
from heapfit.design.pools.best_classes import best_classes, cheapest_cuts
from heapfit.design.portfolio import standard_portfolio
from heapfit.design.robust.portfolio import robust_portfolio
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.operations import ALLOC, FREE, RESIZE

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


def test_where_the_search_ends_early_the_best_found_and_a_bound_are_told() -> None:
    sizes = [8 * k for k in range(3, 43)]
    events = walk(sizes, 10, 20_000, 1)
    greedy = find_budgets(events, sizes, alignment=8, method=Method.GREEDY)
    found = find_budgets(events, sizes, alignment=8)
    assert greedy.dedicated < found.dedicated < found.bound <= greedy.bound
    assert "at most" in found.account
    assert "below the best" in found.account


# ---- classes of sizes

Event = tuple[int, int, int]  # op, object, size


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
    events = random_calls(seed, 200, sizes)
    loaded = stored(events, tmp_path)
    best = best_classes(loaded)
    bounds = sorted({-(-size // 8) * 8 for _, _, size in events if size})
    least_waste = packet_pools.least_waste(loaded, 16)
    assert len(bounds) == len(best) == len(least_waste)
    for count in range(1, len(bounds) + 1):
        choices = [(*few, bounds[-1]) for few in combinations(bounds[:-1], count - 1)]
        peaks, sizes_of_least = best[count - 1]
        assert peaks == min(peaks_by_counting(events, one) for one in choices)
        assert peaks == peaks_by_counting(events, sizes_of_least)
        assert waste_by_counting(events, tuple(least_waste[count - 1])) == pytest.approx(
            min(waste_by_counting(events, one) for one in choices)
        )


@settings(max_examples=80, derandomize=True)
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
    events = random_calls(seed, 300, [0, 3, 8, 9, 40, 64, 100, 200, 250, 500])
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


def test_fit_tries_the_classes_whose_pools_take_least(tmp_path: Path) -> None:
    loaded = load_trace(open_any(bimodal(tmp_path / "p.heap"), ImportOptions(), tmp_path))
    fewest, _ = min(best_classes(loaded))
    plan = standard_portfolio(loaded, PlanOptions(effort=Effort.QUICK)).plan(
        "class_pools_least_peaks"
    )
    assert plan is not None
    assert sum(pool.size * pool.count for pool in plan.pools) == fewest


def test_pools_that_end_beyond_2_gib_are_left_out_of_the_designs(tmp_path: Path) -> None:
    loaded = stored([(ALLOC, born, (1 << 28) + born % 2) for born in range(9)], tmp_path)
    options = PlanOptions(effort=Effort.QUICK)
    portfolios = standard_portfolio(loaded, options), robust_portfolio(loaded, options)
    for portfolio in portfolios:
        whys = [one.name for one in portfolio.not_applicable if "end below 2 GiB" in one.why]
        assert len(whys) >= 2, portfolio.not_applicable
