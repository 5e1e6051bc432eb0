#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the heap that fit names survive the next build? Changed programs in its region.

Each fit is made twice: as `heapfit fit` does, and without trials on changed programs. Each named
plan is then replayed on every counted change, in the region to set x the changed peak / the peak.
Beside it stands what two changes need over the region itself: 8 B more a request, and 8 B more in
each request of the heaviest size. Recorded programs and firmware need HEAPFIT_CORPUS; firmware is
fitted to all of its recordings at once. Of the folders named, each first run is added. `--only
WORD` keeps the rows in whose names the word occurs. Nothing fails: what is not reached says so.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

from memory import corpus, opened, recordings
from page_tables import add_option, write_result

from heapfit import _engine
from heapfit.cli.printing import console
from heapfit.comparison.changed_programs import MOST_GROWTH
from heapfit.fitting.choice import Choice
from heapfit.fitting.choosing import choose
from heapfit.fitting.options import FitOptions
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.operations import REPLAYED
from heapfit.trace.stored import Trace
from heapfit.workloads.changes import Change, list_changes

FIRMWARE = ("lwip-httpd", "zephyr-kmalloc", "zephyr-listener")
LISTED = "heapfit.comparison.changed_programs.list_changes"
COLUMNS = ("recordings", "plan without trials", "breaks", "plan with trials", "counted changes",
           "break it", "margin, %", "region, % more", "need over region, 8 B more a request",
           "with trials", "events, % more")  # fmt: skip


@dataclass(frozen=True)
class Promise:
    """A plan in its region on the changed programs."""

    choice: Choice
    broken: int
    counted: int
    larger_requests: float  # what 8 B more a request need over the region
    larger_blocks: float  # likewise of the heaviest size alone


def inputs(folder: Path, word: str, others: Sequence[Path]) -> Iterator[tuple[str, list[Trace]]]:
    """Names and recordings of each fit."""
    given = corpus()
    for name in FIRMWARE if given else ():
        if word in name:
            paths = sorted((given / "firmware").glob(f"{name}-*.parquet")) if given else []
            yield name, [Trace.open(path) for path in paths]
    for name in recordings():
        if word in name:
            yield name.removesuffix(".heap.gz"), [opened(name, folder)]
    for path in sorted(path for other in others for path in other.glob("*-1.parquet")):
        if word in path.stem:
            yield path.stem.removesuffix("-1"), [Trace.open(path)]


def chosen(name: str, loaded: Sequence[LoadedTrace]) -> Choice:
    """As the command does it."""
    names = [name] if len(loaded) == 1 else [f"{name} {number}" for number in range(len(loaded))]
    return choose(loaded, names, options=FitOptions())


def changed(change: Change, loaded: LoadedTrace, plan: Plan) -> _engine.EventArray:
    (columns,) = loaded.batches((*REPLAYED, "site"))
    after = change.apply(columns)
    events = _engine.EventArray()
    events.append(after["op"], after["object"], after["size"], after["alignment"])
    tagged = replace(loaded, sites=after["site"]).tags(plan.sites) if plan.sites else None
    return events if tagged is None else events.tagged(tagged)


def peak_of(events: _engine.EventArray) -> int:
    profile = _engine.Profile(1)
    profile.feed(events)
    return int(profile.result().u_max)


def promise(choice: Choice, loaded: Sequence[LoadedTrace]) -> Promise:
    size, plan = choice.answer.size, choice.winner.plan
    base = max(one.largest_alignment for one in loaded)
    changes = list_changes(max(loaded, key=lambda one: one.profile.u_max))
    broken = counted = 0
    over: list[float] = []
    for change in changes:
        runs = [changed(change, one, plan) for one in loaded]
        peak = max(map(peak_of, runs))
        trials = [_engine.Trial(plan.engine(), run, base) for run in runs]
        if change.is_of_sizes or 100 * (peak / size.u_max - 1) <= MOST_GROWTH:
            region = replace(size, peak=max(peak, size.u_max)).region
            counted += 1
            broken += not all(trial.run(region).runs for trial in trials)
        if change in (changes[0], changes[2]):
            needs = [trial.scan().r_safe for trial in trials]
            over.append(max(need or float("inf") for need in needs) / size.region)
    return Promise(choice, broken, counted, *over)


def row(name: str, traces: Sequence[Trace]) -> tuple[tuple[object, ...], list[int]]:
    """The row, and the events that both fits replayed."""
    print(name, file=sys.stderr, flush=True)
    first, loaded = (
        [load_trace(trace) for trace in traces] for _ in range(2)
    )  # they keep searches
    with mock.patch(LISTED, lambda _: ()):
        before = promise(chosen(name, first), first)
    now = promise(chosen(name, loaded), loaded)
    sizes = [one.choice.answer.size for one in (before, now)]
    works = [one.choice.comparison.work.events for one in (before, now)]
    cells = (
        *(name, before.choice.winner.name, before.broken),
        *(now.choice.winner.name, now.counted, now.broken, f"{sizes[1].margin:g}"),
        f"{100 * (sizes[1].region / sizes[0].region - 1):.1f}",
        *(f"{before.larger_requests:.3f}", f"{now.larger_requests:.3f}"),
        f"{100 * (works[1] / works[0] - 1):.1f}",
    )
    print(
        f"{name}: heaviest size 8 B larger, need over region: {before.larger_blocks:.3f}, with "
        f"trials {now.larger_blocks:.3f}"
    )
    return cells, works


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="fits in whose names this word occurs")
    parser.add_argument(
        "folders", nargs="*", type=Path, help="of further recordings NAME-1.parquet"
    )
    add_option(parser)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = [
            row(name, traces) for name, traces in inputs(Path(folder), asked.only, asked.folders)
        ]
    rows = [cells for cells, _ in found]
    console.print_table(COLUMNS, rows, width=console.WIDE)
    before, now = (sum(int(str(one[i])) for one in rows) for i in (2, 5))
    print(f"counted changes that break a named plan: {before} without trials, {now} with; aim 0")
    without, with_trials = (sum(works[i] for _, works in found) for i in (0, 1))
    print(f"events replayed in all: {100 * (with_trials / without - 1):.1f} % more; aim 20")
    if asked.write:
        write_result("changes", COLUMNS, rows)


if __name__ == "__main__":
    main()
