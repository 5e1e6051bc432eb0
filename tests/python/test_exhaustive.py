# SPDX-License-Identifier: Apache-2.0
"""R_safe against replays in every region there is: no printed region lies below one that fails."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_traces import event_array

from heapfit import _engine
from heapfit.comparison.candidate import Candidate
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.measuring import measure_candidate
from heapfit.comparison.row import Row
from heapfit.plan.allocators import find_allocators
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import ALLOC, FREE, RESIZE
from heapfit.trace.profile import profile_events

BENCH = Path(__file__).parents[2] / "bench/exhaustive.py"
TRACES = 200
POOLS = (Pool(16, 4, True), Pool(40, 3, True), Pool(100, 2, True))
RANGES = (Pool(32, 4, False), Pool(104, 3, False))

# What allocators need, in the ways that place blocks most differently.
WAYS = {
    "first_fit": (
        Plan("first_fit"),
        Plan("first_fit", {"list": 2}),
        Plan("first_fit", {"list": 1, "header_size": 8, "least_split": 17}),  # heap_4
    ),
    "segregated_fit": (Plan("segregated_fit"), Plan("segregated_fit", {"upward": 1})),
    "tlsf": (Plan("tlsf"), Plan("tlsf", {"alignment": 4, "second_level": 3})),
    "best_fit": (Plan("best_fit"), Plan("best_fit", {"alignment": 4})),
    "tailored": (
        Plan("tailored"),
        Plan("tailored", {"layout": 1, "hole_limit": 4}),
        Plan("tailored", {"layout": 2}),
        Plan("tailored", {"alignment": 4}),
    ),
    "class_pools": (
        Plan("class_pools", {"overflow": 1}, RANGES, Plan("tlsf")),
        Plan("class_pools", {"search": 1}, RANGES, Plan("best_fit")),
    ),
    "budgeted": (
        Plan("budgeted", {}, POOLS, Plan("tlsf")),
        Plan("budgeted", {}, POOLS, Plan("first_fit")),
    ),
    "fixed_pool": (Plan("fixed_pool", {"block_size": 400, "blocks": 40}),),
    "partition_pool": (Plan("partition_pool", {"partition_size": 32, "partitions": 200}),),
    "chained_pool": (Plan("chained_pool", {"partition_size": 32, "partitions": 200}),),
}
SHIPPED = [info.name for info in find_allocators() if info.ships]
PLANS = {name: WAYS.get(name, (Plan(name),)) for name in SHIPPED}


def drawn(seed: int) -> _engine.EventArray:
    """A small trace of few or many sizes."""
    draw = random.Random(seed)
    sizes = [draw.randrange(1, draw.choice([60, 400])) for _ in range(draw.randrange(2, 9))]
    most = draw.randrange(4, 40)
    live: dict[int, int] = {}
    rows: list[tuple[int, int, int]] = []
    born = 0
    for _ in range(draw.randrange(20, 120)):
        what = draw.random()
        if live and (len(live) == most or what < 0.4):
            freed = draw.choice(list(live))
            del live[freed]
            rows.append((FREE, freed, 0))
        elif live and what < 0.5:
            resized = draw.choice(list(live))
            live[resized] = draw.choice(sizes)
            rows.append((RESIZE, resized, live[resized]))
        else:
            live[born] = draw.choice(sizes)
            rows.append((ALLOC, born, live[born]))
            born += 1
    return event_array(rows)


def printed(plan: Plan, events: _engine.EventArray) -> Row:
    """The row as a comparison of this plan alone has it."""
    candidate = Candidate("one", Heap("one", plan), "", trained_on_this_trace=False)
    no_file, no_sites = None, np.zeros(0, np.uint32)
    loaded = LoadedTrace(no_file, events, no_sites, "", profile_events(events), 16)
    return measure_candidate(candidate, loaded, base_alignment=16)


@pytest.mark.parametrize("allocator", PLANS)
def test_no_printed_region_lies_below_one_that_fails(allocator: str) -> None:
    known = 0
    for seed in range(TRACES):
        events = drawn(seed)
        plan = PLANS[allocator][seed % len(PLANS[allocator])]
        row = printed(plan, events)
        trial = _engine.Trial(plan.engine(), events, 16)
        assert row.is_exhaustive
        if row.r_safe is None or row.r_min is None:
            assert not trial.run(1 << 20).runs, f"seed {seed}"
            continue
        known += 1
        regions = range(row.r_safe, 2 * row.r_safe, 8)
        failing = [region for region in regions if not trial.run(region).runs]
        assert not failing, f"seed {seed}: R_safe {row.r_safe}, fails in {failing}"
        assert trial.run(row.r_min).runs
        if row.step:
            below = range(row.r_min - 8, max(trial.smallest_region, row.r_min * 9 // 10), -8)
            assert not any(trial.run(region).runs for region in below), f"seed {seed}"
        last = row.r_safe - 8
        assert last < trial.smallest_region or not trial.run(last).runs, f"seed {seed}"
    assert known > TRACES // 4


def bench(only: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "HEAPFIT_CORPUS"}
    return subprocess.run(
        [sys.executable, BENCH, "--only", only],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=300,
    )
