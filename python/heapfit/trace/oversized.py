# SPDX-License-Identifier: Apache-2.0
"""Requests that no region of a 32-bit heap can hold, such as -1 as an unsigned size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.plan.plan import LARGEST_REGION
from heapfit.trace.operations import is_allocation
from heapfit.trace.stored import COLUMNS, Trace, write_trace
from heapfit.trace.table_file import Columns

_HIGHEST = LARGEST_REGION // _engine.REGION_UNIT * _engine.REGION_UNIT  # region, in bytes
_MOST_NAMED = 3


def leave_out_oversized(trace: Trace, folder: Path) -> Trace:
    """The trace, or a copy in `folder` without requests that no heap below 4 GiB serves.

    The copy's notes name them. A request that fails leaves nothing to resize or free.
    """
    if _largest_size(trace.path) < _HIGHEST:
        return trace
    served = _Served()
    if not any(len(batch["op"]) for batch in served.columns(trace)):
        raise HeapfitError(f"{trace.given}: nothing else is asked for. {served.named[0]}")
    served = _Served()
    return write_trace(
        folder / trace.path.name,
        served.columns(trace),
        lambda: replace(trace.info, notes=(*trace.info.notes, *served.notes())),
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


@dataclass(slots=True)
class _Served:
    """Filters the batches of a trace, and keeps count of what is left out."""

    named: list[str] = field(default_factory=list)
    count: int = 0
    _first: int = 0  # event of the next batch
    _gone: list[NDArray[np.uint32]] = field(default_factory=list)  # objects that never were

    def columns(self, trace: Trace) -> Iterator[Columns]:
        for batch in trace.batches(trace.columns):
            yield self._filter(batch)

    def notes(self) -> tuple[str, ...]:
        more = self.count - len(self.named)
        others = (f"{more:,} more requests of such sizes are left out.",) if more else ()
        return (*self.named, *others)

    def _filter(self, batch: Columns) -> Columns:
        sizes: NDArray[np.uint64] = batch["size"].astype(np.uint64, copy=False)
        begins, objects = is_allocation(batch["op"]), batch["object"].astype(np.uint32, copy=False)
        is_over = sizes >= _HIGHEST
        for event in np.flatnonzero(is_over):
            self._name(self._first + int(event), int(sizes[event]), int(batch["site"][event]))
        self._first += len(sizes)
        self._gone.append(objects[is_over & begins])
        gone = np.concatenate(self._gone)
        kept = ~is_over & ~np.isin(objects, gone)
        columns = {name: np.asarray(values)[kept] for name, values in batch.items()}
        before = np.searchsorted(gone, columns["object"])
        columns["object"] = objects[kept] - before.astype(np.uint32)
        return columns

    def _name(self, event: int, size: int, site: int) -> None:
        self.count += 1
        if len(self.named) < _MOST_NAMED:
            place = f" at call site {site:08x}" if site else ""
            self.named.append(
                f"Event {event:,} asks for {size:,} B{place} (-1 as a size?): left out, since no "
                "heap below 4 GiB serves it."
            )
