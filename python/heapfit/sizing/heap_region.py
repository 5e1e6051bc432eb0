# SPDX-License-Identifier: Apache-2.0
"""What to set a system's heap to for recordings: the answer of `fit --now`."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from heapfit.comparison.incumbents.needs import Needs, measure_memories
from heapfit.comparison.incumbents.requests import Requests, remove_objects, requests_of
from heapfit.comparison.incumbents.system_heap import SystemHeap
from heapfit.comparison.margin import MarginBasis, MarginKind
from heapfit.errors import HeapfitError
from heapfit.fitting.answer import Answer
from heapfit.fitting.incumbent import size_incumbent
from heapfit.fitting.options import FitOptions
from heapfit.progress import Progress
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import is_allocation
from heapfit.trace.profile import profile_events


def size_heap(
    heap: SystemHeap,
    recordings: Sequence[LoadedTrace],
    elsewhere: Collection[int],
    progress: Progress,
) -> tuple[SystemHeap, Answer]:
    """The answer for a heap that serves all recordings but for blocks of the sizes `elsewhere`.

    With the heap, whose headers may depend on its size.
    """
    paths = ", ".join(str(one.trace.path) for one in recordings)
    served = [_drop_sizes(requests_of(one), elsewhere) for one in recordings]
    if not all(len(one.op) for one in served):
        raise HeapfitError(f"{paths}: no request is left for the heap")
    u_max = max(profile_events(one.engine()).u_max for one in served)
    known = MarginBasis(len(recordings), u_max, MarginKind.UNKNOWN)
    bases = [one.largest_alignment for one in recordings]
    try:
        heap, memories, events = measure_memories(heap, served, bases, progress)
    except HeapfitError as error:
        raise HeapfitError(f"{paths}: {error}") from error
    size = size_incumbent(Needs(heap, memories, None, events), known, FitOptions())
    if size is None:
        raise HeapfitError(f"{paths}: {heap.title} serves them in no region")
    return heap, Answer(size, known, None, heap)


def _drop_sizes(requests: Requests, sizes: Collection[int]) -> Requests:
    if not sizes:
        return requests
    asked = requests.size[is_allocation(requests.op)]
    elsewhere = np.isin(asked, np.array(sorted(sizes), dtype=np.uint64))
    return remove_objects(requests, np.flatnonzero(elsewhere).tolist())
