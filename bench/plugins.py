# SPDX-License-Identifier: Apache-2.0
"""Plug-ins beside what is known of them: our own allocators, and crates of Rust.

    python bench/plugins.py own       tlsf and best_fit given as plug-ins: R_min, R_safe, placements
                                      and accesses must be those of the engine's own
    python bench/plugins.py board     instructions and code of these crates on a Cortex-M4
    python bench/plugins.py crates    R_min over U_max of the crates that have an adapter here, and
                                      what checks of every block's content find in that region

The recordings are those of HEAPFIT_CORPUS; without it those of examples/. `--only WORD` keeps the
names in which the word occurs, `--events N` the first so many events. Nothing fails.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from memory import opened, recordings
from page_tables import add_option, write_result

from harness.board import BOARDS
from harness.plugin import OnBoard, Target, count_plugin
from harness.workbench import Build, Workbench
from heapfit.cli.printing import console
from heapfit.comparison.measuring import measure_candidate
from heapfit.comparison.row import Row
from heapfit.design.portfolio import build_portfolio
from heapfit.plugin import Built, Plugin, PluginRow, build, measure, plugin_of
from heapfit.plugin.measuring import save_events
from heapfit.plugin.running import start_process
from heapfit.trace.loaded import load_trace
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace, write_trace

ROOT = Path(__file__).parents[1]
ADAPTER = ROOT / "tests/python/plugins/core.c"
PLANS = {"tlsf": "{{8},0,2}", "best_fit": "{{8}}"}  # the standard ones
STEP = 8  # bytes
FINEST = 4_000  # steps of U_max
CONFIRMED = 24  # sizes above the smallest that serves
CONFIRMED_TO = 1.06  # times that size
LARGEST = 64  # times U_max; nothing is tried above
COLUMNS = ("op", "object", "size", "alignment", "time", "thread", "site")


def rounded(size: float, step: int) -> int:
    return -(-int(size) // step) * step


def smallest_safe(served: Callable[[int], bool], u_max: int) -> int | None:
    """R_safe by bisection, confirmed above; None if nothing up to LARGEST times U_max serves."""
    step = rounded(max(STEP, u_max / FINEST), STEP)
    low, high = u_max - 1, rounded(u_max, step)
    while not served(high):
        low, high = high, 2 * high
        if high > LARGEST * u_max + (1 << 16):
            return None
    while high - low > step:
        middle = rounded((low + high) / 2, STEP)
        if middle >= high:
            break
        low, high = (low, middle) if served(middle) else (middle, high)
    above = {rounded(size, STEP) for size in np.linspace(high, CONFIRMED_TO * high, CONFIRMED + 1)}
    sizes = sorted(above)
    failed = [size for size in sizes[1:] if not served(size)]
    return min((size for size in sizes if not failed or size > failed[-1]), default=None)


def chosen_traces(word: str) -> dict[str, Path | None]:
    """Of the corpus by name; without one, files of examples/, but of the open set."""
    found: dict[str, Path | None] = dict.fromkeys(recordings())
    if not found:
        files = sorted((ROOT / "examples").glob("*/*.parquet"))
        found = {str(file.relative_to(ROOT / "examples")): file for file in files}
    return {name: path for name, path in found.items() if word in name}


def own_plugin(name: str) -> Plugin:
    """An allocator of core with the adapter that tests use."""
    core = ROOT / "core"
    return Plugin(
        name,
        (ADAPTER, core / f"src/tiling/{name}.c"),
        32,
        (
            *(f"-I{core / 'include'}", f"-I{core}", "-ffreestanding"),
            *("-fno-tree-loop-distribute-patterns", f"-DNAME={name}"),
            f"-DPLAN_VALUES={PLANS[name]}",
        ),
    )


def shortened(trace: Trace, events: int | None, folder: Path) -> Trace:
    """The first events alone, if so many are wished."""
    if events is None or trace.info.events <= events:
        return trace
    batch = next(iter(trace.batches(COLUMNS)))
    part = {name: column[:events] for name, column in batch.items()}
    return write_trace(folder / "first.parquet", iter([part]), trace.info)


def traces_of(wish: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Trace]]:
    for name, path in chosen_traces(wish.only).items():
        trace = opened(name, folder) if path is None else Trace.open(path)
        yield name, shortened(trace, wish.events, folder)


def crates(bits: int) -> Iterator[Plugin]:
    """Those with an adapter in bench/crates; cargo fetches them."""
    return (plugin_of(folder, bits) for folder in sorted((ROOT / "bench/crates").iterdir()))


def own_cells(row: PluginRow, own: Row) -> list[str]:
    assert own.replay is not None
    same = (row.r_min, row.r_safe) == (own.r_min, own.r_safe)
    accesses = ((row.loads or 0) + (row.stores or 0)) / (own.replay.loads + own.replay.stores)
    return [
        str(own.r_safe),
        "same" if same else f"{row.r_min}, {row.r_safe}",
        "same" if row.placements == own.replay.placement_hash else "other",
        f"{row.accesses_per_operation:.2f}",
        f"{accesses - 1:+.2%}",
        str(len(row.faults)),
    ]


def out_own(wish: argparse.Namespace, folder: Path) -> None:
    built = {name: build(own_plugin(name), folder / name) for name in PLANS}
    for label, trace in traces_of(wish, folder):
        loaded = load_trace(trace, 8)
        for name, program in built.items():
            (candidate,) = build_portfolio(loaded, [name], []).candidates
            base = max(trace.largest_alignment, 8)
            own = measure_candidate(candidate, loaded, base_alignment=base)
            row = measure(program, trace, 8)
            print(f"{label:28} {name:9}", *own_cells(row, own), flush=True)


def crate_cells(
    built: Built, trace: Trace, alignment: int, folder: Path
) -> tuple[float | None, str]:
    """R_min over U_max, searched as docs/evidence/peers.md says; then what content checks find."""
    events = folder / "events"
    save_events(trace, events)
    u_max = profile_trace(trace).u_max
    with start_process(built.program, events, alignment) as process:

        def served(size: int) -> bool:
            if size <= built.statics_bytes:
                return False
            answer, fault = process.ask("places", size - built.statics_bytes)
            return fault is None and answer["runs"] == 1

        found = smallest_safe(served, u_max)
        if found is None:
            return None, "serves in no region"
        efforts = ("apart", "content")
        told = [process.ask(effort, found - built.statics_bytes)[1] for effort in efforts]
    return found / u_max, "; ".join(str(fault) for fault in told if fault) or "no fault"


def out_crates(wish: argparse.Namespace, folder: Path) -> None:
    built = {
        one.name: build(one, folder / one.name)
        for one in crates(wish.bits)
        if one.name in (wish.crates or one.name)
    }
    rows: dict[str, list[float]] = {name: [] for name in built}
    for label, trace in traces_of(wish, folder):
        for name, program in built.items():
            ratio, content = crate_cells(program, trace, wish.alignment, folder)
            rows[name] += [] if ratio is None else [ratio]
            print(f"{label:28} {name:24} {ratio}  {content}", flush=True)
    cells = [[name, f"{statistics.median(found):.4f}"] for name, found in rows.items() if found]
    console.print_table(["crate", "median"], cells, width=console.WIDE)


def board_row(name: str, found: OnBoard) -> tuple[object, ...]:
    calls = [found.calls.spread(one) for one in found.calls.functions]
    spreads = [f"{one.mean:.0f}; {one.worst}" for one in calls if one is not None]
    return name, found.region, *spreads, found.size.total, found.size.memory


def out_board(wish: argparse.Namespace, folder: Path) -> None:
    trace = Trace.open(ROOT / "examples/lwip-echo/lwip-echo.parquet")
    target = Target(BOARDS["cortex-m4"], Build("Os"), alignment=8)
    columns = ("crate", "region, B", "alloc: mean; worst", "free: mean; worst",
               "code and constants, B", "variables, B")  # fmt: skip
    rows = []
    for plugin in crates(bits=32):
        if plugin.name in (wish.crates or plugin.name):
            found = count_plugin(Workbench(folder / plugin.name), plugin, trace, target)
            rows.append(board_row(plugin.name, found))
    console.print_table(columns, rows, width=console.WIDE)
    if wish.write:
        write_result("board-crates", columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("own", "board", "crates"))
    parser.add_argument("--only", default="")
    parser.add_argument("--events", type=int)
    parser.add_argument("--alignment", type=int, default=4, help="of the crates' blocks")
    parser.add_argument("--bits", type=int, default=32, choices=(32, 64))
    parser.add_argument("--crates", nargs="+")
    add_option(parser)
    wish = parser.parse_args()
    out = {"own": out_own, "board": out_board, "crates": out_crates}[wish.what]
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        out(wish, Path(folder))


if __name__ == "__main__":
    main()
