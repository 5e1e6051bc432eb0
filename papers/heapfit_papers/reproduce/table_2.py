# SPDX-License-Identifier: Apache-2.0
"""The eleven allocators of Lee and Yi 2008 on the workloads of table 2.

The paper tells sizes and P_i,max, and that arrivals are of the synthetic models of Zorn and
Grunwald 1994, but not which. So several are run (docs/evidence/workloads.md): a capped walk, which
the other rows take too; phases; and those of their models that draw one of several sizes. MEAN
draws sizes about one mean, so it cannot have table 2's. The length is not told either.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from heapfit import _engine
from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.comparison import compare
from heapfit.comparison.incumbents.heap import Heap
from heapfit.design.budgets.greedy_budgets import plan_from_budgets
from heapfit.design.pools.static_pools import block_sizes
from heapfit.design.portfolio import build_portfolio
from heapfit.plan.plan import Plan
from heapfit.simulation.scheme import Scheme
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.origin import WorkloadSpec
from heapfit.workloads.synthetic import generate_workload
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import figure

WORKLOADS = (1, 2, 3, 4, 5)
BUDGETED, STATIC, LEA, TLSF = "budgeted", "static_pools", "lea", "tlsf"
TESTS = tuple(f"djgpp_test{number}" for number in range(1, 7))
OTHERS = (TLSF, LEA, "kingsley", *TESTS, STATIC)
ALLOCATORS = (BUDGETED, *OTHERS)
LEA_STEP = 1 << 16  # bytes that dlmalloc gets from the system at a time, its own default
EVENTS = 100_000  # the workloads' own standard
SMALL_EVENTS = 10_000
OTHER_LENGTHS = (1000, 10_000)
WALK, PHASES = "walk", "phases"
MODELS = (WALK, PHASES, "zg_cdf", "zg_size", "zg_markov", "zg_time")
# They take memory from the low-level allocator as they need it, so one run tells R_max.
GROWING = (LEA, "kingsley", *(f"djgpp_test{number}" for number in (1, 2, 3, 6)))
FRACTIONS = (0, 0.25, 0.5, 0.75, 1)  # of the greedy N_i
_PLENTY = 1 << 22  # bytes, for workload 4
_HEADER = 4  # bytes before each block of TLSF


@dataclass(frozen=True, slots=True)
class Case:
    """A trace of table 2 by its workload, model and seed."""

    workload: int
    seed: int
    events: int = EVENTS
    sizes: tuple[int, ...] = ()  # instead of the table's
    model: str = WALK


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
class Shrunk:
    """TLSF by trial and error, and by the search. Bytes."""

    reached: int  # 8 B smaller a request fails; so every region from here on was tried
    r_safe: int
    step: int  # of the search


@dataclass(frozen=True, slots=True)
class Obtained:
    """What an allocator obtained of plenty, and whether that is what it needs."""

    allocator: str
    high_water: int  # bytes, rounded up to a region's 8
    runs_in_that: bool
    runs_in_less: bool  # by 8 B


@dataclass(frozen=True, slots=True)
class Fractions:
    """R of budgeted with fractions of the greedy budgets, and H with all of them. Bytes."""

    case: Case
    u_max: int
    regions: tuple[int, ...]  # R_safe, by FRACTIONS
    overhead: int


def measure_case(case: Case) -> Measured:
    """Draws the trace and searches each allocator's region."""
    loaded = _load(case)
    sizes = loaded.profile.sizes.tolist()
    budgets = greedy_plan(loaded)
    named = build_portfolio(loaded, OTHERS, [])
    portfolio = Portfolio(
        (*named.candidates, Candidate(BUDGETED, Heap(BUDGETED, budgets), "", True)), ()
    )
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
    """Every workload as a walk of the usual length, by seed."""
    seeds = (1,) if laboratory.is_small else (1, 2, 3, 4, 5)
    events = SMALL_EVENTS if laboratory.is_small else EVENTS
    cases = [Case(number, seed, events) for number in WORKLOADS for seed in seeds]
    return laboratory.map("table 2", measure_case, cases)


def other_models(laboratory: Laboratory) -> list[Measured]:
    """Every workload by the other models, a seed each."""
    events = SMALL_EVENTS if laboratory.is_small else EVENTS
    cases = [
        Case(number, 1, events, model=model)
        for model in MODELS
        if model != WALK
        for number in WORKLOADS
    ]
    return laboratory.map("table 2, other models", measure_case, cases)


def other_lengths(laboratory: Laboratory) -> list[Measured]:
    """Measures shorter walks."""
    cases = [Case(number, 1, events) for events in OTHER_LENGTHS for number in WORKLOADS]
    return laboratory.map("table 2, other lengths", measure_case, cases)


def shrink_heap(case: Case) -> Shrunk:
    """TLSF's heap made smaller by 8 B until a request fails, from a tenth above R_safe."""
    trial = _trial_of(Plan(TLSF), case)
    search = trial.scan()
    assert search.r_safe is not None
    unit = _engine.REGION_UNIT
    reached = search.r_safe + search.r_safe // 10 // unit * unit
    while not trial.run(reached).runs:
        reached += unit
    while trial.run(reached - unit).runs:
        reached -= unit
    return Shrunk(reached, search.r_safe, search.step)


def measure_in_plenty(one: tuple[str, Case]) -> Obtained:
    """Runs an allocator on a case in plenty of memory, in what it took, and in 8 B less."""
    allocator, case = one
    trial = _trial_of(Plan(allocator), case)
    unit = _engine.REGION_UNIT
    high_water = -(-trial.run(_PLENTY).footprint // unit) * unit
    return Obtained(
        allocator, high_water, trial.run(high_water).runs, trial.run(high_water - unit).runs
    )


def measure_fractions(case: Case) -> Fractions:
    """Budgeted with some of its budgets, and with all."""
    loaded = _load(case)
    classes = block_sizes(loaded.profile, loaded.alignment)
    greedy = _engine.greedy_budgets(loaded.events, classes, loaded.alignment)
    regions = []
    for fraction in FRACTIONS:
        counts = [int(count * fraction) for count in greedy]
        plan = plan_from_budgets(classes, counts, loaded.alignment) or Plan(TLSF)
        regions.append(_engine.Trial(plan.engine(), loaded.events).scan().r_safe or 0)
    idle = Scheme(BUDGETED, plan, regions[-1])
    return Fractions(
        case,
        loaded.profile.u_max,
        tuple(regions),
        idle.region - idle.capacity() + _HEADER * _count_shared(loaded, plan),
    )


def relative(some: list[Measured], workload: int, allocator: str) -> float:
    """Mean R over that of budgeted, as figure 5 has it."""
    mine = [one for one in some if one.case.workload == workload]
    return mean(one.region(allocator) / one.region(BUDGETED) for one in mine)


def greedy_plan(loaded: LoadedTrace) -> Plan:
    """The paper's budgets for every size of the trace, over TLSF."""
    classes = block_sizes(loaded.profile, loaded.alignment)
    counts = _engine.greedy_budgets(loaded.events, classes, loaded.alignment)
    plan = plan_from_budgets(classes, counts, loaded.alignment)
    assert plan is not None, "a trace without any budget"
    return plan


def _count_shared(loaded: LoadedTrace, plan: Plan) -> int:
    """Counts the blocks that are in the shared part at once, at most."""
    budgets = {pool.size: pool.count for pool in plan.pools}
    peaks = zip(loaded.profile.sizes.tolist(), loaded.profile.peaks.tolist(), strict=True)
    alignment = loaded.alignment
    return sum(peak - budgets.get(-(-size // alignment) * alignment, 0) for size, peak in peaks)


def _trial_of(plan: Plan, case: Case) -> _engine.Trial:
    return _engine.Trial(plan.engine(), _load(case).events)


def _load(case: Case) -> LoadedTrace:
    own = {WALK: f"t2_w{case.workload}", PHASES: f"phases_w{case.workload}"}
    table = tuple(int(size) for size in figure("003-10", f"w{case.workload}").numbers)
    sizes = {f"size_{i}": size for i, size in enumerate(case.sizes or table, 1)}
    name = own.get(case.model, case.model)
    spec = WorkloadSpec(name, case.seed, {"events": case.events, **sizes})
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        return load_trace(generate_workload(spec, Path(folder) / "trace.parquet"))
