# SPDX-License-Identifier: Apache-2.0
"""Small traces in the text form, made up with fixed seeds; and the program run on them."""

import json
import os
import random
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from heapfit import _engine
from heapfit.comparison.comparison import Comparison
from heapfit.design.plan_options import PlanOptions
from heapfit.design.robust.design import design_several
from heapfit.importers import ImportOptions, open_any
from heapfit.sweep import Sweep
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace
from program import run_heapfit


def bimodal(path: Path, events: int = 2000, seed: int = 1, pointer_bits: int = 32) -> Path:
    """Packets as Mamagkakis et al. have them: 43 % of 40 B, 26 % of 1500 B, the rest in between."""
    draw = random.Random(seed)

    def size() -> int:
        return draw.choices([40, 1500, draw.randrange(41, 1500)], [43, 26, 31])[0]

    return _slots(path, events, draw, size, pointer_bits)


def table2(path: Path, events: int = 4000, seed: int = 1) -> Path:
    """Four sizes, at most ten of each live: Lee and Yi, table 2, workload 4."""
    draw = random.Random(seed)
    live: dict[int, list[int]] = {2952: [], 1978: [], 1040: [], 528: []}
    lines = ["# heap-events 1", "# pointer_bits 32"]
    born = 0
    for _ in range(events):
        size = draw.choice(list(live))
        blocks = live[size]
        if blocks and (len(blocks) == 10 or draw.random() < 0.5):
            lines.append(f"f {blocks.pop(draw.randrange(len(blocks)))}")
        else:
            lines.append(f"a {born} {size}")
            blocks.append(born)
            born += 1
    return _write(path, lines)


def diverse(path: Path, events: int = 2000, seed: int = 4) -> Path:
    """Sizes without any mode: what pools gain or lose is chance, and with this seed they lose."""
    draw = random.Random(seed)
    return _slots(path, events, draw, lambda: draw.randrange(8, 2000), 32)


def tiny(path: Path, events: int = 600, seed: int = 1) -> Path:
    """Blocks that are no larger than a header of FreeRTOS heap_4 and a half."""
    draw = random.Random(seed)
    return _slots(path, events, draw, lambda: draw.choice([4, 12]), 32)


def load_lines(path: Path, lines: Iterable[str], alignment: int = 8) -> LoadedTrace:
    """A recording on 32 bit of these lines in the text form, stored beside it."""
    _write(path, ["# heap-events 1", "# pointer_bits 32", *lines])
    return load_trace(open_any(path, ImportOptions(), path.parent), alignment)


def event_array(rows: Iterable[tuple[int, int, int]]) -> _engine.EventArray:
    """Of (operation, object, size)."""
    ops, objects, sizes = zip(*rows, strict=True)
    array = _engine.EventArray()
    columns = (np.array(ops, np.uint8), np.array(objects, np.uint32), np.array(sizes, np.uint64))
    array.append(*columns)
    return array


def random_calls(
    seed: int, count: int, sizes: Sequence[int], ops: Sequence[int] = (0,)
) -> list[tuple[int, int, int]]:
    """Allocations by these operations, resizes and frees as (operation, object, size)."""
    draw = random.Random(seed)
    live: list[int] = []
    rows = []
    born = 0
    for _ in range(count):
        action = draw.random()
        if not live or action < 0.5:
            rows.append((ops[born % len(ops)], born, draw.choice(sizes)))
            live.append(born)
            born += 1
        elif action < 0.6:
            rows.append((3, draw.choice(live), draw.choice(sizes)))
        else:
            rows.append((4, live.pop(draw.randrange(len(live))), 0))
    return rows


def _slots(path, events, draw, size, pointer_bits) -> Path:
    live: list[int] = []
    lines = ["# heap-events 1", f"# pointer_bits {pointer_bits}"]
    born = 0
    for _ in range(events):
        if live and draw.random() < len(live) / 120:
            lines.append(f"f {live.pop(draw.randrange(len(live)))}")
        else:
            lines.append(f"a {born} {size()}")
            live.append(born)
            born += 1
    return _write(path, lines)


def _write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def heapfit(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the program as its users do, in `folder`."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    return run_heapfit(*arguments, folder=folder, environment=environment)


def heapfit_json(*arguments: object, folder: Path) -> dict:
    """What the program prints with --json, which must be all it prints."""
    done = heapfit(*arguments, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["schema"] == 1
    return content


def fit_json(*arguments: object, folder: Path) -> dict:
    """What `heapfit fit` of one heap prints with --json."""
    (fitted,) = heapfit_json("fit", *arguments, folder=folder)["fits"]
    return fitted


def design_whole(
    traces: Sequence[Trace], options: PlanOptions | None = None, sweep: Sweep | None = None
) -> Comparison:
    """Every candidate for several traces, measured on all of them."""
    options = options or PlanOptions()
    loaded = [load_trace(trace, options.alignment) for trace in traces]
    return design_several(loaded, options, sweep=sweep, is_whole=True)[0]
