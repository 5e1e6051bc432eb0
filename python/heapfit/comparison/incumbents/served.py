# SPDX-License-Identifier: Apache-2.0
"""What a heap is asked for a recording, and which of its blocks is which request's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.requests import (
    BatchSource,
    Requests,
    requests_of,
)
from heapfit.trace.operations import FREE, is_end


@dataclass(frozen=True, slots=True)
class ServedRequests:
    """A recording's requests, and those that a heap gets for them."""

    requests: Requests
    served: Requests
    asked_at: NDArray[np.int64]  # of the recording: events that ask for a block
    served_at: NDArray[np.int64]  # of the heap: the same, in the same order

    @classmethod
    def of(cls, heap: Heap, recording: BatchSource) -> ServedRequests:
        """HeapfitError if the heap cannot serve one of them."""
        requests = requests_of(recording)
        served = heap.serve(requests)
        return cls(requests, served, _find_placing_events(requests), _find_placing_events(served))

    def event_of(self, served: int) -> int:
        """The recording's event for one that the heap was asked."""
        return int(self.asked_at[np.searchsorted(self.served_at, served)])

    @property
    def ends(self) -> NDArray[np.bool_]:
        """True for each that ends an event: not where a moved block's old place is still taken."""
        is_moved = self.requests.op[self.asked_at] != self.served.op[self.served_at]
        return ~np.isin(np.arange(len(self.served.op)), self.served_at[is_moved])

    def spread(self, column: NDArray[Any]) -> NDArray[Any]:
        """A column of the recording's events for those of the heap; 0 for what asks nothing."""
        spread = np.zeros(len(self.served.op), column.dtype)
        spread[self.served_at] = column[self.asked_at]
        return spread

    def live_before(self, event: int) -> int:
        """Live bytes before an event of the recording."""
        before = slice(event)
        size = np.where(self.requests.op[before] == FREE, 0, self.requests.size[before])
        last = np.zeros(int(self.requests.named.max(initial=0)) + 1, np.uint64)
        last[self.requests.named[before]] = size  # of equal indices the last one stays
        return int(last.sum())


def _find_placing_events(requests: Requests) -> NDArray[np.int64]:
    """The events that ask for a block; a heap is asked the same number, in the same order."""
    return np.flatnonzero(~is_end(requests.op, requests.size))
