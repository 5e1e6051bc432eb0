# SPDX-License-Identifier: Apache-2.0
"""All allocators over a set of recordings, each by exact replay (docs/evidence/league.md).

    python bench/league.py FOLDER_OF_RECORDINGS -o out --plugin bench/crates/*

Ours, baselines and the plug-ins that are given, with nothing learned. league.csv has a row for each
entrant, recording and alignment; standings over all recordings are printed. With
--board the heaps of C libraries take part, as they run on the emulated Cortex-M4, and plug-ins get
the instructions, code and stack that are counted there (packages: target/README.md). --write
renews the tables of the page.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from page_tables import add_option, write_result

from harness.board import BOARDS
from harness.library import ALIGNMENT, LIBRARIES, run_library
from harness.plugin import Target, count_plugin
from harness.workbench import Build, Workbench
from heapfit.cli.printing import console
from heapfit.comparison.candidate import Candidate
from heapfit.comparison.costs.measures import measures_of
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.measuring import measure_candidate
from heapfit.comparison.row import Row
from heapfit.design.placement.tailored_plans import layouts
from heapfit.design.portfolio import build_portfolio
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.outputs.file import stage_file
from heapfit.plan.allocators import find_allocators, takes
from heapfit.plan.energy import load_sram
from heapfit.plugin import Built, build, measure, plugins_of
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.names import distinct_source_names
from heapfit.trace.oversized import leave_out_oversized
from heapfit.trace.stored import COLUMNS, Trace, write_trace

KINDS = ("core", "baseline", "plug-in", "library")
UNSIZED, SIZED, IN_PIECES = "unsized", "with sized deallocation", "in pieces"
T = TypeVar("T")
TABLE = ("entrant", "interface", "served", "median", "worst", "accesses", "code, B", "faults")
LIBRARY_TABLE = ("library", "served", "median", "worst", "instructions", "code, B", "stack, B")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entrant's figures on one recording; sizes in bytes, None where there is no figure."""

    recording: str
    events: int  # of the recording
    alignment: int
    kind: str
    entrant: str
    interface: str
    bits: int = 32  # of a pointer of the allocator's build; of ours: their layout's
    u_max: int  # most live bytes
    r_min: int | None
    r_safe: int | None
    step: int = 0  # between the regions tried; 0: none was
    accesses: float | None = None  # loads and stores of metadata, an operation
    instructions: float | None = None  # of a call on a Cortex-M4: ours modelled, others' emulated
    code: int | None = None  # of init, alloc and free there
    stack: int | None = None  # of the deepest call there
    faults: str = ""  # of a plug-in, by name

    @property
    def ratio(self) -> float | None:
        return None if self.r_safe is None else self.r_safe / max(self.u_max, 1)

    @property
    def group(self) -> tuple[object, ...]:
        """Of the same entrant on all recordings."""
        about = (self.alignment, KINDS.index(self.kind))
        return (*about, self.entrant, self.interface, self.bits)


@dataclass(frozen=True, slots=True)
class Job:
    """A recording at an alignment, and who is measured on it."""

    name: str
    path: Path
    alignment: int
    allocators: tuple[str, ...]
    plugins: tuple[Built, ...]
    has_board: bool


def opened(sources: Sequence[Path], folder: Path, events: int | None) -> dict[str, Path]:
    """The recordings of files and folders by name, as stored traces of their first events."""
    files = [
        file
        for source in sources
        for file in (sorted(source.iterdir()) if source.is_dir() else [source])
    ]
    found = {}
    for file, name in zip(files, distinct_source_names(files), strict=True):
        whole = open_any(file, ImportOptions(), folder, name=f"whole-{name}")
        trace = leave_out_oversized(whole, folder)
        found[name] = shortened(trace, events, folder / f"{name}.parquet").path
    return found


def shortened(trace: Trace, events: int | None, path: Path) -> Trace:
    if events is None or trace.info.events <= events:
        return trace
    batch = next(iter(trace.batches(tuple(COLUMNS))))
    part = {name: column[:events] for name, column in batch.items()}
    return write_trace(path, [part], replace(trace.info, notes=()))


def measured(candidate: Candidate, loaded: LoadedTrace) -> Row:
    base = loaded.trace.base_alignment_for(candidate.plan.alignment)
    return measure_candidate(candidate, loaded, base_alignment=base)


def entry_of(job: Job, loaded: LoadedTrace) -> Callable[..., Entry]:
    """What entries of a recording have in common, their figures left open."""
    return partial(
        Entry,
        recording=job.name,
        events=loaded.trace.info.events,
        alignment=job.alignment,
        u_max=loaded.profile.u_max,
    )


def own_entry(job: Job, loaded: LoadedTrace, row: Row) -> Entry:
    (info,) = find_allocators([row.plan.allocator])
    costs = measures_of(row, loaded, load_sram(None))
    return entry_of(job, loaded)(
        kind="core" if info.ships else "baseline",
        entrant=row.name,
        interface=IN_PIECES if info.in_pieces else SIZED if info.needs_size else UNSIZED,
        r_min=row.r_min,
        r_safe=row.r_safe,
        step=row.step,
        accesses=row.accesses_per_operation,
        instructions=costs.time,
        code=costs.flash,
    )


def plain_rows(job: Job, loaded: LoadedTrace) -> list[Row]:
    """Each allocator that takes no pools, and each layout of tailored."""
    names = [one.name for one in find_allocators(job.allocators) if not takes(one, "pools")]
    found = {one.name: one for one in build_portfolio(loaded, names, []).candidates}
    more = {
        name: Candidate(name, Heap(name, plan), "a layout", trained_on_this_trace=False)
        for name, plan in layouts(job.alignment).items()
        if plan.allocator in {one.plan.allocator for one in found.values()}
    }
    return [measured(one, loaded) for one in (more | found).values()]


def plugin_entries(job: Job, loaded: LoadedTrace, folder: Path) -> Iterator[Entry]:
    target = Target(BOARDS["cortex-m4"], Build("Os"), job.alignment)
    for one in job.plugins:
        name = one.plugin.name
        row = measure(one, loaded.trace, job.alignment)
        count = partial(count_plugin, Workbench(folder / name), one.plugin, loaded.trace, target)
        found = on_board(name, job, count) if job.has_board else None
        counted = found and {
            "instructions": float(found.calls.records["instructions"].mean()),
            "code": found.size.total,
            "stack": found.calls.deepest_stack(found.stack, *found.calls.functions),
        }
        yield entry_of(job, loaded)(
            kind="plug-in",
            entrant=name,
            interface=SIZED if row.is_sized else UNSIZED,
            bits=row.bits,
            r_min=row.r_min,
            r_safe=row.r_safe,
            step=row.step,
            accesses=row.accesses_per_operation,
            faults="; ".join(sorted({fault.name for fault in row.faults})),
            **(counted or {}),
        )


def library_entries(job: Job, loaded: LoadedTrace, folder: Path) -> Iterator[Entry]:
    """C libraries' heaps; one that does not fit into the board has no entry."""
    for one in LIBRARIES:
        count = partial(run_library, Workbench(folder / one.name), one, loaded.trace)
        found = on_board(one.name, job, count)
        if found is not None:
            yield entry_of(job, loaded)(
                kind="library",
                entrant=one.name,
                interface=UNSIZED,
                r_min=found.region,
                r_safe=found.region,
                instructions=found.instructions,
                code=found.code,
                stack=found.stack,
            )


def on_board(name: str, job: Job, count: Callable[[], T]) -> T | None:
    try:
        return count()
    except HeapfitError as error:
        print(f"{name} on {job.name} left out: {error}", file=sys.stderr)
        return None


def entries_of(job: Job) -> list[Entry]:
    """All entries of one recording at one alignment."""
    loaded = load_trace(Trace.open(job.path), job.alignment)
    found = [own_entry(job, loaded, row) for row in plain_rows(job, loaded)]
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        found += plugin_entries(job, loaded, Path(folder))
        if job.has_board and job.alignment == ALIGNMENT:
            found += library_entries(job, loaded, Path(folder))
    return found


def jobs_of(asked: argparse.Namespace, recordings: dict[str, Path], folder: Path) -> list[Job]:
    given = plugins_of(asked.plugin, asked.pointer_bits, asked.cflags)
    plugins = tuple(build(one, folder / f"plugin-{i}") for i, one in enumerate(given))
    names = tuple(asked.allocators) or tuple(one.name for one in find_allocators([]))
    return [
        Job(name, path, alignment, names, plugins, asked.board)
        for name, path in recordings.items()
        for alignment in asked.alignment or (4, 8)
    ]


def figure(value: float | None, form: str = "") -> str:
    return "-" if value is None else format(value, form)


def median(values: Sequence[float | None]) -> float | None:
    known = [one for one in values if one is not None]
    return statistics.median(known) if known else None


def standings(entries: Sequence[Entry]) -> list[tuple[Entry, tuple[str, ...]]]:
    """An entry of each entrant with its cells; those that serve most first, then by the median."""
    groups: dict[tuple[object, ...], list[Entry]] = {}
    for one in entries:
        groups.setdefault(one.group, []).append(one)
    found = []
    for group in groups.values():
        first = group[0]
        ratios = [one.ratio for one in group if one.ratio is not None]
        middle = median(ratios)
        order = (-len(ratios), float("inf") if middle is None else middle, first.group)
        shares = (f"{len(ratios)} of {len(group)}", figure(middle, ".4f"),
                  figure(max(ratios, default=None), ".4f"))  # fmt: skip
        found.append((order, first, cells_of(group, shares)))
    return [(first, cells) for _, first, cells in sorted(found, key=lambda one: one[0])]


def cells_of(group: Sequence[Entry], shares: tuple[str, ...]) -> tuple[str, ...]:
    """The cells of TABLE; of a library those of LIBRARY_TABLE."""
    first = group[0]
    if first.kind == "library":
        stack = max((one.stack for one in group if one.stack is not None), default=None)
        instructions = median([one.instructions for one in group])
        return first.entrant, *shares, figure(instructions, ".1f"), figure(first.code), str(stack)
    faults = {name for one in group for name in one.faults.split("; ") if name}
    accesses = figure(median([one.accesses for one in group]), ".1f")
    known = "; ".join(sorted(faults)) or "-"
    return first.entrant, first.interface, *shares, accesses, figure(first.code), known


def show(entries: Sequence[Entry], writes: bool) -> None:
    """A table for each alignment; libraries have their own."""
    ranked = standings(entries)
    for alignment, is_library in sorted(
        {(one.alignment, one.kind == "library") for one in entries}
    ):
        columns, name = (LIBRARY_TABLE, "c-libraries") if is_library else (TABLE, "open-set")
        these = [
            (one.kind, cells)
            for one, cells in ranked
            if (one.alignment, one.kind == "library") == (alignment, is_library)
        ]
        print(f"Blocks aligned to {alignment} B; R_safe / U_max:")
        console.print_table(columns, [cells for _, cells in these], width=console.WIDE)
        if writes:
            write_result(name, columns, [cells for kind, cells in these if kind != "baseline"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sources", type=Path, nargs="+", metavar="RECORDING|FOLDER")
    parser.add_argument("-o", "--output", type=Path, required=True, help="league.csv is put there")
    parser.add_argument("--allocators", nargs="+", default=[], help="of ours; default: all")
    parser.add_argument("--alignment", type=int, action="append", choices=(4, 8, 16))
    parser.add_argument("--events", type=int, help="only the first so many of each recording")
    parser.add_argument("--plugin", type=Path, nargs="+", action="extend", default=[])
    parser.add_argument("--cflags", action="append", default=[])
    parser.add_argument("--pointer-bits", type=int, default=32, choices=(32, 64))
    parser.add_argument("--board", action="store_true")
    parser.add_argument("--workers", type=int)
    add_option(parser)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heapfit-") as here:
        recordings = opened(asked.sources, Path(here), asked.events)
        jobs = jobs_of(asked, recordings, Path(here))
        with ProcessPoolExecutor(asked.workers) as pool:
            entries = [one for found in pool.map(entries_of, jobs) for one in found]
    with stage_file(asked.output / "league.csv") as path, path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [one.name for one in fields(Entry)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, entries))
    show(entries, asked.write)


if __name__ == "__main__":
    main()
