# SPDX-License-Identifier: Apache-2.0
"""Measures heaps as they ship on an emulated Cortex-M4, for the models of heapfit.comparison.costs.

A heap is the folder that `heapfit fit` writes: at -Os, safety level 1, with its counts, its lock
left empty. Loads and stores are those of the host, which checks words, too. Writes, in the folder
of the models, instructions.csv, the coefficients fitted to the calls of all traces, and codes.csv,
the linked bytes of each code and how far its model is off. The codes are those of the design
space's configurations and UNTRIED; placements must equal the host's. Takes some 20 minutes.
`--only PATTERN` renews the codes in whose label the regular expression is found and keeps the rest;
`--sizes` links the codes of the table again and keeps their coefficients.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.board import BOARDS
from harness.calls import Calls
from harness.code_size import measure_shipped_sizes
from harness.codes import COUNTED_BUILD, SHIPPED_BUILD, plan_of_code, save_codes
from harness.image import link_shipped_image, replay_design, replay_image
from harness.instruction_fit import Tally, fit_model
from harness.packed_trace import pack
from harness.replay import TAGGED, count_replay, count_shipped
from harness.verify import Case, host_replay
from harness.workbench import Workbench
from heapfit import _engine
from heapfit.comparison.costs.code_table import code_label, read_codes
from heapfit.comparison.costs.instruction_model import OPERATIONS, MeasuredCode
from heapfit.design.placement.sites import busiest_sites
from heapfit.design.portfolio import SHARED_HEAPS, build_portfolio
from heapfit.design.space import configurations
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import scalars_of
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.operations import ALIGNED, ALLOC, FREE, RESIZE, ZEROED
from heapfit.trace.stored import COLUMNS, REPLAYED, Trace, TraceInfo, write_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

HERE = Path(__file__).resolve().parents[1]
M4 = BOARDS["cortex-m4"]
EVENTS = 3000
WORKLOADS = {
    "t2_w4": "t2_w4:events=3000",
    "slotbuf": "slotbuf:events=3000,slots=100",
    "queue_fill": "queue_fill:packets=1500,depth=250",
    "poisson_500": "poisson_500:events=3000",
    "djgpp_test": "djgpp_test:events=3000",
}
RECORDED = "lua"  # of examples/
MIXED = {"mixed_small": 400, "mixed_large": 4000}  # bytes of the largest request
SITES = 40  # of them; more than there are tags
COPY = 4  # instructions a byte, gcc -O2
# Codes that design may choose beside those of the descriptors' grids, which front tries.
UNTRIED = (
    "chained_pool",
    "first_fit",
    "tailored:layout=2",
    "tailored:ends=2,layout=2",
    *(f"tailored:layout={layout},hole_limit=8" for layout in (0, 1, 2)),
)
LARGEST_IN_TABLE = 16_384  # bytes; tables of pools reach this far


def traces(folder: Path) -> Iterator[tuple[str, Trace]]:
    """Traces by name, as different as codes should see them."""
    for name, text in WORKLOADS.items():
        yield name, generate_workload(parse_workload(text), folder / f"{name}.parquet")
    recorded = Trace.open(HERE / f"examples/{RECORDED}/{RECORDED}.parquet")
    columns = next(recorded.batches(tuple(COLUMNS)))
    first = {name: column[:EVENTS] for name, column in columns.items()}
    yield RECORDED, write_trace(folder / f"{RECORDED}.parquet", [first], TraceInfo())
    for name, largest in MIXED.items():
        yield name, mixed(name, largest, folder / f"{name}.parquet")


def mixed(name: str, largest: int, path: Path) -> Trace:
    """Requests of all kinds from SITES call sites, of a fixed seed: the only aligned ones."""
    draw = random.Random(name)
    rows: list[tuple[int, ...]] = []
    live: list[int] = []
    for _ in range(EVENTS):
        chance = draw.random()
        size = round(largest ** draw.random())
        if len(live) > 20 and chance < 0.44:
            rows.append((FREE, live.pop(draw.randrange(len(live))), 0, 0, 0))
        elif live and chance < 0.6:
            rows.append((RESIZE, draw.choice(live), size, 0, 0))
        else:
            op = draw.choices((ALLOC, ZEROED, ALIGNED), (6, 1, 3))[0]
            number = sum(row[0] < RESIZE for row in rows)
            alignment = draw.choice((16, 32, 64)) if op == ALIGNED else 0
            rows.append((op, number, size, alignment, 1 + number % SITES))
            live.append(number)
    columns = dict(zip((*REPLAYED, "site"), np.array(rows, np.uint64).T, strict=True))
    return write_trace(path, [columns], TraceInfo())


def plans(loaded: LoadedTrace) -> dict[str, Plan]:
    """One plan for each code, where the trace has a use for it."""
    tried = [one.plan for one in configurations(loaded).candidates]
    tried += [one.plan for one in build_portfolio(loaded, UNTRIED, []).candidates]
    tried += [variant for plan in [*tried] for variant in count_variants(plan, loaded)]
    tried += [variant for plan in tried for variant in site_variants(plan, loaded)]
    pools = [plan for plan in tried if plan.allocator == "class_pools"]
    tried += [variant for plan in pools for variant in pool_variants(plan)]
    return {code_label(plan): plan for plan in reversed(tried)}


def count_variants(plan: Plan, loaded: LoadedTrace) -> Iterator[Plan]:
    """The plan with as many blocks or partitions as a region holds, and with a number of them."""
    scalars = scalars_of(plan)
    for count, unit in (("blocks", "block_size"), ("partitions", "partition_size")):
        if count in scalars:
            any_number = replace(plan, scalars={**plan.scalars, count: 0})
            yield any_number
            region = safe_region(any_number, loaded)
            if region is not None:
                yield replace(plan, scalars={**plan.scalars, count: region // scalars[unit]})


def site_variants(plan: Plan, loaded: LoadedTrace) -> Iterator[Plan]:
    """A plan of two ends with the trace's call sites, if it has any, each other at the high end."""
    sites = busiest_sites(loaded)
    if sites and plan.scalars.get("ends") == 2:
        high = sum(1 << tag for tag in sites.values() if tag % 2)
        scalars = {**plan.scalars, "tags": len(sites), "tag_high": high}
        yield replace(plan, scalars=scalars, sites=sites)


def safe_region(plan: Plan, loaded: LoadedTrace) -> int | None:
    """Bytes; None where no region serves the trace."""
    return (
        _engine.Trial(plan.engine(), loaded.events_for(plan), base_alignment(loaded)).scan().r_safe
    )


def base_alignment(loaded: LoadedTrace) -> int:
    """Of every region."""
    return max(_engine.HOST_BASE_ALIGNMENT, loaded.trace.largest_alignment)


def pool_variants(plan: Plan) -> Iterator[Plan]:
    """The plan so that a table leads to a pool, and so that pools are searched; over each heap."""
    few = tuple(pool for pool in plan.pools if pool.size <= LARGEST_IN_TABLE)
    far = (*plan.pools, Pool(max(2 * LARGEST_IN_TABLE, plan.pools[-1].size + 8), 1, False))
    for pools in filter(None, (few, far)):
        if plan.shared is None and pools is far:
            yield replace(plan, pools=pools)
        for name in SHARED_HEAPS:
            shared = Plan(name, {"alignment": plan.scalars.get("alignment", 8)})
            yield replace(plan, pools=pools[:-1] or pools, shared=shared)
            yield replace(plan, pools=pools, shared=shared)


def measure(workbench: Workbench, plan: Plan, loaded: LoadedTrace, name: str) -> Iterator[Tally]:
    """Replays on the board and on the host; nothing where no region serves the trace.

    Accesses are those of core alone, as the host has them; instructions those of the whole call.
    """
    base, region = base_alignment(loaded), safe_region(plan, loaded)
    if region is None:
        return
    packed, design = pack(loaded.trace, plan.sites), replay_design(plan, region, base, counts=True)
    case = Case(code_label(plan), plan, region, base)
    image = replay_image(workbench, M4, COUNTED_BUILD, design)
    target, calls = count_replay(image, plan.allocator, packed, workbench.plugin)
    if target.placement_hash != host_replay(case, packed).result.placement_hash:
        raise HeapfitError(f"{case.name}: placed elsewhere than on the host")
    shipped = link_shipped_image(workbench, M4, SHIPPED_BUILD, design)
    yield from tallied(name, calls, count_shipped(shipped, packed, workbench.plugin))


def tallied(trace: str, core: Calls, shipped: Calls) -> Iterator[Tally]:
    """What was counted of each operation that was called, call by call."""
    for operation in OPERATIONS:
        tagged = (TAGGED,) if operation == "alloc" and TAGGED in core.functions else ()
        records, whole = core.of(operation, *tagged), shipped.of(operation)
        if len(records) != len(whole):
            raise HeapfitError(
                f"{operation}: {len(records)} calls of core, {len(whole)} as it ships"
            )
        if len(records) > 0:
            loads, stores = (records[one].astype(np.int64) for one in ("heap_loads", "heap_stores"))
            instructions, payload = (
                whole[one].astype(np.int64) for one in ("instructions", "payload")
            )
            left = without_copying(instructions, payload)
            yield Tally.from_calls(trace, operation, np.column_stack([loads, stores, left]))


def without_copying(
    instructions: NDArray[np.int64], payload: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Instructions less those of the loop that copies payload (target/replay/payload.c)."""
    left = instructions - COPY * payload
    if (left <= 0).any():
        raise HeapfitError(f"a byte is copied in fewer than {COPY} instructions")
    return left


def measured_again(workbench: Workbench, pattern: str, folder: Path) -> dict[str, MeasuredCode]:
    """The codes in whose label the pattern is found, on every trace that has a use for them.

    What one trace alone uses is left out: no other tells how far its model is off.
    """
    tallies: dict[str, list[Tally]] = defaultdict(list)
    for name, trace in traces(folder):
        loaded = load_trace(trace)
        for code, plan in plans(loaded).items():
            if not re.search(pattern, code):
                continue
            print(f"{name} {code}", file=sys.stderr, flush=True)
            try:
                tallies[code] += measure(workbench, plan, loaded, name)
            except HeapfitError as error:
                print(f"left out: {error}", file=sys.stderr)
    return {
        code: replace(fit_model(counted), **linked_bytes(code))
        for code, counted in tallies.items()
        if len({tally.trace for tally in counted}) > 1
    }


def linked_bytes(code: str) -> dict[str, Any]:
    """The fields `size`, `stack` and `adds` of a measured code."""
    adds = measure_shipped_sizes(plan_of_code(code))
    return {"size": adds.pop("bytes", None), "stack": adds.pop("stack", None), "adds": adds}


def main() -> None:
    """Measures what was asked for."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", default="", help="codes in whose label this is found")
    arguments.add_argument("--sizes", action="store_true", help="link again, count no calls")
    wish = arguments.parse_args()
    codes = {
        code: measured
        for code, measured in read_codes().items()
        if wish.sizes or (wish.only and not re.search(wish.only, code))
    }
    with tempfile.TemporaryDirectory() as scratch:
        workbench = Workbench(Path(scratch))
        if wish.sizes:
            codes = {c: replace(m, **linked_bytes(c)) for c, m in codes.items()}
        else:
            codes |= measured_again(workbench, wish.only, Path(scratch))
    save_codes(HERE / "python/heapfit/comparison/costs", codes)


if __name__ == "__main__":
    main()
