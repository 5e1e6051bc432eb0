# SPDX-License-Identifier: Apache-2.0
"""Tables that say they are stored traces, written by other writers than heapfit's."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from heapfit.trace.stored import COLUMNS, SCHEMA_VERSION, TraceInfo

SCHEMA = pa.schema(
    pa.field(name, pa.type_for_alias(kind), nullable=False) for name, kind in COLUMNS.items()
)


def freed_at_once(events: int) -> dict[str, np.ndarray]:
    """Blocks of no bytes, each freed before the next one."""
    rows = {name: np.zeros(events, kind) for name, kind in COLUMNS.items()}
    rows["op"] = np.tile(np.array([0, 4], np.uint8), events // 2)
    rows["object"] = np.repeat(np.arange(events // 2, dtype=np.uint32), 2)
    return rows


def write_table(
    path: Path, rows: dict[str, np.ndarray], *, row_group: int | None = None, **options: Any
) -> Path:
    """Stores the rows with metadata that are true of them."""
    told = {"schema": SCHEMA_VERSION, **asdict(TraceInfo(events=len(rows["op"])))}
    del told["names"]  # kept beside them
    with pq.ParquetWriter(path, SCHEMA, **options) as writer:
        arrays = [pa.array(rows[name]) for name in COLUMNS]
        table = pa.Table.from_arrays(arrays, schema=SCHEMA)
        writer.write_table(table, row_group_size=row_group)
        writer.add_key_value_metadata({b"heapfit": json.dumps(told).encode()})
    return path
