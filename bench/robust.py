#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Heap for 99 % of unseen traces over the 99 % quantile of U_max, from 16 traces of a program.

Table 2 of Lee and Yi 2008 as phases, and 16 diverse sizes (`heapfit workload`, phases_*). Five
designs: `tlsf` and `best_fit` as they are; the paper's method, greedy budgets of one trace over
`tlsf`; every size at its worst case; and the designer's choice (`heapfit fit --plans`, first row).
The heap is the smallest found by bisection in which 99 % of the unseen traces run, and 1 % more
too.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from page_tables import add_option, write_result

from heapfit import _engine
from heapfit.design.budgets.certified import Method, find_budgets
from heapfit.design.budgets.greedy_budgets import frequent_classes, plan_from_budgets
from heapfit.design.plan_options import PlanOptions
from heapfit.design.robust.design import design_several
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import load_trace
from heapfit.trace.origin import WorkloadSpec
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import generate_events, generate_workload

AIMS = {"phases_w1": 1.02, "phases_w3": 1.02, "phases_w4": 1.02, "phases_w5": 1.02,
        "phases_x16": 1.10}  # fmt: skip
SHARE = 0.99
UNSEEN_SEEDS = 1_000_000  # the first; training seeds begin at 1
STEP = 8  # bytes
PAGE_PLANS = ("tlsf", "best_fit", "greedy (1 trace) over tlsf", "class_pools_worst_case")


@dataclass(frozen=True, slots=True)
class Size:
    """How much of it."""

    training: int
    unseen: int
    events: int
    alignment: int = 4


def spec_of(name: str, seed: int, size: Size) -> WorkloadSpec:
    return WorkloadSpec(name, seed, {"events": size.events})


def u_max_of(events: _engine.EventArray) -> int:
    profile = _engine.Profile(1)
    profile.feed(events)
    return int(profile.result().u_max)


def needed_for(plan: Plan, unseen: Sequence[_engine.EventArray], start: int) -> int | None:
    """The least heap found in which 99 % of the traces run, and 1 % above it too."""
    most_failing = len(unseen) - math.ceil(SHARE * len(unseen))

    def holds(heap: int) -> bool:
        failing = 0
        for events in unseen:
            failing += not _engine.Trial(plan.engine(), events).run(heap).runs
            if failing > most_failing:
                return False
        return True

    fails, works = start // STEP * STEP - STEP, start
    while not holds(works):
        fails, works = works, works + works // 16 // STEP * STEP
        if works > 4 * start:
            return None
    return settled(fails, works, lambda heap: holds(heap) and holds(heap + heap // 100))


def settled(fails: int, works: int, holds: Callable[[int], bool]) -> int:
    while works - fails > STEP:
        middle = fails + max((works - fails) // 2 // STEP, 1) * STEP
        if holds(middle):
            works = middle
        else:
            fails = middle
    return works


def paper_plan(trace: Trace, alignment: int) -> Plan:
    """Greedy budgets of all sizes, of one trace."""
    loaded = load_trace(trace, alignment)
    sizes = frequent_classes(loaded.profile, alignment)
    counts = find_budgets(loaded.events, sizes, alignment=alignment, method=Method.GREEDY)
    plan = plan_from_budgets(sizes, counts.counts, alignment)
    return plan or Plan("tlsf", {"alignment": alignment})


def plans_for(name: str, size: Size, folder: Path) -> dict[str, Plan]:
    """The five designs; the chosen one carries its name."""
    traces = [
        generate_workload(spec_of(name, seed, size), folder / f"{seed}.parquet")
        for seed in range(1, size.training + 1)
    ]
    options = PlanOptions(size.alignment)
    loaded = [load_trace(trace, size.alignment) for trace in traces]
    designs, _ = design_several(loaded, options, is_whole=True)
    best = designs.rows[0]
    by_name = {row.name: row.plan for row in designs.rows}
    scalars = {"alignment": size.alignment}
    return {
        "tlsf": Plan("tlsf", scalars),
        "greedy (1 trace) over tlsf": paper_plan(traces[0], size.alignment),
        "best_fit": Plan("best_fit", scalars),
        **{one: by_name[one] for one in ("class_pools_worst_case",) if one in by_name},
        f"chosen: {best.name}": best.plan,
    }


def report(name: str, size: Size) -> dict[str, float | None]:
    """Prints a workload's table, and returns it."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        plans = plans_for(name, size, Path(folder))
    unseen = [generate_events(spec_of(name, UNSEEN_SEEDS + i, size)) for i in range(size.unseen)]
    peaks = sorted(u_max_of(events) for events in unseen)
    quantile = peaks[math.ceil(SHARE * len(peaks)) - 1]
    print(f"{name}: q99(U_max) {quantile:,} of {size.unseen} unseen, {size.events:,} events each")
    ratios: dict[str, float | None] = {}
    for plan_name, plan in plans.items():
        smallest = plan.engine().smallest_region
        heap = needed_for(plan, unseen, max(quantile // STEP * STEP, -(-smallest // 4) * 4))
        ratios[plan_name] = None if heap is None else heap / quantile
        print(f"  {plan_name:40} {figure(ratios[plan_name], 4)}", flush=True)
    verdict = "reached" if is_reached(name, ratios) else "missed"
    print(f"  aim {AIMS[name]}: {verdict}; {time.perf_counter() - started:.0f} s")
    return ratios


def figure(ratio: float | None, digits: int) -> str:
    return "-" if ratio is None else f"{ratio:.{digits}f}"


def is_reached(name: str, ratios: Mapping[str, float | None]) -> bool:
    """By the chosen plan, which comes last."""
    ratio = list(ratios.values())[-1]
    return ratio is not None and ratio <= AIMS[name]


def page_row(name: str, ratios: Mapping[str, float | None]) -> tuple[str, ...]:
    """The chosen plan is named behind its figure."""
    chosen = list(ratios)[-1]
    shown = (figure(ratios.get(one), 3) for one in (*PAGE_PLANS, chosen))
    return name, *shown, chosen.removeprefix("chosen: ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(AIMS))
    parser.add_argument("--training", type=int, default=16)
    parser.add_argument("--unseen", type=int, default=200)
    parser.add_argument("--events", type=int, default=100_000)
    add_option(parser)
    given = parser.parse_args()
    size = Size(given.training, given.unseen, given.events)
    found = {name: report(name, size) for name in given.workloads or AIMS}
    reached = sum(is_reached(*one) for one in found.items())
    print(f"{reached} of {len(found)} aims reached")
    if given.write:
        columns = ("workload", "tlsf", "best_fit", "greedy budgets of one trace",
                   "worst case of each size", "chosen", "plan")  # fmt: skip
        write_result("robust", columns, [page_row(*one) for one in found.items()])


if __name__ == "__main__":
    main()
