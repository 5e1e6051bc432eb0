# SPDX-License-Identifier: Apache-2.0
"""Traces made of tables and events in memory, stored like any other."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.errors import HeapfitError, did_you_mean
from heapfit.trace.operations import Op
from heapfit.trace.stored import BATCH, COLUMNS, OPTIONAL, Trace, TraceInfo, write_trace

# An operation, a name of the block, and unless it is freed bytes, and an alignment where one asks.
Event: TypeAlias = (
    tuple[Op | str, Hashable] | tuple[Op | str, Hashable, int] | tuple[Op | str, Hashable, int, int]
)

_REQUIRED = ("op", "object", "size")
_FIELDS = (2, 4)  # of an event, at least and at most


def from_events(events: Iterable[Event], path: Path | str, info: TraceInfo | None = None) -> Trace:
    """Stores events in order as a trace at `path`.

    Each is (operation, block), with bytes behind it unless the block is freed, and behind these an
    alignment. A block is whatever names it: an address, a string. A resize to 0 bytes is a free.
    HeapfitError names the event that is wrong, counted from 0.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     events = [("alloc", "a", 16), ("resize", "a", 40), ("free", "a")]
    ...     from_events(events, f"{folder}/made.parquet").to_arrow()["op"].to_pylist()
    ['alloc', 'resize', 'free']
    """
    rows = _number_blocks(events)
    batches = iter(lambda: list(islice(rows, BATCH)), [])
    names = ("op", "object", "size", "alignment")
    columns = (dict(zip(names, np.array(batch, np.uint64).T, strict=True)) for batch in batches)
    typed = ({name: _cast(one[name], name) for name in names} for one in columns)
    return write_trace(Path(path), typed, info or TraceInfo(source="events of a program"))


def from_arrow(table: pa.Table, path: Path | str, info: TraceInfo | None = None) -> Trace:
    """Stores a table as a trace at `path`: the columns of docs/evidence/schemas.md.

    `op`, `object` and `size` are required; operations may be names, call sites text, as
    `Trace.to_arrow` gives them, and a block whatever names it. Sites and threads may be names of
    any kind, as tags, which commands then print. Times are microseconds, dates or durations, and
    count from the first. A resize to 0 bytes is a free, as in every trace.
    """
    known = [*COLUMNS, *OPTIONAL]
    for name in table.column_names:
        if name not in known:
            raise HeapfitError(
                f"column {name}: a trace has none ({did_you_mean(name, known)}; tags and names of "
                "callers are its `site`, tasks its `thread`)"
            )
    for name in _REQUIRED:
        if name not in table.column_names:
            raise HeapfitError(f"column {name}: is missing (a trace needs {', '.join(_REQUIRED)})")
    names: dict[int, str] = {}
    columns = {
        name: _read_column(table[name], name, names)
        for name in table.column_names
        if name != "object"
    }
    events = zip(
        columns["op"].tolist(), table["object"].to_pylist(), columns["size"].tolist(), strict=True
    )
    columns["object"] = np.array([row[1] for row in _number_blocks(events)], np.uint32)
    if "time" in columns and table.num_rows:
        columns["time"] -= columns["time"].min()
    parts = (
        {name: values[first : first + BATCH] for name, values in columns.items()}
        for first in range(0, table.num_rows, BATCH)
    )
    info = info or TraceInfo(source="a table")
    return write_trace(Path(path), parts, replace(info, names={**names, **info.names}))


def from_pandas(
    frame: Any,  # noqa: ANN401 (pandas need not be installed)
    path: Path | str,
    info: TraceInfo | None = None,
) -> Trace:
    """Stores a DataFrame as a trace at `path`, as `from_arrow` does; its index is left out."""
    if not hasattr(frame, "columns"):
        raise HeapfitError(f"frame={frame!r}: is no DataFrame")
    return from_arrow(pa.Table.from_pandas(frame, preserve_index=False), path, info)


def _number_blocks(events: Iterable[Event]) -> Iterator[tuple[int, int, int, int]]:
    """Rows of a trace: operation, ordinal of the block, bytes, alignment."""
    live: dict[Hashable, int] = {}
    count = 0
    for number, event in enumerate(events):
        where = f"events[{number}]"
        if not isinstance(event, Sequence):
            raise HeapfitError(f"{where}: is {event!r} (give operation, block, bytes)")
        if not _FIELDS[0] <= len(event) <= _FIELDS[1]:
            raise HeapfitError(f"{where}: has {len(event)} fields (operation, block, bytes)")
        op, block = _parse_op(event[0], where), event[1]
        size = event[2] if len(event) > 2 else 0
        if len(event) == 2 and op is not Op.FREE:
            raise HeapfitError(f"{where}: {op.name.lower()} of {block!r} has no bytes")
        if not isinstance(size, int) or size < 0:
            raise HeapfitError(f"{where}: {size!r} is no number of bytes")
        if (op <= Op.ALIGNED) == (block in live):
            state = "is live already" if block in live else "is not live (a resize to 0 frees, too)"
            raise HeapfitError(f"{where}: {op.name.lower()} of {block!r}, which {state}")
        if op <= Op.ALIGNED:
            live[block] = count
            count += 1
        ordinal = live[block]
        if op is Op.FREE or (op is Op.RESIZE and size == 0):
            del live[block]
        yield op, ordinal, size, event[3] if len(event) > 3 else 0


def _parse_op(given: Op | str | int, where: str) -> Op:
    try:
        return Op[given.upper()] if isinstance(given, str) else Op(given)
    except (KeyError, ValueError) as error:
        names = [one.name.lower() for one in Op]
        raise HeapfitError(
            f"{where}: {given!r} is no operation ({did_you_mean(str(given), names)})"
        ) from error


def _read_column(column: pa.ChunkedArray, name: str, names: dict[int, str]) -> NDArray[Any]:
    """A column as numbers, from numbers or from texts; `names` gets those of sites and threads."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count and name not in ("site", *COLUMNS.keys() - {*_REQUIRED}):
        raise HeapfitError(f"column {name}: has rows without a value")
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        texts = enumerate(column.to_pylist())
        return _cast(np.asarray([_parse_text(text, name, row, names) for row, text in texts]), name)
    values = column.fill_null(0).to_numpy()
    if name == "time" and values.dtype.kind in "mM":  # durations, dates
        values = values.astype(f"{values.dtype.kind}8[us]").astype(np.int64)
    return _cast(np.rint(values) if name == "time" and values.dtype.kind == "f" else values, name)


def _parse_text(text: str | None, name: str, row: int, names: dict[int, str]) -> int:
    if name == "op":
        return _parse_op(text or "", f"row {row}")
    given = text or "0"
    is_hash = name == "site" and not (given.isalpha() and len(given) < len("c0ffee00"))
    try:
        return int(given, 16 if is_hash else 10)
    except ValueError as error:
        if name not in ("site", "thread"):
            raise HeapfitError(f"column {name}, row {row}: {text!r} is no number") from error
        number = _engine.number_of_name(given.encode())
        names[number] = given
        return number


def _cast(values: NDArray[Any], name: str) -> NDArray[Any]:
    """The values in the column's type; HeapfitError if one does not fit."""
    kind = np.dtype(COLUMNS.get(name, "uint8"))
    try:
        cast = values.astype(kind)
    except (TypeError, ValueError) as error:
        raise HeapfitError(f"column {name}: is not of whole numbers") from error
    if not (cast == values).all():
        row = int(np.argmin(cast == values))
        raise HeapfitError(f"column {name}, row {row}: {values[row]} is no {kind.name}")
    return cast
