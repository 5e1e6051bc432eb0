# SPDX-License-Identifier: Apache-2.0
"""Short traces to replay on boards: own examples, and the corpus where HEAPFIT_CORPUS names it."""

import os
import random
from pathlib import Path

import numpy as np

from harness import sources
from heapfit.importers import ImportOptions, open_any
from heapfit.trace.operations import REPLAYED
from heapfit.trace.stored import COLUMNS, Trace, TraceInfo, write_trace

EVENTS = 4000
EXAMPLES = ("lwip-echo", "lua")
SYNTHETIC = ("slotbuf_100k", "t2_w4", "poisson_500")
ALLOC, ZEROED, ALIGNED, RESIZE, FREE = range(5)
MADE = ("mixed", "four sizes", "packets")


def names() -> list[str]:
    """Five traces."""
    return [*EXAMPLES, *(SYNTHETIC if "HEAPFIT_CORPUS" in os.environ else MADE)]


def recording(name: str, folder: Path, events: int = EVENTS) -> Trace:
    """The first events of the trace of this name."""
    if name in EXAMPLES:
        return cut(Trace.open(sources.root() / f"examples/{name}/{name}.parquet"), events, folder)
    if name in MADE:
        return made(name, events, folder)
    source = Path(os.environ["HEAPFIT_CORPUS"]) / f"synthetic/{name}.heap.gz"
    return cut(open_any(source, ImportOptions(), folder), events, folder)


def cut(trace: Trace, events: int, folder: Path) -> Trace:
    """Just the first events; what they leave live stays so."""
    columns = next(trace.batches(tuple(COLUMNS)))
    first = {name: column[:events] for name, column in columns.items()}
    return write_trace(folder / f"{trace.path.stem}-cut.parquet", [first], TraceInfo())


def made(name: str, events: int, folder: Path) -> Trace:
    """A walk from a fixed seed: a random request, or the end or another size of a random object."""
    draw = random.Random(name)
    rows: list[tuple[int, int, int, int]] = []
    live: list[int] = []
    objects = 0
    for _ in range(events):
        chance = draw.random()
        if live and chance < 0.44:
            rows.append((FREE, live.pop(draw.randrange(len(live))), 0, 0))
        elif live and name == "mixed" and chance < 0.54:
            rows.append((RESIZE, draw.choice(live), max(size_of(name, draw), 1), 0))
        else:
            op = draw.choices((ALLOC, ZEROED, ALIGNED), (8, 1, 1))[0] if name == "mixed" else ALLOC
            alignment = draw.choice((1, 8, 32)) if op == ALIGNED else 0
            rows.append((op, objects, size_of(name, draw), alignment))
            live.append(objects)
            objects += 1
    return stored(rows, folder / f"{name}.parquet")


def size_of(name: str, draw: random.Random) -> int:
    match name:
        case "four sizes":  # Lee and Yi 2008, table 2, workload 4
            return draw.choice((2952, 1978, 1040, 528))
        case "packets":  # Mamagkakis et al. 2004: 43 % of 40 B, 26 % of 1500 B
            return draw.choices((40, 1500, draw.randrange(41, 1500)), (43, 26, 31))[0]
        case _:
            return draw.choice((draw.randrange(8), 24, 40, 100, draw.randrange(2000)))


def stored(rows: list[tuple[int, int, int, int]], path: Path) -> Trace:
    columns = dict(zip(REPLAYED, np.array(rows, np.uint64).T, strict=True))
    return write_trace(path, [columns], TraceInfo())
