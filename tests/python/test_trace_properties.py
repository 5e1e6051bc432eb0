# SPDX-License-Identifier: Apache-2.0
"""Whatever a program does, its text becomes a stored trace that an obvious model agrees with."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from heapfit.importers import ImportOptions, import_file
from heapfit.trace.stored import COLUMNS

ID = st.integers(0, 6)  # few, so that ids are met again
SIZE = st.one_of(st.integers(0, 64), st.integers(0, 1 << 47))
STEP = st.integers(0, 1 << 32)
THREAD = st.integers(0, (1 << 32) - 1)
SITE = st.integers(0, (1 << 32) - 1)
LINE = st.tuples(st.sampled_from("acmrf"), ID, SIZE, st.integers(0, 24), STEP, THREAD, SITE)


def text_of(lines):
    """Each line with all its fields."""
    written = []
    for op, object_id, size, log2, step, thread, site in lines:
        words = [op, object_id]
        words += [size] if op != "f" else []
        words += [1 << log2] if op == "m" else []
        words += [step, thread]
        words += [f"{site:x}"] if op != "f" else []
        written.append(" ".join(map(str, words)))
    return "\n".join(written)


def model_of(lines):
    """The rows that the replay rules ask for, with events of unknown objects dropped.

    What is allocated again while it is live was freed before, which nobody saw.
    """
    rows = {name: [] for name in COLUMNS}

    def put(*row):
        for name, value in zip(COLUMNS, row, strict=True):
            rows[name].append(value)

    live = {}
    objects = 0
    time = 0
    for op, object_id, size, log2, step, thread, site in lines:
        time += step
        is_allocation = op in "acm"
        if is_allocation and object_id in live:
            put(4, live[object_id], 0, 0, time, 0, 0)
        elif not is_allocation and object_id not in live:
            continue
        if is_allocation:
            live[object_id] = objects
            objects += 1
        is_free = op == "f" or (op == "r" and size == 0)
        put(
            4 if is_free else "acmrf".index(op),
            live[object_id],
            0 if is_free else size,
            1 << log2 if op == "m" else 0,
            time,
            thread,
            0 if op == "f" else site,
        )
        if is_free:
            del live[object_id]
    first = rows["time"][0] if rows["time"] else 0
    rows["time"] = [time - first for time in rows["time"]]
    return rows


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(LINE, max_size=60))
def test_text_stored_and_read_again_equals_the_model(lines):
    lines = [("a", 99, 1, 0, 0, 1, 1), *lines]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.write_text(text_of(lines))
        options = ImportOptions(drop_unknown=True)
        trace = import_file(source, Path(folder) / "t.parquet", options)
        (batch,) = trace.batches(list(COLUMNS))
        assert {name: batch[name].tolist() for name in batch} == model_of(lines)
        assert trace.info.events == len(trace.events()) == len(batch["op"])
