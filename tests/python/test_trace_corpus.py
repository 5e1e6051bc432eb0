# SPDX-License-Identifier: Apache-2.0
"""Real and synthetic heap traces import with the events and the high-water mark known for them.

The folder of recordings is named by HEAPFIT_CORPUS (with heap/ and synthetic/ in it). Where it is
not set, traces drawn from a seed stand in, and the tests' names say so.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest

from heapfit.importers import ImportOptions, import_file

# File: events, and the high-water mark of live bytes (a size of 0 counts 0).
KNOWN = {
    "heap/android-systemui": (250000, 2994995),
    "heap/duktape32-mix": (250000, 300806),
    "heap/lwip32-pool": (250000, 42320),
    "heap/python-json-b": (250000, 2289756),
    "heap/wee-cpp-demangle": (102, 16197),
    "synthetic/slotbuf_1M": (1000000, 46391),
    "synthetic/t2_w4": (100000, 64452),
}

CORPUS = os.environ.get("HEAPFIT_CORPUS")
DRAWN = [f"drawn from seed {seed}, as HEAPFIT_CORPUS is not set" for seed in range(4)]
TRACES = list(KNOWN) if CORPUS else DRAWN


def drawn(folder, seed):
    """A random trace in text, with its events and its high-water mark."""
    chance = random.Random(seed)
    live, lines, total, peak = {}, [], 0, 0
    for event in range(5000):
        if not live or chance.random() < 0.5:
            live[event] = chance.randrange(2000)
            total += live[event]
            lines.append(f"a {event} {live[event]}")
        else:
            victim = chance.choice(list(live))
            total -= live.pop(victim)
            lines.append(f"f {victim}")
        peak = max(peak, total)
    path = folder / "drawn"
    path.write_text("\n".join(lines))
    return path, (len(lines), peak)


def source_of(name, folder):
    if name in DRAWN:
        return drawn(folder, DRAWN.index(name))
    return Path(CORPUS) / f"{name}.heap.gz", KNOWN[name]


def high_water_mark(columns):
    """The largest sum of live sizes: each event adds its size and takes its object's last one."""
    order = np.argsort(columns["object"], kind="stable")
    size = columns["size"][order].astype(np.int64)
    same = columns["object"][order][1:] == columns["object"][order][:-1]
    change = np.empty(len(order), np.int64)
    change[order] = size - np.concatenate([[0], np.where(same, size[:-1], 0)])
    return int(np.cumsum(change).max())


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_imports_with_its_known_events_and_high_water_mark(tmp_path, name):
    source, (events, peak) = source_of(name, tmp_path)
    trace = import_file(source, tmp_path / "t.parquet", ImportOptions())
    batches = list(trace.batches(["op", "object", "size"]))
    columns = {key: np.concatenate([batch[key] for batch in batches]) for key in batches[0]}
    assert trace.info.events == len(columns["op"]) == events
    assert high_water_mark(columns) == peak
    assert trace.info.notes == ()
