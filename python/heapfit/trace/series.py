# SPDX-License-Identifier: Apache-2.0
"""U(t) and P_i(t) of a trace in full, as a Parquet table: docs/evidence/schemas.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute

from heapfit import _engine
from heapfit.outputs.file import stage_file
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.operations import is_allocation, is_end
from heapfit.trace.stored import Trace, prefix_errors
from heapfit.trace.table_file import write_table

SCHEMA_VERSION = 1
_METADATA_KEY = b"heapfit_series"
_COLUMNS = ("event", "time", "live_bytes", "size", "live_blocks")
_CLIMBING = ("event", "time")
_SCHEMA = pa.schema(pa.field(name, pa.uint64(), nullable=False) for name in _COLUMNS)


def live_bytes(trace: Trace, progress: Progress = ignore_progress) -> pa.Table:
    """U(t) and P_i(t) of a trace in memory, 56 bytes an event: the columns of a stored series.

    Two more weigh and count: `lasts`, microseconds to the next row, and `all_blocks`, live ones of
    every size.
    """
    table = pa.Table.from_batches(_batches(trace, _engine.LiveChanges(), progress), _SCHEMA)
    event, time = (table[name].to_numpy() for name in _CLIMBING)
    ops, sizes = trace.whole("op", "size")
    live = np.cumsum(is_allocation(ops).astype(np.int64) - is_end(ops, sizes))
    return table.append_column("all_blocks", pa.array(live[event])).append_column(
        "lasts", [np.diff(time, append=time[-1:])]
    )


def write_series(
    trace: Trace, path: Path, progress: Progress = ignore_progress
) -> tuple[int, bool]:
    """Stores what each event changes at `path`, which appears whole or not at all.

    Returns the rows, and whether they are coarse: over a million sizes, later ones stand for the
    next of 16 an octave. Memory follows the live objects and the different sizes, not the length.
    HeapfitError, and nothing changed, if something lies there that heapfit did not write.
    """
    changes = _engine.LiveChanges()
    rows = 0
    with (
        stage_file(path) as staging,
        write_table(staging, _SCHEMA, climbing=_CLIMBING, packed_by="zstd") as writer,
    ):
        for batch in _batches(trace, changes, progress):
            writer.write_batch(batch)
            rows += batch.num_rows
        info = {name: getattr(trace.info, name) for name in ("program", "source", "events")}
        told = {"schema": SCHEMA_VERSION, **info, "is_coarse": changes.is_coarse}
        writer.add_key_value_metadata({_METADATA_KEY: json.dumps(told).encode()})
    return rows, changes.is_coarse


def _batches(
    trace: Trace, changes: _engine.LiveChanges, progress: Progress
) -> Iterator[pa.RecordBatch]:
    done = 0
    for events, columns in trace.walk("time", step="series", progress=progress):
        with prefix_errors(trace.given):
            found = changes.feed(events)
        event = found.take_events()
        arrays = (event, columns["time"][event - done], found.take_live_bytes(), found.take_sizes())
        yield pa.record_batch([*arrays, found.take_live_blocks()], schema=_SCHEMA)
        done += len(events)
