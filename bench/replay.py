# SPDX-License-Identifier: Apache-2.0
"""How fast the engine reads events, as ratios to summing them in memory; and the memory it takes.

    python bench/replay.py               ratios, on one core
    python bench/replay.py --resident    resident memory of a replay of 100 million events

All figures of a run are taken on the same trace, in turns, the best of each kept: a loaded machine
slows all of them alike. The trace is slotbuf_1M of the corpus where HEAPFIT_CORPUS names it, else a
slot buffer of the same shape drawn from a fixed seed. This is no test: nothing fails.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.importers import ImportOptions, open_any
from heapfit.trace.operations import REPLAYED, is_allocation
from heapfit.trace.origin import WorkloadSpec
from heapfit.trace.profile import SAMPLES
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import generate_workload

TURNS = 20
GENERATED = WorkloadSpec("slotbuf", seed=1, parameters={"events": 1_000_000})
LONG = 100_000_000
LONG_REGION = 64 << 20  # bytes: room for what 100 rounds never free
MEGABYTE = 1_000_000

# What is aimed at: this many times the time of summing the events.
AIMS = {
    "metered TLSF replay, from memory": 40,
    "metered TLSF replay, from Parquet": 55,
    "profile, from memory": 8,
    "profile, from Parquet": 20,
}


def load(folder: Path) -> Trace:
    corpus = os.environ.get("HEAPFIT_CORPUS")
    if corpus is None:
        print(f"trace: {GENERATED.label}, seed {GENERATED.seed} (HEAPFIT_CORPUS is not set)")
        return generate_workload(GENERATED, folder / "slots.parquet")
    source = Path(corpus) / "synthetic" / "slotbuf_1M.heap.gz"
    print(f"trace: {source.name}")
    return open_any(source, ImportOptions(), folder)


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def region_for(plan: _engine.Plan, events: _engine.EventArray) -> int:
    """A region in which the whole trace runs."""
    search = _engine.Trial(plan, events).scan(threads=1)
    assert search.r_safe is not None
    return search.r_safe


def records_of(columns: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """The events as 16-byte records, as the engine holds them."""
    kinds = [("size", "u8"), ("object", "u4"), ("op", "u1"), ("alignment", "u1"), ("unused", "u2")]
    records = np.zeros(len(columns["op"]), dtype=kinds)
    for name in ("size", "object", "op"):
        records[name] = columns[name]
    return records


def whole(trace: Trace) -> dict[str, NDArray[Any]]:
    batches = list(trace.batches(REPLAYED))
    return {name: np.concatenate([batch[name] for batch in batches]) for name in REPLAYED}


def ratios(trace: Trace) -> None:
    events = trace.events()
    sizes = records_of(whole(trace))["size"]
    plan = _engine.Plan("tlsf")
    region = region_for(plan, events)

    def replay(batches: Iterator[_engine.EventArray]) -> None:
        engine = _engine.Replay(plan, region, samples=SAMPLES, expected_events=len(events))
        for batch in batches:
            assert engine.feed(batch)

    def profile(batches: Iterator[_engine.EventArray]) -> None:
        engine = _engine.Profile(SAMPLES)
        for batch in batches:
            engine.feed(batch)

    work: dict[str, Callable[[], object]] = {
        "summing the sizes of the 16 B events": sizes.sum,
        "metered TLSF replay, from memory": lambda: replay(iter([events])),
        "metered TLSF replay, from Parquet": lambda: replay(events for events, _ in trace.walk()),
        "profile, from memory": lambda: profile(iter([events])),
        "profile, from Parquet": lambda: profile(events for events, _ in trace.walk()),
    }
    best = dict.fromkeys(work, float("inf"))
    for _ in range(TURNS):
        for name, step in work.items():
            best[name] = min(best[name], seconds(step))
    reference, *_ = best.values()
    for name, took in best.items():
        aim = f"   aim 1/{AIMS[name]}" if name in AIMS else ""
        rate = len(events) / took / 1e6
        print(f"{name:38} {rate:7.1f} M events/s   1/{took / reference:.1f}{aim}")


def repeated(columns: dict[str, NDArray[Any]]) -> Iterator[_engine.EventArray]:
    """The trace over and over, with new objects each time; what it never frees stays live."""
    ops = columns["op"]
    allocations = int(is_allocation(ops).sum())
    for first in range(0, LONG, len(ops)):
        events = _engine.EventArray(first)
        objects = columns["object"] + np.uint32(first // len(ops) * allocations)
        events.append(ops, objects, columns["size"])
        yield events


def resident(trace: Trace) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    engine = _engine.Replay(
        _engine.Plan("tlsf"), LONG_REGION, samples=SAMPLES, expected_events=LONG
    )
    for events in repeated(whole(trace)):
        assert engine.feed(events)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = engine.result()
    print(f"replayed {result.events:,} events, {result.allocations:,} allocations")
    print(f"resident at most {after * 1024 / MEGABYTE:.0f} MB (aim: below 500 MB)")
    print(f"of which {before * 1024 / MEGABYTE:.0f} MB before the replay, from the import")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--resident", action="store_true")
    wish = arguments.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        trace = load(Path(folder))
        if wish.resident:
            resident(trace)
        else:
            ratios(trace)


if __name__ == "__main__":
    main()
