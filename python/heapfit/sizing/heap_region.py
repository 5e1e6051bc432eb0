# SPDX-License-Identifier: Apache-2.0
"""What to set a system's heap to for recordings: the answer of `fit --now`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from heapfit.comparison.incumbents.requests import remove_objects, requests_of
from heapfit.comparison.incumbents.system_heap import SystemHeap
from heapfit.comparison.margin import MarginBasis, MarginKind
from heapfit.errors import HeapfitError
from heapfit.fitting.answer import Answer
from heapfit.fitting.incumbent import measure_incumbent, size_incumbent
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
    served = [_drop_sizes(one, elsewhere) for one in recordings]
    known = MarginBasis(len(served), max(one.profile.u_max for one in served), MarginKind.UNKNOWN)
    needs = measure_incumbent(heap, served, progress)
    found = size_incumbent(needs, served, known, FitOptions())
    if found is None:
        raise HeapfitError(f"{heap.title}: serves these recordings in no region")
    return needs.heap, found[0]


def _drop_sizes(loaded: LoadedTrace, sizes: Collection[int]) -> LoadedTrace:
    if not sizes:
        return loaded
    requests = requests_of(loaded)
    asked = requests.size[is_allocation(requests.op)]
    elsewhere = np.isin(asked, np.array(sorted(sizes), dtype=np.uint64))
    if elsewhere.all():
        raise HeapfitError(f"{loaded.trace.given}: no request is left for the heap")
    events = remove_objects(requests, np.flatnonzero(elsewhere).tolist()).engine()
    no_sites = np.zeros(0, np.uint32)
    return replace(loaded, events=events, sites=no_sites, profile=profile_events(events))
