# SPDX-License-Identifier: Apache-2.0
"""Instructions an event of the engine's passes, and a request of its simulations, by callgrind.

    python bench/instructions.py                 all of them (some minutes)
    python bench/instructions.py NAME...         those whose name holds one of the words

A figure is what more work costs: each kind of work runs once and five times in a process under
valgrind (Debian: valgrind), and the difference is divided by the events between. Instructions do
not depend on what else the machine does; of another compiler they are others. Events are those of
slotbuf_1M where HEAPFIT_CORPUS names the corpus, else of a slot buffer of the same shape.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heapfit import _engine

EVENTS = 100_000  # of the trace
REQUESTS = 50_000  # of a simulation
MORE = 5  # times the work
REGION = 64 << 20  # bytes: room for all
SAMPLES = 1_000
MEAN_HOLDING_NS = 1_000_000_000
INTERVAL_NS = 2_000_000
CONTIGUOUS = {"partition_size": 64, "partitions": 8192, "metadata": 1}


@dataclass(frozen=True)
class Work:
    """What is done once, how many events or requests that is, and the most it shall take."""

    once: Callable[[_engine.EventArray], object]
    units: int
    aim: int | None = None


def profile(events: _engine.EventArray) -> None:
    _engine.Profile(SAMPLES).feed(events)


def metered(allocator: str) -> Callable[[_engine.EventArray], object]:
    def replay(events: _engine.EventArray) -> None:
        assert _engine.Replay(_engine.Plan(allocator), REGION).feed(events)

    return replay


def trial(allocator: str) -> Callable[[_engine.EventArray], object]:
    def run(events: _engine.EventArray) -> None:
        assert _engine.Trial(_engine.Plan(allocator), events).run(REGION).runs

    return run


def traffic() -> _engine.Traffic:
    """That of Elsayed and Galal, figure 5: 80 to 2,000 B alike, 500 live in the mean."""
    return _engine.Traffic(
        arrivals=_engine.Poisson(mean_ns=INTERVAL_NS),
        sizes=_engine.UniformSize(least=80, most=2000),
        holding=_engine.ExponentialHolding(mean_ns=MEAN_HOLDING_NS),
    )


def bare_loop(_events: _engine.EventArray) -> None:
    _engine.simulate_without_heap(traffic(), 1, REQUESTS, 500)


def contiguous(_events: _engine.EventArray) -> None:
    plan = _engine.Plan("partition_pool", CONTIGUOUS)
    _engine.Simulation(plan, max(plan.smallest_region, 557_056), traffic(), 1).run(REQUESTS)


WORKS: Mapping[str, Work] = {
    "metered replay of TLSF": Work(metered("tlsf"), EVENTS, 220),
    "metered replay of tailored": Work(metered("tailored"), EVENTS),
    "trial of TLSF": Work(trial("tlsf"), EVENTS),
    "trial of tailored": Work(trial("tailored"), EVENTS),
    "profile": Work(profile, EVENTS, 55),
    "U_max": Work(_engine.u_max, EVENTS, 25),
    "bare loop": Work(bare_loop, REQUESTS, 447),  # half of what it was when it was first counted
    "contiguous, 8192 x 64": Work(contiguous, REQUESTS, 2395),  # 0.4 of that
}


def store_events(path: Path) -> None:
    """The first events as three columns, which a process under valgrind reads at little cost."""
    from heapfit.importers import ImportOptions, open_any
    from heapfit.trace.operations import REPLAYED
    from heapfit.trace.origin import WorkloadSpec
    from heapfit.workloads.synthetic import generate_workload

    corpus = os.environ.get("HEAPFIT_CORPUS")
    with tempfile.TemporaryDirectory() as folder:
        if corpus is None:
            spec = WorkloadSpec("slotbuf", seed=1, parameters={"events": EVENTS})
            trace = generate_workload(spec, Path(folder) / "slots.parquet")
        else:
            source = Path(corpus) / "synthetic" / "slotbuf_1M.heap.gz"
            trace = open_any(source, ImportOptions(), Path(folder))
        columns = next(iter(trace.batches(REPLAYED)))
        kept: dict[str, Any] = {name: columns[name][:EVENTS] for name in REPLAYED}
        np.savez(path, **kept)


def load_events(path: Path) -> _engine.EventArray:
    with np.load(path) as columns:
        events = _engine.EventArray(EVENTS)
        events.append(columns["op"], columns["object"], columns["size"])
        return events


def instructions(name: str, path: Path, times: int) -> int:
    """Of a process that does the work so many times."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable]
    command += [__file__, "--events", str(path), "--times", str(times), name]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or counted is None:
        sys.exit(f"callgrind did not count {name}: {done.stderr[-500:]}")
    return int(counted[1])


def tell(name: str, path: Path) -> None:
    work = WORKS[name]
    more = instructions(name, path, MORE) - instructions(name, path, 1)
    each = more / (MORE - 1) / work.units
    aim = f"   aim {work.aim}" if work.aim else ""
    print(f"{name:27} {each:7.1f}{aim}", flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--events", type=Path, help=argparse.SUPPRESS)
    arguments.add_argument("--times", type=int, help=argparse.SUPPRESS)
    wish = arguments.parse_args()
    if wish.times:
        events = load_events(wish.events)
        for _ in range(wish.times):
            WORKS[wish.names[0]].once(events)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.npz"
        store_events(path)
        for name in WORKS:
            if not wish.names or any(word in name for word in wish.names):
                tell(name, path)


if __name__ == "__main__":
    main()
