# SPDX-License-Identifier: Apache-2.0
"""The eleven allocators of Lee and Yi 2008 on the workloads of table 2.

The paper tells sizes and P_i,max; arrivals are a capped walk here (docs/workloads.md), and its
length is not told either, so several are run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from heapfit import _engine
from heapfit.compare.candidate import Candidate, Portfolio
from heapfit.compare.comparison import compare
from heapfit.design.budgets.greedy_budgets import budgeted_plan
from heapfit.design.pools.static_pools import size_classes
from heapfit.design.portfolio import named_portfolio
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.workloads.synthetic import WorkloadSpec, generate_workload
from heapfit_papers.reproduce.laboratory import Laboratory

WORKLOADS = (1, 2, 3, 4, 5)
BUDGETED, STATIC, LEA, TLSF = "budgeted", "static_pools", "lea", "tlsf"
TESTS = tuple(f"djgpp_test{number}" for number in range(1, 7))
OTHERS = (TLSF, LEA, "kingsley", *TESTS, STATIC)
ALLOCATORS = (BUDGETED, *OTHERS)
LEA_STEP = 1 << 16  # bytes that dlmalloc gets from the system at a time, its own default
EVENTS = 100_000  # the workloads' own standard
OTHER_LENGTHS = (1000, 10_000)


@dataclass(frozen=True, slots=True)
class Case:
    """One trace."""

    workload: int
    seed: int
    events: int = EVENTS
    sizes: tuple[int, ...] = ()  # instead of the table's


@dataclass(frozen=True, slots=True)
class Need:
    """What one allocator takes. Bytes."""

    region: int  # R_safe, all of it charged
    high_water: int


@dataclass(frozen=True, slots=True)
class Measured:
    """One trace by all allocators. Bytes."""

    case: Case
    u_max: int
    worst_case: int  # sum of S_i P_i,max
    peaks: tuple[int, ...]  # P_i,max, sizes descending
    dedicated: int  # sum of S_i N_i
    needs: Mapping[str, Need]

    def region(self, allocator: str) -> int:
        """R of one allocator."""
        return self.needs[allocator].region


@dataclass(frozen=True, slots=True)
class Trial:
    """What trial and error finds, and what the search does. Bytes."""

    reached: int
    r_safe: int
    r_min: int
    step: int


def measured(case: Case) -> Measured:
    """Draws the trace and searches each allocator's region."""
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        loaded = _load_walk(case, Path(folder))
    sizes = loaded.profile.sizes.tolist()
    budgets = greedy_plan(loaded)
    named = named_portfolio(loaded, OTHERS, [])
    portfolio = Portfolio((*named.candidates, Candidate(BUDGETED, budgets, "", True)), ())
    rows = compare(loaded, portfolio).rows
    peaks = loaded.profile.peaks.tolist()
    return Measured(
        case,
        loaded.profile.u_max,
        sum(size * peak for size, peak in zip(sizes, peaks, strict=True)),
        tuple(reversed(peaks)),
        sum(pool.size * pool.count for pool in budgets.pools),
        {row.name: Need(row.r_safe or 0, row.footprint or 0) for row in rows},
    )


def table_2(laboratory: Laboratory) -> list[Measured]:
    """Every workload at the usual length, by seed."""
    seeds = (1, 2) if laboratory.is_small else (1, 2, 3, 4, 5)
    cases = [Case(number, seed) for number in WORKLOADS for seed in seeds]
    return laboratory.map("table 2", measured, cases)


def other_lengths(laboratory: Laboratory) -> list[Measured]:
    """Shorter walks."""
    cases = [Case(number, 1, events) for events in OTHER_LENGTHS for number in WORKLOADS]
    return laboratory.map("table 2, other lengths", measured, cases)


def trial_and_error(case: Case) -> Trial:
    """TLSF's heap made smaller, by the step of the scan, until a request fails."""
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        loaded = _load_walk(case, Path(folder))
    plan = _engine.Plan(TLSF)
    search = _engine.Trial(plan, loaded.events).scan()
    assert search.r_safe is not None
    assert search.r_min is not None
    scanned = sorted(zip(search.sizes.tolist(), search.succeeded.tolist(), strict=True))
    reached = scanned[-1][0]
    for size, succeeds in reversed(scanned):
        if not succeeds:
            break
        reached = size
    return Trial(reached, search.r_safe, search.r_min, search.step)


def relative(some: list[Measured], workload: int, allocator: str) -> float:
    """Mean R over that of budgeted, as figure 5 has it."""
    mine = [one for one in some if one.case.workload == workload]
    return mean(one.region(allocator) / one.region(BUDGETED) for one in mine)


def greedy_plan(loaded: LoadedTrace) -> Plan:
    """The paper's budgets for every size of the trace, over TLSF."""
    classes = size_classes(loaded.profile, loaded.alignment)
    counts = _engine.greedy_budgets(loaded.events, classes, loaded.alignment)
    plan = budgeted_plan(classes, counts, loaded.alignment)
    assert plan is not None, "a trace without any budget"
    return plan


def _load_walk(case: Case, folder: Path) -> LoadedTrace:
    sizes = {f"size_{i}": size for i, size in enumerate(case.sizes, 1)}
    spec = WorkloadSpec(f"t2_w{case.workload}", case.seed, {"events": case.events, **sizes})
    return load_trace(generate_workload(spec, folder / "walk.parquet"))
