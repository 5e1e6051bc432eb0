# SPDX-License-Identifier: Apache-2.0
"""Rules for each row of a trace, checked a batch at a time with numpy.

Whether an object is live when it is freed or resized is the replay's to say, which follows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.plan.quantities import format_event
from heapfit.trace.operations import FREE, is_allocation


def is_alignment(value: int) -> bool:
    """True if `value` is 0 (the heap's own) or a power of two that a trace may ask for."""
    return 0 <= value <= _engine.LARGEST_ALIGNMENT and value & (value - 1) == 0


class TraceCheck:
    """Checks the batches of one trace in order; any of its columns may be missing."""

    def __init__(self) -> None:
        self.events = 0
        self._allocations = 0
        self._time = 0

    def take(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Checks the next batch; HeapfitError names the first event that breaks a rule."""
        if "op" in columns:
            self._refuse_where(columns["op"] > FREE, columns["op"], "op {} is not one of 0 to 4")
        if "size" in columns:
            self._refuse_where(
                columns["size"] > _engine.LARGEST_REQUEST,
                columns["size"],
                "size {} is above the largest request",
            )
        if "alignment" in columns:
            self._take_alignments(columns["alignment"])
        if "op" in columns and "object" in columns:
            self._take_objects(columns["op"], columns["object"])
        if "time" in columns:
            self._take_times(columns["time"])
        self.events += len(next(iter(columns.values()), ()))

    def _take_alignments(self, alignments: NDArray[Any]) -> None:
        if alignments.any():
            is_power = (alignments & (alignments - 1)) == 0
            wrong = ~is_power | (alignments > _engine.LARGEST_ALIGNMENT)
            self._refuse_where(wrong, alignments, "alignment {} is not one a trace may have")

    def _take_objects(self, ops: NDArray[Any], objects: NDArray[Any]) -> None:
        """An allocation takes the next ordinal; the other events name an earlier one."""
        begins = is_allocation(ops)
        allocated = objects[begins]
        due = np.arange(self._allocations, self._allocations + len(allocated), dtype=np.uint64)
        if not np.array_equal(allocated, due):
            wrong = np.zeros(len(ops), dtype=bool)
            wrong[begins] = allocated != due
            self._refuse_where(wrong, objects, "object {} is not the next ordinal")
        self._allocations += len(allocated)
        self._refuse_where(objects >= self._allocations, objects, "object {} is not allocated")

    def _take_times(self, times: NDArray[Any]) -> None:
        if len(times) == 0:
            return
        wrong = np.empty(len(times), dtype=bool)
        wrong[0] = times[0] < self._time
        np.less(times[1:], times[:-1], out=wrong[1:])
        self._refuse_where(wrong, times, "time {} is below its predecessor")
        self._time = int(times[-1])

    def _refuse_where(self, wrong: NDArray[Any], values: NDArray[Any], what: str) -> None:
        if wrong.any():
            row = int(wrong.argmax())
            raise HeapfitError(f"{format_event(self.events + row)}: {what.format(values[row])}")
