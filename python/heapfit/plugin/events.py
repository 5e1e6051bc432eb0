# SPDX-License-Identifier: Apache-2.0
"""A trace's events as the host program reads them; host/trace.h draws the form."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from heapfit.trace.stored import Trace

_EVENT = np.dtype([("size", "=u4"), ("object", "=u4"), ("what", "=u4")])
_LARGEST = 2**32 - 1  # bytes; a request that no 32-bit target can serve stays one


def save_events(trace: Trace, path: Path) -> None:
    """Writes all events of a trace to `path`, 12 bytes each."""
    with path.open("wb") as file:
        for batch in trace.batches(("op", "object", "size", "alignment")):
            rows = np.zeros(len(batch["op"]), _EVENT)
            rows["size"] = np.minimum(batch["size"], _LARGEST)
            rows["object"] = batch["object"]
            alignments = np.maximum(batch["alignment"], 1).astype(np.float64)
            rows["what"] = batch["op"] | np.log2(alignments).astype(np.uint32) << 8
            rows.tofile(file)
