# SPDX-License-Identifier: Apache-2.0
"""Lee and Yi's budgets: the classes chosen, and N_i against figure 4 taken literally."""

import random

import numpy as np
import pytest

from heapfit import _engine
from heapfit.design.budgets.greedy_budgets import (
    classes_with_most,
    plan_from_budgets,
)
from heapfit.trace.loaded import live_sizes_at

SIZES = (16, 24, 40, 64, 104)
Event = tuple[int, int, int]  # op, object, size
ALLOC, RESIZE, FREE = 0, 3, 4


def random_events(seed: int, count: int) -> list[Event]:
    """Allocations, resizes and frees; half of the sizes are in SIZES once rounded up to 8."""
    draw = random.Random(seed)
    live: list[int] = []
    born = 0
    events: list[Event] = []
    for _ in range(count):
        size = draw.choice(SIZES) - draw.choice((0, 0, 3)) if draw.random() < 0.7 else 200
        action = draw.random()
        if not live or action < 0.5:
            events.append((ALLOC, born, size))
            live.append(born)
            born += 1
        elif action < 0.6:
            events.append((RESIZE, draw.choice(live), size))
        else:
            events.append((FREE, live.pop(draw.randrange(len(live))), 0))
    return events


def engine_events(events: list[Event]) -> _engine.EventArray:
    array = _engine.EventArray()
    ops, objects, sizes = zip(*events, strict=True)
    array.append(
        np.array(ops, np.uint8), np.array(objects, np.uint32), np.array(sizes, np.uint64), None
    )
    return array


def rounded(size: int) -> int:
    return -(-max(size, 1) // 8) * 8


def states(events: list[Event]) -> list[list[int]]:
    """The rounded sizes live after every event."""
    live: dict[int, int] = {}
    after = []
    for op, object_number, size in events:
        if op == FREE:
            del live[object_number]
        else:
            live[object_number] = rounded(size)
        after.append(list(live.values()))
    return after


def greedy_by_the_paper(events: list[Event], sizes: list[int]) -> list[int]:
    """Figure 4: sizes in decreasing order, each as many as never lift U^B(t) above U_max."""
    after = states(events)
    u_max = max(sum(state) for state in after)
    budgets: dict[int, int] = {}
    for size in sorted(sizes, reverse=True):
        most = max(state.count(size) for state in after)
        fitting = [
            n
            for n in range(most + 1)
            if all(budgeted_bytes(state, {**budgets, size: n}) <= u_max for state in after)
        ]
        budgets[size] = max(fitting)
    return [budgets[size] for size in sizes]


def budgeted_bytes(state: list[int], budgets: dict[int, int]) -> int:
    """U^B(t), equation 4."""
    unused = [size * max(0, n - state.count(size)) for size, n in budgets.items()]
    return sum(state) + sum(unused)


@pytest.mark.parametrize("seed", range(12))
def test_greedy_budgets_are_those_of_the_papers_definition(seed: int) -> None:
    events = random_events(seed, 150)
    budgets = _engine.greedy_budgets(engine_events(events), list(SIZES), 8)
    assert list(budgets) == greedy_by_the_paper(events, list(SIZES))


def test_a_plan_keeps_no_empty_budget() -> None:
    # 64 bytes are live only after the peak of 1000 + 128, which a bucket of 64 would raise.
    events = engine_events([(ALLOC, 0, 1000), (ALLOC, 1, 128), (FREE, 0, 0), (ALLOC, 2, 64)])
    sizes = [64, 128]
    plan = plan_from_budgets(sizes, _engine.greedy_budgets(events, sizes, 8), 8)
    assert plan is not None
    assert [(pool.size, pool.count) for pool in plan.pools] == [(128, 1)]


def test_no_budget_means_no_plan() -> None:
    counts = _engine.greedy_budgets(engine_events([(ALLOC, 0, 64)]), [128], 8)
    assert plan_from_budgets([128], counts, 8) is None


def test_sizes_of_one_class_are_weighed_together() -> None:
    sizes = np.array([33, 37, 40, 64], np.uint64)
    weights = np.array([2, 2, 2, 5], np.uint64)
    assert classes_with_most(sizes, weights, 8, 1) == [40]
    assert classes_with_most(sizes, weights, 8, 4) == [40, 64]
    assert classes_with_most(sizes, weights, 4, 1) == [64]


def test_of_equal_weights_the_smaller_class_is_chosen() -> None:
    sizes = np.array([8, 16, 24], np.uint64)
    assert classes_with_most(sizes, np.array([1, 1, 1], np.uint64), 8, 2) == [8, 16]


def test_a_size_without_weight_is_not_chosen() -> None:
    sizes = np.array([8, 16], np.uint64)
    assert classes_with_most(sizes, np.array([0, 1], np.uint64), 8, 2) == [16]


@pytest.mark.parametrize("event", [0, 41, 149])
def test_what_is_live_at_an_event_is_what_was_asked_for_last(event: int) -> None:
    events = random_events(99, 150)
    sizes, counts = live_sizes_at(engine_events(events), event)
    live: dict[int, int] = {}
    for _, object_number, size in events[: event + 1]:
        live[object_number] = size
    expected = [size for size in live.values() if size > 0]
    assert dict(zip(sizes.tolist(), counts.tolist(), strict=True)) == {
        size: expected.count(size) for size in sorted(set(expected))
    }
