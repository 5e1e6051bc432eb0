#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pools for packets made by four rules, beside heaps and budgets: on a queue and on bursts.

The mix is that of Mamagkakis, Soudris and Catthoor: 43 % of 40 B, 26 % of 1500 B. Waste is internal
fragmentation over what is requested; R_safe over U_max counts everything. The page
docs/evidence/packet-pools.md shows this script's output.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

import numpy as np

from heapfit import _engine
from heapfit.cli.printing import console
from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.comparison import compare
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.row import Row
from heapfit.design.budgets.certified import Method, find_budgets
from heapfit.design.budgets.greedy_budgets import plan_from_budgets
from heapfit.design.pools.best_classes import best_classes, cheapest_cuts
from heapfit.design.pools.special_pools import (
    ALLOCATOR,
    link_free_blocks,
    pool_sizes,
    special_pools_plan,
    special_sizes,
)
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.profile import sum_by_block
from heapfit.workloads.synthetic import generate_workload, parse_workload

QUEUES = {
    "filled and drained": "queue_fill:packets={packets}",
    "in bursts": "campus:packets={packets},served=1100,burst=64",
}
PACKETS = 20_000
ALIGNMENT = 4  # of a 32-bit target
FEW, MANY = 7, 16  # pools; 7 are what the 10 % rule makes
BUDGETED = (40, 1500)


@dataclass(frozen=True)
class Design:
    """One row, measured."""

    name: str
    pools: int | None
    waste: float | None  # percent; None where blocks are no pools'
    ratio: float  # R_safe over U_max
    accesses: float  # an operation


def designs_of(queue: str, seed: int = 1, packets: int = PACKETS) -> dict[str, Design]:
    """All designs on one queue, by their names."""
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        spec = parse_workload(QUEUES[queue].format(packets=packets), seed)
        loaded = load_trace(generate_workload(spec, Path(folder) / "t.parquet"), ALIGNMENT)
        plans = plans_for(loaded)
        candidates = tuple(
            Candidate(name, Heap(name, plan), "", True) for name, plan in plans.items()
        )
        rows = {row.name: row for row in compare(loaded, Portfolio(candidates, ())).rows}
        return {name: design(rows[name], loaded) for name in plans}


def plans_for(loaded: LoadedTrace) -> Mapping[str, Plan]:
    largest = max(loaded.profile.sizes.tolist())
    scalars = {"alignment": ALIGNMENT}
    _, fewest = min(best_classes(loaded), key=itemgetter(0))
    wasteful = least_waste(loaded, MANY)
    rule = pool_sizes(special_sizes(loaded.profile), largest)
    return {
        "pools by the 10 % rule": pools(loaded, rule),
        f"{FEW} pools, least waste": pools(loaded, ranges(wasteful[FEW - 1])),
        f"{MANY} pools, least waste": pools(loaded, ranges(wasteful[MANY - 1])),
        "pools, least sum of peaks": pools(loaded, ranges(fewest)),
        "tlsf": Plan("tlsf", scalars),
        "best_fit": Plan("best_fit", scalars),
        "greedy budgets, best_fit": budgets(loaded, Method.GREEDY),
        "exact budgets, best_fit": budgets(loaded, Method.EXACT),
    }


def pools(loaded: LoadedTrace, shapes: Sequence[tuple[int, bool]]) -> Plan:
    """Each as large as its own peak, free blocks linked."""
    return link_free_blocks(special_pools_plan(ALLOCATOR, loaded.events, list(shapes), ALIGNMENT))


def ranges(sizes: Sequence[int]) -> list[tuple[int, bool]]:
    return [(size, False) for size in sizes]


def least_waste(loaded: LoadedTrace, most: int) -> list[list[int]]:
    """The 1, 2, ... and `most` sizes of pools with the least internal fragmentation."""
    profile = loaded.profile
    columns = profile.allocations, np.maximum(profile.sizes, 1) * profile.allocations
    sizes, sums = sum_by_block(profile.sizes, loaded.alignment, *columns)
    below = np.zeros((2, len(sizes) + 1), np.int64)
    np.cumsum(sums, axis=1, out=below[:, 1:])
    counts, asked = below[:, None, 1:] - below[:, :-1, None]
    return [sizes[last].tolist() for last in cheapest_cuts(sizes * counts - asked, most)]


def waste_of(plan: Plan, loaded: LoadedTrace) -> float:
    """Internal fragmentation over the bytes requested, of what its pools serve."""
    sizes = np.array([-(-pool.size // plan.alignment) * plan.alignment for pool in plan.pools])
    profile = loaded.profile
    owners = plan.engine().pools_for(profile.sizes).astype(np.int64)
    is_served = owners != _engine.NO_POOL
    allocations = profile.allocations.astype(np.int64)[is_served]
    requested = int(profile.sizes.astype(np.int64)[is_served] @ allocations)
    return (int(sizes[owners[is_served]] @ allocations) - requested) / max(requested, 1)


def budgets(loaded: LoadedTrace, method: Method) -> Plan:
    """For the two frequent sizes."""
    certified = find_budgets(loaded.events, BUDGETED, alignment=ALIGNMENT, method=method)
    plan = plan_from_budgets(BUDGETED, certified.counts, ALIGNMENT)
    best = Plan("best_fit", {"alignment": ALIGNMENT})
    return best if plan is None else Plan(plan.allocator, plan.scalars, plan.pools, best)


def design(row: Row, loaded: LoadedTrace) -> Design:
    is_pools = row.plan.allocator == ALLOCATOR
    return Design(
        name=row.name,
        pools=len(row.plan.pools) or None,
        waste=100 * waste_of(row.plan, loaded) if is_pools else None,
        ratio=row.over_u_max or float("inf"),
        accesses=row.accesses_per_operation or 0.0,
    )


def print_designs(queue: str, designs: Mapping[str, Design]) -> None:
    columns = ("pools", "waste %", "R_safe/U_max", "accesses/operation")
    console.print_table(
        (f"queue {queue}", *columns),
        [(one.name, *cells(one)) for one in designs.values()],
        width=console.WIDE,
    )


def cells(one: Design) -> tuple[object, ...]:
    waste = None if one.waste is None else f"{one.waste:.1f}"
    return one.pools, waste, f"{one.ratio:.3f}", f"{one.accesses:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--packets", type=int, default=PACKETS)
    given = parser.parse_args()
    for queue in QUEUES:
        print_designs(queue, designs_of(queue, given.seed, given.packets))


if __name__ == "__main__":
    main()
