# SPDX-License-Identifier: Apache-2.0
"""Settings from recordings of a heap: its size, and a pool for each size that has a name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.requests import remove_objects, requests_of
from heapfit.comparison.margin import MarginBasis, MarginKind
from heapfit.errors import HeapfitError
from heapfit.fitting.answer import Answer
from heapfit.fitting.incumbent import measure_incumbent, size_incumbent
from heapfit.fitting.options import FitOptions
from heapfit.fitting.workload import Workload
from heapfit.progress import Progress
from heapfit.sizing.demand import Assign, Integers, measure_demands
from heapfit.sizing.run_out import least_count
from heapfit.sizing.settings import Setting, SettingsOptions
from heapfit.sizing.systems.system import HeapSetting, ObjectPools, SizedSettings, Values
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import is_allocation
from heapfit.trace.profile import profile_events
from heapfit.trace.stored import Trace


def size_object_pools(
    way: ObjectPools, traces: Sequence[Trace], options: SettingsOptions, progress: Progress
) -> SizedSettings:
    """The pools whose objects' sizes are given."""
    if not options.named:
        name = next(iter(way.standards))
        raise HeapfitError(f"assume: pools of objects need their sizes, such as 160={name}")
    pools = _size_named_pools(traces, options, way.standards, progress)
    memory = sum(size * setting.value for setting, size in pools)
    return SizedSettings(tuple(setting for setting, _ in pools), memory)


def size_heap_setting(
    way: HeapSetting,
    workload: Workload,
    options: SettingsOptions,
    known: Values,
    progress: Progress,
) -> SizedSettings:
    """The heap's setting, behind those of the pools that have names."""
    traces = [one.trace for one in workload.recordings]
    pools = _size_named_pools(traces, options, {}, progress)
    heap, answer = size_heap(way.make(known), workload.loaded, options.named, progress)
    size = answer.size
    why = " ".join([*answer.sentences(), way.why])
    unit = heap.plan.alignment
    return SizedSettings(
        (
            *(way.beside_pools if pools else ()),
            *(setting for setting, _ in pools),
            Setting(way.name, heap.set_to(size.region), way.standard, None, why),
        ),
        size.region + sum(-(-size // unit) * unit * setting.value for setting, size in pools),
        remarks=(f"without the margin: {heap.set_to(size.r_safe):,} bytes",),
    )


def _size_named_pools(
    traces: Sequence[Trace],
    options: SettingsOptions,
    standards: Mapping[str, str],
    progress: Progress,
) -> tuple[tuple[Setting, int], ...]:
    """A pool for each size of requests that the user knows by name: its setting, and the size."""
    sizes = sorted(options.named)
    if not sizes:
        return ()
    demands = measure_demands(traces, len(sizes), _assign_exact_sizes(sizes), progress)
    pools = []
    for size, demand in zip(sizes, demands, strict=True):
        if demand.requests == 0:
            raise HeapfitError(f"name: no recording asks for {size} bytes ({options.named[size]})")
        name, run_out = options.named[size], least_count(demand, options.admission)
        why = f"Blocks of {size} bytes at once."
        pools.append(
            (
                Setting(name, run_out.count, standards.get(name, "see the system"), run_out, why),
                size,
            )
        )
    return tuple(pools)


def _assign_exact_sizes(sizes: list[int]) -> Assign:
    """A pool for each of the sizes, ascending, and none for any other."""
    known = np.array(sizes, dtype=np.int64)

    def assign(requests: Integers) -> tuple[Integers, Integers]:
        pool = np.minimum(np.searchsorted(known, requests), len(known) - 1)
        pool = np.where(known[pool] == requests, pool, -1)
        return pool, np.ones(len(requests), dtype=np.int64)

    return assign


def size_heap(
    heap: Heap,
    recordings: Sequence[LoadedTrace],
    elsewhere: Collection[int],
    progress: Progress,
) -> tuple[Heap, Answer]:
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
