# SPDX-License-Identifier: Apache-2.0
"""Memory against allocators of Rust: R_safe over U_max of recorded programs, beside `tailored`.

The crates that bench/rust_peers/Cargo.toml names replay each recording in regions of many sizes:
bisection to steps of 8 B, or of U_max / 4,000 where that is more, then 24 sizes up to 6 % above;
R is the smallest tried from which all larger tried ones serve. A heap's own struct counts. Blocks
are aligned to `--alignment`; a resize is what the crate has for it, else a second block. Ours is
the better of the layouts, with nothing learned.

Cargo fetches the crates. A pointer is 8 bytes in these builds unless `--target` names a 32-bit
target, as i686-unknown-linux-gnu; `--rustc` is a compiler that has its standard library.

The recordings are those of HEAPFIT_CORPUS; without it, or with `--examples`, those of examples/.
`--only WORD` keeps the names in which the word occurs. A crate that takes longer than `--patience`
seconds for one recording has no figure there. Nothing fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from memory import opened, recordings

from heapfit import _engine
from heapfit.cli.printing.console import out_table
from heapfit.design.placement.tailored_plans import layouts
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace

PEERS = ("talc", "rlsf", "linked_list_allocator", "buddy_system_allocator")
SOURCES = Path(__file__).parent / "rust_peers"
EXAMPLES = Path(__file__).parents[1] / "examples"
STEP = 8  # bytes
FINEST = 4_000  # steps of U_max
CONFIRMED = 24  # sizes above the smallest that serves
CONFIRMED_TO = 1.06  # times that size
LARGEST = 64  # times U_max; nothing is tried above
EVENT = np.dtype(
    [("size", "<u8"), ("object", "<u4"), ("alignment", "<u4"), ("op", "<u4"), ("tag", "<u4")]
)

ANSWERS = {"0\n": False, "1\n": True}  # whether all was served

Served = Callable[[int], bool]


class TooLongError(Exception):
    """A crate used up its time on a recording."""


@dataclass(frozen=True)
class Program:
    """The built replayer, and how it asks each crate."""

    path: Path
    alignment: int  # of blocks, at least
    patience: float  # seconds for one recording


@dataclass(frozen=True)
class Row:
    """R_safe over U_max by allocator; None where there is none, or no time for it."""

    name: str
    ratios: Mapping[str, float | None]


def built(folder: Path, target: str | None, rustc: str | None) -> Path:
    """The replayer, built in `folder`; SystemExit if cargo cannot."""
    package = shutil.copytree(SOURCES, folder / "rust_peers")
    chosen = ("--target", target) if target else ()
    command = ["cargo", "build", "--quiet", "--release", "--target-dir", str(folder), *chosen]
    environment = os.environ | ({"RUSTC": rustc} if rustc else {})
    done = subprocess.run(command, cwd=package, env=environment, check=False)
    if done.returncode != 0:
        raise SystemExit(f"cargo cannot build {SOURCES}")
    return folder / (target or "") / "release/rust_peers"


def save_events(trace: Trace, path: Path) -> int:
    """Writes a trace's events as the replayer reads them; returns how many objects they have."""
    objects = 0
    with path.open("wb") as file:
        for batch in trace.batches(("op", "object", "size", "alignment")):
            rows = np.zeros(len(batch["op"]), EVENT)
            for name, column in batch.items():
                rows[name] = column
            rows.tofile(file)
            objects = max(objects, int(rows["object"].max(initial=0)) + 1)
    return objects


@contextmanager
def asked(program: Program, peer: str, events: Path, objects: int) -> Iterator[Served]:
    """Whether `peer` serves all events in so many bytes; TooLongError once its time is used up."""
    command = [*map(str, (program.path, peer, events, objects, program.alignment))]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdin is not None and running.stdout is not None
        questions, answers = running.stdin, running.stdout
        end = threading.Timer(program.patience, running.kill)
        end.start()

        def served(size: int) -> bool:
            with suppress(BrokenPipeError):
                print(size, file=questions, flush=True)
            answer = answers.readline()
            if answer == "" and end.finished.is_set():
                raise TooLongError
            return ANSWERS[answer]

        try:
            yield served
        finally:
            end.cancel()


def rounded(size: float, step: int) -> int:
    return -(-int(size) // step) * step


def smallest_safe(served: Served, u_max: int) -> int | None:
    """R_safe as the head of this file has it; None if nothing up to LARGEST times U_max serves."""
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


def peer_ratio(program: Program, peer: str, events: Path, objects: int, u_max: int) -> float | None:
    try:
        with asked(program, peer, events, objects) as served:
            found = smallest_safe(served, u_max)
    except TooLongError:
        return None
    return None if found is None else found / u_max


def own_ratio(loaded: LoadedTrace, alignment: int) -> float:
    """Of the best layout of `tailored`."""
    regions = []
    for plan in layouts(alignment).values():
        base = max(loaded.trace.largest_alignment, plan.alignment)
        found = _engine.Trial(plan.engine(), loaded.events_for(plan), base).scan().r_safe
        regions += [] if found is None else [found]
    return min(regions) / loaded.profile.u_max


def rows_of(program: Program, traces: Mapping[str, Path | None], peers: Sequence[str]) -> list[Row]:
    """A row for each recording: one of the corpus by its name, or a file."""
    rows = []
    for name, path in traces.items():
        print(f"  {name}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder)
            trace = opened(name, scratch) if path is None else Trace.open(path)
            loaded = load_trace(trace, program.alignment)
            events = scratch / "events"
            objects = save_events(trace, events)
            u_max = loaded.profile.u_max
            ratios: dict[str, float | None] = {"ours": own_ratio(loaded, program.alignment)}
            for peer in peers:
                ratios[peer] = peer_ratio(program, peer, events, objects, u_max)
        rows.append(Row(name, ratios))
    return rows


def out_rows(rows: Sequence[Row], peers: Sequence[str]) -> None:
    """The table, its medians, and how often each crate needs less than ours."""
    names = ("ours", *peers)
    cells = [[row.name, *(shown(row.ratios[name]) for name in names)] for row in rows]
    columns = [known(rows, name) for name in names]
    medians = [statistics.median(column) if column else None for column in columns]
    worst = [max(column, default=None) for column in columns]
    out_table(
        ["recording", *names],
        [*cells, ["median", *map(shown, medians)], ["worst", *map(shown, worst)]],
    )
    for peer in peers:
        both = [row.ratios for row in rows if row.ratios[peer] is not None]
        fewer = sum((ratios[peer] or 0) < (ratios["ours"] or 0) for ratios in both)
        print(f"{peer} needs less than ours on {fewer} of {len(both)}")


def known(rows: Sequence[Row], name: str) -> list[float]:
    return [ratio for row in rows if (ratio := row.ratios[name]) is not None]


def shown(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.4f}"


def chosen_traces(word: str, is_small: bool) -> dict[str, Path | None]:
    found: dict[str, Path | None] = dict.fromkeys([] if is_small else recordings())
    if not found:
        files = sorted(EXAMPLES.glob("*/*.parquet"))
        found = {str(file.relative_to(EXAMPLES)): file for file in files}
    return {name: path for name, path in found.items() if word in name}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS)
    parser.add_argument("--examples", action="store_true")
    parser.add_argument("--alignment", type=int, choices=(4, 8, 16), default=4)
    parser.add_argument("--target")
    parser.add_argument("--rustc")
    parser.add_argument("--patience", type=float, default=600.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = built(Path(folder), given.target, given.rustc)
        program = Program(path, given.alignment, given.patience)
        traces = chosen_traces(given.only, given.examples)
        out_rows(rows_of(program, traces, given.peers), given.peers)


if __name__ == "__main__":
    main()
