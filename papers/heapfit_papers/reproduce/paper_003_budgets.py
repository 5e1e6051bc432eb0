# SPDX-License-Identifier: Apache-2.0
"""Lee and Yi 2008, rows 1 to 9: the allocator, its profile, and budgets greedy and exhaustive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from heapfit import _engine
from heapfit.plan.plan import Plan, Pool
from heapfit_papers.reproduce.finding import Finding, Verdict, holds, near, unknown
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import figure
from heapfit_papers.reproduce.row import Row
from heapfit_papers.reproduce.small_heap import events_of, refusals
from heapfit_papers.reproduce.table_1 import SEEDS, budgeting
from heapfit_papers.reproduce.table_2 import BUDGETED, LEA_STEP, WORKLOADS, table_2
from heapfit_papers.reproduce.walks import Walked, capped_walk, greedy_by_the_equations, walked

_PAIR = (Pool(528, 1, True), Pool(1040, 1, True))
_REGION = 1 << 14
_EVENTS = 2000
_LIMIT = 10  # P_i,max of table 2


def dedicated(_: Laboratory) -> list[Finding]:
    """Row 1: the bytes that dedicated blocks lose, and where a request without one goes."""
    alone = Plan("budgeted", pools=_PAIR)
    shared = Plan("budgeted", pools=_PAIR, shared=Plan("tlsf"))
    replay = _engine.Replay(alone.engine(), alone.engine().smallest_region)
    replay.feed(events_of([528, 1040]))
    lost = replay.result().internal_peak
    refused = refusals(alone, [528, 528, 1040])
    served = refusals(shared, [528, 528, 1040], _REGION)
    facts = "a second block of 528 B is refused beside a free one of 1040 B; TLSF behind serves it"
    return [
        near("003-1", "dedicated", float(lost)),
        holds("003-1", "miss", (refused, served) == (1, 0), facts),
    ]


def free_by_range(_: Laboratory) -> list[Finding]:
    """Row 2: no heap behind, so that a block can come from its own stack only."""
    plan = Plan("budgeted", pools=_PAIR)
    own = refusals(plan, [528, 1040, -0, -1, 528, 1040])
    other = refusals(plan, [528, 1040, -0, 1040])
    facts = "both blocks freed are given again, and a freed 528 B never for 1040 B"
    return [holds("003-2", "pointer", (own, other) == (0, 1), facts)]


def low_level(laboratory: Laboratory) -> list[Finding]:
    """Row 3."""
    one = next(one for one in laboratory.once(table_2) if one.case.workload == 4)
    high = one.needs[BUDGETED].high_water
    stepped = -(-high // LEA_STEP) * LEA_STEP
    facts = f"workload 4, budgeted: {high:,} B as high-water mark, {stepped:,} B in steps of 64 KiB"
    why = "The control structures are charged here, in every R."
    return [holds("003-3", "maximum", high <= stepped < high + LEA_STEP, facts, why)]


def profile(_: Laboratory) -> list[Finding]:
    """Row 4: each event's P_i(t) before and after it, which a series tells as its extremes."""
    walk = capped_walk(_sizes(4), _LIMIT, _EVENTS, 1)
    series = _engine.SizeSeries([int(size) for size in _sizes(4)], _EVENTS)
    series.feed(walk.events)
    result = series.result()
    before = np.vstack([np.zeros_like(walk.live[:1]), walk.live[:-1]])
    equal = result.bucket_width == 1 and all(
        lowest.tolist() == np.minimum(before, walk.live)[:, column].tolist()
        and highest.tolist() == np.maximum(before, walk.live)[:, column].tolist()
        for column, (lowest, highest) in enumerate(result.blocks)
    )
    facts = f"{len(_sizes(4))} sizes at each of {_EVENTS:,} events"
    return [holds("003-4", "profile", equal, facts)]


def constraints(_: Laboratory) -> list[Finding]:
    """Row 5."""
    tightest = 0.0
    kept = True
    for walk in _table_2_walks():
        budgets = walk.greedy()
        raised = int(walk.used_with(budgets).max())
        kept &= raised <= walk.u_max and bool((walk.peaks >= budgets).all())
        tightest = max(tightest, raised / walk.u_max)
    facts = f"U^B_max is at most {tightest:.3f} U_max on workloads 1 to 5, N_i at most P_i,max"
    return [holds("003-5", "constraints", kept, facts)]


def example(_: Laboratory) -> list[Finding]:
    """Row 6."""
    walk = example_walk()
    at_peak = int(walk.live[int(walk.used.argmax())][0])
    raised = int(walk.used_with([at_peak, 0, 0]).max())
    smaller = walk.greedy()[0]
    kept = int(walk.used_with([smaller, 0, 0]).max())
    facts = (
        f"U_max {walk.u_max} B; N_1 = {at_peak} makes U^B_max {raised} B, N_1 = {smaller} leaves it"
    )
    is_so = raised > walk.u_max == kept and 0 < smaller < at_peak
    return [holds("003-6", "example", is_so, facts)]


def greedy(laboratory: Laboratory) -> list[Finding]:
    """Row 7."""
    seeds = range(1, 4 if laboratory.is_small else 21)
    walks = [walk for seed in seeds for walk in _table_2_walks(seed)]
    same = sum(walk.greedy() == greedy_by_the_equations(walk) for walk in walks)
    why = (
        "M_i,min is a minimum over all moments, so n sizes cost n passes: n T, proportional to n "
        "only for one trace. Equation 12 has N_i where N_1 is meant."
    )
    return [
        holds("003-7", "greedy", same == len(walks), f"equal on {same} of {len(walks)} traces"),
        holds("003-7", "complexity", False, "n passes over the moments of the trace", why),
    ]


def exhaustive(laboratory: Laboratory) -> list[Finding]:
    """Row 8."""
    budgeted = laboratory.once(budgeting)
    larger = [one for one in budgeted if one.shape.row is None]
    facts = "; ".join(
        f"n = {one.shape.sizes}, P_i,max = {one.shape.limit}: {_time(one.exact_ms)}"
        for one in larger
    )
    tried = max(one.exhaustive_ms for one in budgeted)
    why = (
        f"Trying all is exponential, as said ({_time(tried)} for n = 5), but the optimum does not "
        "need it: a few moments of a trace limit budgets, and bounds cut most combinations."
    )
    solved = any(one.is_proven for one in larger)
    return [
        holds(
            "003-8",
            "infeasible",
            not solved,
            f"the optimum, proven by branch and bound: {facts}",
            why,
        )
    ]


def table_1(laboratory: Laboratory) -> list[Finding]:
    """Row 9."""
    shapes = [one for one in laboratory.once(budgeting) if one.shape.row is not None]
    ratios = tuple(one.ratio for one in shapes)
    ratio_told = ", ".join(f"{one.ratio:.1%} (worst {one.worst_ratio:.1%})" for one in shapes)
    sums = "Sizes and traces are not told; ours are other sums."
    machine = "Another machine and other traces; ours, of 2,000 events, in CPU time."
    fastest = max(one.exhaustive_ms / one.greedy_ms for one in shapes)
    same = all(one.is_proven and one.exact_equals_exhaustive for one in shapes)
    exact = ", ".join(_time(one.exact_ms) for one in shapes)
    check = f"Branch and bound equals the exhaustive search on all: {same}, in {exact}."
    return [
        unknown("003-9", "exhaustive_ms", machine, _listed(one.exhaustive_ms for one in shapes)),
        unknown("003-9", "greedy_ms", machine, _listed(one.greedy_ms for one in shapes)),
        unknown("003-9", "faster", machine, f"{fastest:,.0f} times"),
        unknown("003-9", "exhaustive", sums, _bytes(one.exhaustive for one in shapes)),
        unknown("003-9", "greedy", sums, _bytes(one.greedy for one in shapes)),
        near("003-9", "ratio", ratios, check, ratio_told)
        if same
        else Finding(figure("003-9", "ratio"), ratio_told, Verdict.DIFFERS, check),
    ]


def example_walk() -> Walked:
    """Blocks of 48, 24 and 8 B; 1, 4, 4 of them at t1 and 3, 2, 1 at t2, the peak."""
    return walked(_two_states((1, 4, 4), (3, 2, 1)))


ROWS = {
    "003-1": Row(dedicated, "a free bucket holds the link of its stack, so stacks cost nothing"),
    "003-2": Row(free_by_range),
    "003-3": Row(low_level, "control structures count"),
    "003-4": Row(profile, "a resize leaves its old size and enters its new one"),
    "003-5": Row(constraints, "sizes rounded up to 8 B; overhead not counted"),
    "003-6": Row(example, "sizes and counts of ours"),
    "003-7": Row(greedy, "capped walks of 2,000 events over the sizes of table 2"),
    "003-8": Row(exhaustive, "capped walks of 2,000 events"),
    "003-9": Row(table_1, f"sizes of workload 4, and 256 B as fifth; 2,000 events, {SEEDS} seeds"),
}


def _sizes(workload: int) -> list[int]:
    return [int(size) for size in figure("003-10", f"w{workload}").numbers]


def _table_2_walks(seed: int = 1) -> list[Walked]:
    return [capped_walk(_sizes(number), _LIMIT, _EVENTS, seed) for number in WORKLOADS]


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


def _listed(times: Iterable[float]) -> str:
    return ", ".join(_time(one) for one in times)


def _bytes(sums: Iterable[float]) -> str:
    return ", ".join(f"{one:,.0f}" for one in sums) + " B"


def _time(milliseconds: float) -> str:
    return f"{milliseconds:,.0f} ms" if milliseconds >= 10 else f"{milliseconds:.2g} ms"
