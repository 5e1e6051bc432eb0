# SPDX-License-Identifier: Apache-2.0
"""Measures what calls and code cost on an emulated Cortex-M4, for the models of heapfit.front.

Writes python/heapfit/front/calls.csv, a row for each code, trace and operation, and code_size.csv.
The codes are those of the design space's configurations; placements must equal the host's. Takes
some 20 minutes. `--only PATTERN` renews the codes in whose label the regular expression is found
and keeps the rest.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.board import BOARDS
from harness.calls import Calls
from harness.code_size import code_size
from harness.image import replay_design, replay_image
from harness.packed_trace import PackedTrace, pack
from harness.replay import counted_replay
from harness.verify import Case, host_replay
from harness.workbench import Build, Workbench
from heapfit import _engine
from heapfit.design.portfolio import named_portfolio
from heapfit.errors import HeapfitError
from heapfit.front import measured
from heapfit.front.code_label import code_label
from heapfit.front.space import SHARED, configurations
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import COLUMNS, Trace, TraceInfo, write_trace
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
COPY = 4  # instructions a byte, gcc -O2
LARGEST_IN_TABLE = 16_384  # bytes; tables of pools reach this far
ALLOC, ZEROED, ALIGNED, RESIZE, FREE = range(5)


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
    """Requests of all kinds, drawn from a fixed seed: the only aligned ones."""
    draw = random.Random(name)
    rows: list[tuple[int, int, int, int]] = []
    live: list[int] = []
    for _ in range(EVENTS):
        chance = draw.random()
        size = round(largest ** draw.random())
        if len(live) > 20 and chance < 0.44:
            rows.append((FREE, live.pop(draw.randrange(len(live))), 0, 0))
        elif live and chance < 0.6:
            rows.append((RESIZE, draw.choice(live), size, 0))
        else:
            op = draw.choices((ALLOC, ZEROED, ALIGNED), (6, 1, 3))[0]
            number = sum(row[0] < RESIZE for row in rows)
            rows.append((op, number, size, draw.choice((16, 32, 64)) if op == ALIGNED else 0))
            live.append(number)
    table = np.array(rows, np.uint64)
    columns = {key: np.zeros(len(rows), COLUMNS[key]) for key in COLUMNS}
    for i, key in enumerate(("op", "object", "size", "alignment")):
        columns[key] = table[:, i].astype(COLUMNS[key])
    return write_trace(path, [columns], TraceInfo())


def plans(loaded: LoadedTrace) -> dict[str, Plan]:
    """One plan for each code, where the trace has a use for it."""
    found = [one.plan for one in configurations(loaded).candidates]
    found += [one.plan for one in named_portfolio(loaded, ["chained_pool"], []).candidates]
    pools = [plan for plan in found if plan.allocator == "class_pools"]
    found += [variant for plan in pools for variant in pool_variants(plan)]
    return {code_label(plan): plan for plan in reversed(found)}


def pool_variants(plan: Plan) -> Iterator[Plan]:
    """The plan so that a table leads to a pool, and so that pools are searched; over each heap."""
    few = tuple(pool for pool in plan.pools if pool.size <= LARGEST_IN_TABLE)
    far = (*plan.pools, Pool(max(2 * LARGEST_IN_TABLE, plan.pools[-1].size + 8), 1, False))
    for pools in filter(None, (few, far)):
        if plan.shared is None and pools is far:
            yield replace(plan, pools=pools)
        for name in SHARED:
            shared = Plan(name, {"alignment": plan.scalars.get("alignment", 8)})
            yield replace(plan, pools=pools[:-1] or pools, shared=shared)
            yield replace(plan, pools=pools, shared=shared)


def measure(
    workbench: Workbench, plan: Plan, loaded: LoadedTrace, packed: PackedTrace
) -> Iterator[list[Any]]:
    """Replays on the board and on the host; nothing where no region serves the trace."""
    base = max(_engine.HOST_BASE_ALIGNMENT, loaded.trace.largest_alignment)
    region = _engine.Trial(plan.engine(), loaded.events, base).scan().r_safe
    if region is None:
        return
    case = Case(code_label(plan), plan, region, base)
    design = replay_design(plan, region, base)
    image = replay_image(workbench, M4, Build(*measured.CALLS_BUILD), design)
    target, calls = counted_replay(image, plan.allocator, packed, workbench.plugin)
    if target.placement_hash != host_replay(case, packed).result.placement_hash:
        raise HeapfitError(f"{case.name}: placed elsewhere than on the host")
    yield from tallied(calls)


def tallied(calls: Calls) -> Iterator[list[Any]]:
    """A row for each operation that was called: what measured.CALL_COLUMNS has from "operation"."""
    for operation in measured.OPERATIONS:
        records = calls.of(operation)
        if len(records) == 0:
            continue
        loads, stores, payload, instructions = (
            records[field].astype(np.int64)
            for field in ("heap_loads", "heap_stores", "payload", "instructions")
        )
        table = np.stack([loads, stores, without_copying(instructions, payload)], axis=1)
        sums = [table[:, i] @ table[:, j] for i, j in measured.PRODUCTS]
        longest = table[table[:, 2].argmax()]
        busiest = table[(table[:, 0] + table[:, 1]).argmax()]
        figures = [len(table), *table.sum(axis=0), *sums, *longest, *busiest]
        yield [operation, *map(int, figures)]


def without_copying(
    instructions: NDArray[np.int64], payload: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Instructions less those of the loop that copies payload (target/replay/payload.c)."""
    left = instructions - COPY * payload
    if (left <= 0).any():
        raise HeapfitError(f"a byte is copied in fewer than {COPY} instructions")
    return left


def kept(path: Path, pattern: str) -> list[list[str]]:
    """The rows there are whose code does not match."""
    if not pattern or not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row and not row[0].startswith("#")]
    return [row for row in rows[1:] if not re.search(pattern, row[0])]


def save(path: Path, columns: Sequence[str], rows: list[list[Any]]) -> None:
    """Writes one of the two files."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("# SPDX-License-Identifier: Apache-2.0\n")
        file.write("# Made by scripts/measure_calls.py: emulated Cortex-M4, arm-none-eabi-gcc.\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(sorted(rows, key=lambda row: [str(one) for one in row[:3]]))


def main() -> None:
    """Measures what was asked for."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", default="", help="codes in whose label this is found")
    pattern = arguments.parse_args().only
    folder = HERE / "python/heapfit/front"
    rows: list[list[Any]] = list(kept(folder / "calls.csv", pattern))
    sizes: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as scratch:
        workbench = Workbench(Path(scratch))
        for name, trace in traces(Path(scratch)):
            loaded, packed = load_trace(trace), pack(trace)
            for code, plan in plans(loaded).items():
                if not re.search(pattern, code):
                    continue
                print(f"{name} {code}", file=sys.stderr, flush=True)
                try:
                    found = [[code, name, *row] for row in measure(workbench, plan, loaded, packed)]
                except HeapfitError as error:
                    print(f"left out: {error}", file=sys.stderr)
                    continue
                rows += found
                if found and code not in sizes:
                    build = Build(*measured.SIZE_BUILD)
                    sizes[code] = code_size(workbench, M4, build, plan).total
    save(folder / "calls.csv", measured.CALL_COLUMNS, rows)
    size_rows: list[list[Any]] = list(kept(folder / "code_size.csv", pattern))
    size_rows += [[code, size] for code, size in sizes.items()]
    save(folder / "code_size.csv", measured.SIZE_COLUMNS, size_rows)


if __name__ == "__main__":
    main()
