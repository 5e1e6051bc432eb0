# SPDX-License-Identifier: Apache-2.0
"""Parquet files as heapfit writes them, and how far it believes those that come from elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from heapfit.errors import HeapfitError, first_line
from heapfit.store_file import StoreFile
from heapfit.trace.operations import Op

Columns: TypeAlias = Mapping[str, NDArray[np.generic]]

ROW_GROUP = 1 << 20  # events; a reader holds one row group's compressed columns
# What a reader believes of a table from elsewhere. Encodings know no cap on their ratio: a loop
# without a change takes 1 byte for 38 events, a bomb for millions.
_MOST_OF_GROUP = 2 * ROW_GROUP  # events
_MOST_OF_COLUMN = 32 << 20  # bytes of one column of a row group, unpacked
_UNSUSPECTED = 20_000_000  # events, of any file
_MOST_EVENTS_A_BYTE = 100  # beyond these


@contextmanager
def open_table(path: Path) -> Iterator[pq.ParquetFile]:
    """The open table; whatever goes wrong while it is read becomes one line.

    Without pre_buffer, which would keep every byte read so far until the table is closed.
    """
    try:
        with (
            _arrow_name(path, "rb") as name,
            pq.ParquetFile(name, page_checksum_verification=True, pre_buffer=False) as file,
        ):
            yield file
    except (pa.ArrowException, OSError, OverflowError, UnicodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or first_line(error)
        raise HeapfitError(
            f"{path}: cannot be read as a stored trace: {reason} (record or import it again)"
        ) from error


@contextmanager
def _arrow_name(path: Path, mode: str) -> Iterator[Any]:
    """What Arrow takes of a file: its name, or the open file if it is a store's or no UTF-8."""
    is_utf8 = str(path).encode(errors="replace").decode() == str(path)
    if is_utf8 and not isinstance(path, StoreFile):
        yield str(path)
    else:
        with path.open(mode) as file:
            yield file


def require_bounded(metadata: pq.FileMetaData, path: Path) -> None:
    """Rejects a table that would take much memory or, for its size, a long time to read."""
    if metadata.num_rows > _UNSUSPECTED + _MOST_EVENTS_A_BYTE * path.stat().st_size:
        raise HeapfitError(
            f"{path}: {metadata.num_rows:,} events are more than {_MOST_EVENTS_A_BYTE} for each "
            "byte of the file (a decompression bomb?)"
        )
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        unpacked = max(
            (group.column(i).total_uncompressed_size for i in range(group.num_columns)), default=0
        )
        if group.num_rows > _MOST_OF_GROUP or unpacked > _MOST_OF_COLUMN:
            raise HeapfitError(
                f"{path}: row group {i} holds {group.num_rows:,} events, {unpacked:,} B of one "
                f"column (at most {_MOST_OF_GROUP:,} and {_MOST_OF_COLUMN:,} B: write smaller ones)"
            )


@contextmanager
def write_table(
    path: Path, schema: pa.Schema, *, climbing: Collection[str], packed_by: str | Mapping[str, str]
) -> Iterator[pq.ParquetWriter]:
    """A table that is written row group by row group; columns that are `climbing` do so slowly."""
    with (
        _arrow_name(path, "wb") as name,
        pq.ParquetWriter(
            name,
            schema,
            compression=packed_by,
            use_dictionary=[column for column in schema.names if column not in climbing],
            column_encoding=dict.fromkeys(climbing, "DELTA_BINARY_PACKED"),
            write_page_checksum=True,
        ) as writer,
    ):
        yield writer


def arrow_array(values: NDArray[Any]) -> pa.Array:
    """An Arrow array without a copy. (pa.array would import pandas, a third of a second.)"""
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, buffer])


def row_groups(batches: Iterable[Columns], kinds: Mapping[str, str]) -> Iterator[Columns]:
    """Regroups events into batches of at least a row group, but for the last.

    With every column of `kinds`, zeros where a batch leaves it out.
    """
    waiting: list[Columns] = []
    events = 0

    def join_waiting() -> Columns:
        return {name: np.concatenate([batch[name] for batch in waiting]) for name in kinds}

    for batch in batches:
        zeros = np.zeros(len(batch["op"]), np.uint8)
        waiting.append(
            {name: np.asarray(batch.get(name, zeros), kind) for name, kind in kinds.items()}
        )
        events += len(zeros)
        if events >= ROW_GROUP:
            yield join_waiting()
            waiting, events = [], 0
    if events:
        yield join_waiting()


def name_values(table: pa.Table, op: NDArray[Any], site: NDArray[Any]) -> pa.Table:
    """A table of events whose operations and call sites are texts; null: no site is known."""
    names = pa.array([one.name.lower() for one in Op], pa.string())
    distinct, which = np.unique(site, return_inverse=True)
    hashes = [f"{one:08x}" for one in distinct.tolist()]
    texts = {
        "op": (pa.array(op.astype(np.int8)), names),
        "site": (pa.array(which.astype(np.int32), mask=site == 0), pa.array(hashes, pa.string())),
    }
    for name, (indices, values) in texts.items():
        column = pa.DictionaryArray.from_arrays(indices, values)
        table = table.set_column(table.column_names.index(name), name, column)
    return table
