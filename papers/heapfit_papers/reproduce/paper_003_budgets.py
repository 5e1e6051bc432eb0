# SPDX-License-Identifier: Apache-2.0
"""Lee and Yi 2008, rows 1 to 9: the allocator, its profile, and budgets greedy and exhaustive."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from heapfit import _engine
from heapfit.plan.plan import Plan, Pool
from heapfit_papers.reproduce.finding import Finding, Verdict, holds, near, unknown
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import figure
from heapfit_papers.reproduce.row import Row, Rows
from heapfit_papers.reproduce.small_heap import events_of, refusals
from heapfit_papers.reproduce.table_1 import (
    FEW,
    SEEDS,
    Budgeting,
    Shape,
    budgeting,
    count_combinations,
    sizes_of,
)
from heapfit_papers.reproduce.table_2 import (
    FRACTIONS,
    GROWING,
    WORKLOADS,
    Case,
    Fractions,
    Obtained,
    measure_fractions,
    measure_in_plenty,
)
from heapfit_papers.reproduce.walks import (
    Counts,
    Walked,
    count_greedy_steps,
    draw_capped_walk,
    greedy_by_the_equations,
    trace_walk,
)

_PAIR = (Pool(528, 1, True), Pool(1040, 1, True))
_REGION = 1 << 14
_EVENTS = 2000
_LIMIT = 10  # P_i,max of table 2
_SHORT = 200  # events, where steps are counted
_STEP_SIZES = (2, 4, 8, 16)  # n, where steps are counted
_INFEASIBLE = 10**9  # combinations: a quarter of an hour at a million a second
_IGNORED = 0.01  # of R; a ninth of the least saving that the paper reports


def two_buckets(_: Laboratory) -> dict[str, int]:
    """What a heap of two buckets, 528 and 1040 B, does.

    Bytes lost inside both blocks when both are live; refusals of a second block of 528 B beside a
    free one of 1040 B, alone and with TLSF behind.
    """
    alone = Plan("budgeted", pools=_PAIR)
    shared = Plan("budgeted", pools=_PAIR, shared=Plan("tlsf"))
    replay = _engine.Replay(alone.engine(), alone.engine().smallest_region)
    replay.feed(events_of([528, 1040]))
    return {
        "lost": replay.result().internal_peak,
        "refused_alone": refusals(alone, [528, 528, 1040]),
        "refused_shared": refusals(shared, [528, 528, 1040], _REGION),
    }


def judge_dedication(found: Mapping[str, int]) -> list[Finding]:
    """Row 1: the bytes that dedicated blocks lose, and where a request without one goes."""
    facts = (
        "of a second block of 528 B beside a free one of 1040 B, buckets alone refuse "
        f"{found['refused_alone']}; with TLSF behind them {found['refused_shared']}"
    )
    is_so = (found["refused_alone"], found["refused_shared"]) == (1, 0)
    return [
        near("003-1", "dedicated", float(found["lost"])),
        holds("003-1", "miss", is_so, facts),
    ]


def measure_freed_blocks(_: Laboratory) -> dict[str, int]:
    """What two buckets refuse: of both sizes again, both blocks freed; of 1040 B, 528 B freed.

    No heap is behind, so that a block can come from its own stack only.
    """
    plan = Plan("budgeted", pools=_PAIR)
    return {
        "own": refusals(plan, [528, 1040, -0, -1, 528, 1040]),
        "other": refusals(plan, [528, 1040, -0, 1040]),
    }


def free_by_range(found: Mapping[str, int]) -> list[Finding]:
    facts = (
        f"of both blocks freed and asked for again, {found['own']} are refused; of 1040 B after a "
        f"free of 528 B, {found['other']}"
    )
    return [holds("003-2", "pointer", (found["own"], found["other"]) == (0, 1), facts)]


def measure_growing(laboratory: Laboratory) -> list[Obtained]:
    """What each allocator that grows as it needs took of plenty on workload 4."""
    return laboratory.map(
        "R_max", measure_in_plenty, [(name, Case(4, 1, 10_000)) for name in GROWING]
    )


def low_level(found: Sequence[Obtained]) -> list[Finding]:
    """Row 3: what was obtained of plenty is what is needed: it runs in that, and not in less."""
    same = sum(one.runs_in_that and not one.runs_in_less for one in found)
    facts = (
        f"{same} of {len(found)} allocators that take memory as they need it run in what they "
        "took of plenty, and not in 8 B less"
    )
    why = (
        "On workload 4, control structures charged. TLSF, test4 and test5 know their region's end."
    )
    return [holds("003-3", "maximum", same == len(found), facts, why)]


@dataclass(frozen=True, slots=True)
class Profiled:
    """P_4(t) of workload 4, a row for each event: by hand, and as the engine's series tells it."""

    live: Counts
    lowest: Counts  # before or after the event
    highest: Counts
    bucket_width: int  # events


def profile(_: Laboratory) -> Profiled:
    walk = draw_capped_walk(_sizes(4), _LIMIT, _EVENTS, 1)
    series = _engine.SizeSeries(_sizes(4), _EVENTS)
    series.feed(walk.events)
    result = series.result()
    lowest, highest = (
        np.array([pair[which] for pair in result.blocks], np.int64).T for which in (0, 1)
    )
    return Profiled(walk.live, lowest, highest, result.bucket_width)


def same_profile(found: Profiled) -> list[Finding]:
    """Row 4: each event's P_i(t) before and after it, which a series tells as its extremes."""
    live = found.live
    before = np.vstack([np.zeros_like(live[:1]), live[:-1]])
    equal = (
        found.bucket_width == 1
        and np.array_equal(found.lowest, np.minimum(before, live))
        and np.array_equal(found.highest, np.maximum(before, live))
    )
    facts = f"{live.shape[1]} sizes at each of {len(live):,} events"
    return [holds("003-4", "profile", equal, facts)]


@dataclass(frozen=True, slots=True)
class Budgeted:
    """Greedy budgets of a walk, and what they do to it."""

    budgets: Sequence[int]  # N_i
    peaks: Sequence[int]  # P_i,max
    u_max: int  # bytes
    raised: int  # U^B_max, bytes


@dataclass(frozen=True, slots=True)
class Equations:
    """What equations 1 to 7 are judged by, by workload."""

    budgeted: Sequence[Budgeted]
    fractions: Sequence[Fractions]


def equations(laboratory: Laboratory) -> Equations:
    found = []
    for walk in _table_2_walks():
        budgets = walk.greedy()
        raised = int(walk.compute_used(budgets).max())
        found.append(Budgeted(budgets, walk.peaks.tolist(), walk.u_max, raised))
    cases = [Case(number, 1, 10_000) for number in WORKLOADS]
    return Equations(found, laboratory.map("budgets in quarters", measure_fractions, cases))


def constraints(found: Equations) -> list[Finding]:
    kept = all(
        one.raised <= one.u_max
        and all(n <= peak for n, peak in zip(one.budgets, one.peaks, strict=True))
        for one in found.budgeted
    )
    tightest = max(one.raised / one.u_max for one in found.budgeted)
    facts = f"U^B_max is at most {tightest:.3f} U_max on workloads 1 to 5, N_i at most P_i,max"
    return [
        holds("003-5", "constraints", kept, facts),
        _overhead_ignored(found.fractions),
        _fragmentation_falls(found.fractions),
    ]


def _overhead_ignored(fractions: Sequence[Fractions]) -> Finding:
    shares = [one.overhead / one.regions[-1] for one in fractions]
    facts = ", ".join(
        f"w{one.case.workload} {one.overhead:,} B, {share:.2%} of R"
        for one, share in zip(fractions, shares, strict=True)
    )
    why = "Control structures, and 4 B before each block of the shared part."
    return holds("003-5", "overhead", max(shares) < _IGNORED, facts, why)


def _fragmentation_falls(fractions: Sequence[Fractions]) -> Finding:
    """Judges the fall of F by R over U_max, as U^B_max stays U_max and H hardly moves."""
    over = {one.case.workload: [r / one.u_max - 1 for r in one.regions] for one in fractions}
    always = [n for n, some in over.items() if all(b < a for a, b in pairwise(some))]
    ends = [n for n, some in over.items() if some[-1] < some[0]]
    shown = "; ".join(f"w{n} {', '.join(f'{one:.1%}' for one in some)}" for n, some in over.items())
    quarters = ", ".join(f"{fraction:.0%}" for fraction in FRACTIONS)
    why = (
        f"With {quarters} of the greedy N_i. It falls at every quarter on {len(always)} of "
        f"{len(over)} workloads, from none to all of them on {len(ends)}."
    )
    is_so = len(always) == len(over)
    return holds("003-5", "fragmentation", is_so, f"R over U_max is above it by {shown}", why)


def example_budgets(_: Laboratory) -> dict[str, int]:
    """U(t) of three sizes with two budgets for the largest. Bytes and blocks.

    N_1 as at the peak, with U^B_max; and N_1 that the greedy algorithm finds, with that.
    """
    walk = example_walk()
    at_peak = int(walk.live[int(walk.used.argmax())][0])
    smaller = walk.greedy()[0]
    raised, kept = (int(walk.compute_used([n, 0, 0]).max()) for n in (at_peak, smaller))
    return {
        "u_max": walk.u_max,
        "at_peak": at_peak,
        "raised": raised,
        "smaller": smaller,
        "kept": kept,
    }


def example(found: Mapping[str, int]) -> list[Finding]:
    facts = (
        f"U_max {found['u_max']} B; N_1 = {found['at_peak']} makes U^B_max {found['raised']} B, "
        f"N_1 = {found['smaller']} makes it {found['kept']} B"
    )
    is_so = found["raised"] > found["u_max"] == found["kept"] and (
        0 < found["smaller"] < found["at_peak"]
    )
    return [holds("003-6", "example", is_so, facts)]


@dataclass(frozen=True, slots=True)
class Greedy:
    """What the greedy algorithm gives, and what it takes."""

    budgets: Sequence[tuple[list[int], list[int]]]  # the engine's, and the equations'
    running: Mapping[int, int]  # by n: steps where the sum over the other sizes is kept
    literal: Mapping[int, int]  # by n: where it is added up anew, as in figure 4


def greedy_runs(laboratory: Laboratory) -> Greedy:
    seeds = range(1, 4 if laboratory.is_small else 21)
    walks = [walk for seed in seeds for walk in _table_2_walks(seed)]
    counted = {
        n: count_greedy_steps(draw_capped_walk(sizes_of(Shape(n, _LIMIT)), _LIMIT, _SHORT, 1))
        for n in _STEP_SIZES
    }
    return Greedy(
        [(walk.greedy(), greedy_by_the_equations(walk)) for walk in walks],
        {n: running for n, (running, _) in counted.items()},
        {n: literal for n, (_, literal) in counted.items()},
    )


def greedy(found: Greedy) -> list[Finding]:
    total = len(found.budgets)
    same = sum(one == other for one, other in found.budgets)
    each = [steps / n for n, steps in found.running.items()]
    told, literal = (
        ", ".join(f"{steps:,}" for steps in some.values())
        for some in (found.running, found.literal)
    )
    why = (
        "If the sum over the other sizes is kept from size to size; each moment of the trace is a "
        f"step of each size, so it is n T. Figure 4 taken literally adds it up anew, {literal} "
        "additions: n² T. Equation 12 has N_i where N_1 is meant."
    )
    sizes = ", ".join(map(str, found.running))
    facts = f"{told} steps for n = {sizes} on {_SHORT} events"
    return [
        holds("003-7", "greedy", same == total, f"equal on {same} of {total} traces"),
        holds("003-7", "complexity", max(each) < 1.01 * min(each), facts, why),
    ]


@dataclass(frozen=True, slots=True)
class Exhaustive:
    """How many combinations trying all takes, and what branch and bound does."""

    combinations: Mapping[int, int]  # by n
    larger: Sequence[Budgeting]


def exhaustive_runs(laboratory: Laboratory) -> Exhaustive:
    larger = [one for one in laboratory.measure_once(budgeting) if one.shape.row is None]
    return Exhaustive({n: count_combinations(Shape(n, _LIMIT)) for n in FEW}, larger)


def exhaustive(found: Exhaustive) -> list[Finding]:
    """Row 8: no clock; combinations are counted, and extrapolated by the factor of a size."""
    last = max(found.combinations)
    factor = found.combinations[last] / found.combinations[last - 1]
    sizes_more = math.log(_INFEASIBLE / found.combinations[last], factor)
    n = last + math.floor(sizes_more) + 1
    told = ", ".join(f"{one:,}" for one in found.combinations.values())
    facts = (
        f"{told} combinations for n = {', '.join(map(str, found.combinations))}, a factor of "
        f"{factor:.0f} a size: above {_INFEASIBLE:,} from n = {n}"
    )
    nodes = "; ".join(f"n = {one.shape.sizes}: {one.nodes:,.0f}" for one in found.larger)
    why = (
        "Trying all is exponential, as said, but reaches farther. Another algorithm, branch and "
        f"bound, proves the optimum in so many choices: {nodes}."
    )
    return [near("003-8", "infeasible", float(n), why, facts)]


def table_1(budgeted: Sequence[Budgeting]) -> list[Finding]:
    shapes = [one for one in budgeted if one.shape.row is not None]
    ratios = tuple(one.ratio for one in shapes)
    ratio_told = ", ".join(f"{one.ratio:.1%} (worst {one.worst_ratio:.1%})" for one in shapes)
    sums = "Sizes and traces are not told; ours are other sums."
    machine = "Another machine and other traces; ours, of 2,000 events, in CPU time."
    fastest = max(one.exhaustive_ms / one.greedy_ms for one in shapes)
    same = all(one.is_proven and one.exact_equals_exhaustive for one in shapes)
    check = "Branch and bound equals the exhaustive search on all."
    return [
        unknown(
            "003-9", "exhaustive_ms", machine, _format_times(one.exhaustive_ms for one in shapes)
        ),
        unknown("003-9", "greedy_ms", machine, _format_times(one.greedy_ms for one in shapes)),
        unknown("003-9", "faster", machine, f"{fastest:,.0f} times"),
        unknown("003-9", "exhaustive", sums, _bytes(one.exhaustive for one in shapes)),
        unknown("003-9", "greedy", sums, _bytes(one.greedy for one in shapes)),
        near("003-9", "ratio", ratios, check, ratio_told)
        if same
        else Finding(
            figure("003-9", "ratio"), ratio_told, Verdict.DIFFERS, "The optimum is not proven."
        ),
    ]


def example_walk() -> Walked:
    """Blocks of 48, 24 and 8 B; 1, 4, 4 of them at t1 and 3, 2, 1 at t2, the peak."""
    return trace_walk(_two_states((1, 4, 4), (3, 2, 1)))


ROWS: Rows = {
    "003-1": Row(
        two_buckets,
        judge_dedication,
        "a free bucket holds the link of its stack, so stacks cost nothing",
    ),
    "003-2": Row(measure_freed_blocks, free_by_range),
    "003-3": Row(measure_growing, low_level, "control structures count"),
    "003-4": Row(profile, same_profile, "a resize leaves its old size and enters its new one"),
    "003-5": Row(
        equations,
        constraints,
        f"sizes rounded up to 8 B; overhead not counted in U; walks; H is ignored below "
        f"{_IGNORED:.0%} of R",
    ),
    "003-6": Row(example_budgets, example, "sizes and counts of ours"),
    "003-7": Row(greedy_runs, greedy, "capped walks of 2,000 events over the sizes of table 2"),
    "003-8": Row(
        exhaustive_runs,
        exhaustive,
        f"capped walks, P_i,max = {_LIMIT}; infeasible is above {_INFEASIBLE:,} combinations",
    ),
    "003-9": Row(
        budgeting, table_1, f"sizes of workload 4, and 256 B as fifth; 2,000 events, {SEEDS} seeds"
    ),
}


def _sizes(workload: int) -> list[int]:
    return [int(size) for size in figure("003-10", f"w{workload}").numbers]


def _table_2_walks(seed: int = 1) -> list[Walked]:
    return [draw_capped_walk(_sizes(number), _LIMIT, _EVENTS, seed) for number in WORKLOADS]


def _two_states(first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
    """Blocks of 48, 24 and 8 B as `first` counts them, freed, then as `second` does."""
    requests: list[tuple[int, int]] = []
    for counts in (first, second):
        born = sum(size > 0 for _, size in requests)
        asked = [
            size for size, count in zip((48, 24, 8), counts, strict=True) for _ in range(count)
        ]
        requests += [(born + i, size) for i, size in enumerate(asked)]
        if counts is first:
            requests += [(born + i, 0) for i in range(len(asked))]
    return requests


def _format_times(times: Iterable[float]) -> str:
    return ", ".join(_time(one) for one in times)


def _bytes(sums: Iterable[float]) -> str:
    return ", ".join(f"{one:,.0f}" for one in sums) + " B"


def _time(milliseconds: float) -> str:
    return f"{milliseconds:,.0f} ms" if milliseconds >= 10 else f"{milliseconds:.2g} ms"
