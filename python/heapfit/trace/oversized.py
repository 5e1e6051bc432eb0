# SPDX-License-Identifier: Apache-2.0
"""Requests that no region of a 32-bit heap can hold, such as -1 as an unsigned size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow.parquet as pq

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.plan.quantities import LARGEST_REGION, format_event
from heapfit.trace.operations import is_allocation
from heapfit.trace.stored import COLUMNS, Trace, write_trace
from heapfit.trace.table_file import Columns

HIGHEST_REGION = LARGEST_REGION // _engine.REGION_UNIT * _engine.REGION_UNIT  # region, in bytes
_MOST_NAMED = 3
_Request: TypeAlias = tuple[int, int, int]  # event, bytes, call site


def leave_out_oversized(trace: Trace, folder: Path) -> Trace:
    """The trace, or a copy in `folder` without requests that no heap below 4 GiB serves.

    The copy's notes name them. A request that fails leaves nothing to resize or free.
    """
    if _largest_size(trace.path) < HIGHEST_REGION:
        return trace
    over: list[_Request] = []
    if not any(len(batch["op"]) for batch in _serve(trace, over)):
        raise HeapfitError(f"{trace.given}: nothing else is asked for. {_describe(over)[0]}")
    over.clear()
    return write_trace(
        folder / trace.path.name,
        _serve(trace, over),
        lambda: replace(trace.info, notes=(*trace.info.notes, *_describe(over))),
        lambda: trace.chains,
        trace.origin or trace.given,
    )


def _largest_size(path: Path) -> int:
    """The largest size of the stored column, from its statistics; without them none is large."""
    metadata = pq.read_metadata(path)
    place = list(COLUMNS).index("size")
    columns = (metadata.row_group(i).column(place) for i in range(metadata.num_row_groups))
    return max(
        (one.statistics.max for one in columns if one.statistics and one.statistics.has_min_max),
        default=0,
    )


def _serve(trace: Trace, over: list[_Request]) -> Iterator[Columns]:
    """The batches of a trace without such requests, which are appended to `over`."""
    first, gone = 0, np.zeros(0, np.uint32)  # objects that never were
    for batch in trace.batches(trace.columns):
        objects, sizes, sites = batch["object"], batch["size"], batch["site"]
        is_over = sizes >= HIGHEST_REGION
        asked = np.flatnonzero(is_over).tolist()
        over += [(first + event, int(sizes[event]), int(sites[event])) for event in asked]
        gone = np.append(gone, objects[is_over & is_allocation(batch["op"])])
        kept = ~is_over & ~np.isin(objects, gone)
        columns = {name: values[kept] for name, values in batch.items()}
        columns["object"] -= np.searchsorted(gone, columns["object"]).astype(np.uint32)
        yield columns
        first += len(sizes)


def _describe(over: Sequence[_Request]) -> tuple[str, ...]:
    """A sentence on each of the first ones, and one on the others."""
    named = (
        f"{format_event(event).capitalize()} asks for {size:,} B"
        f"{f' at call site {site:08x}' if site else ''} (-1 as a size?): left out, since no heap "
        "below 4 GiB serves it."
        for event, size, site in over[:_MOST_NAMED]
    )
    more = len(over) - _MOST_NAMED
    others = (f"{more:,} more requests of such sizes are left out.",) if more > 0 else ()
    return (*named, *others)
