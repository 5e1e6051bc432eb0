# SPDX-License-Identifier: Apache-2.0
"""The arrivals of a stored trace, or of any file that can be imported, as the engine takes them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from heapfit import _engine
from heapfit.errors import HeapfitError

if TYPE_CHECKING:
    from heapfit.trace import Trace

_NS_PER_US = 1000
_RESIZE, _FREE = 3, 4  # docs/trace-schema.md


def load_recording(path: Path) -> _engine.RecordedArrivals:
    """When each object of the trace was asked for, its size, and how long it was held.

    HeapfitError if the trace cannot be read, holds a resize or has no times.
    """
    from heapfit.importers import ImportOptions, open_any

    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        return _arrivals(open_any(path, ImportOptions(), Path(folder)))


def _arrivals(trace: Trace) -> _engine.RecordedArrivals:
    import numpy as np

    batches = list(trace.batches(("op", "object", "size", "time")))
    op, objects, size, time = (
        np.concatenate([batch[name] for batch in batches])
        for name in ("op", "object", "size", "time")
    )
    if (op == _RESIZE).any():
        raise HeapfitError(
            f"{trace.path}: has resizes, which are no arrivals (`heapfit compare` replays them)"
        )
    if len(time) > 1 and time[0] == time[-1]:
        raise HeapfitError(f"{trace.path}: all its events have the same time")
    asked, freed = op != _FREE, op == _FREE
    begins = time[asked].astype(np.uint64) * _NS_PER_US
    holding = np.full(len(begins), _engine.HELD_FOREVER, np.uint64)
    ended = objects[freed]  # an object's number is that of its allocation
    holding[ended] = time[freed].astype(np.uint64) * _NS_PER_US - begins[ended]
    return _engine.RecordedArrivals(
        time_ns=begins, size=np.maximum(size[asked], 1).astype(np.uint64), holding_ns=holding
    )
