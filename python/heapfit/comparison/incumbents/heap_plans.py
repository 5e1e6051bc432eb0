# SPDX-License-Identifier: Apache-2.0
"""Plan files of systems' own heaps: there is nothing to generate, but they are held like any other.

heap_4:65536            a heap, and the bytes of its own setting
tlsf:probes=0:64K       what holds "=" are tunables, the last is the size
"""

from __future__ import annotations

from heapfit import _engine
from heapfit.comparison.incumbents.heap import Heap, find_heap
from heapfit.comparison.incumbents.needs import grow_headers
from heapfit.errors import HeapfitError
from heapfit.plan.plan_file import BY_HAND, PlanFile, file_name
from heapfit.plan.quantities import LARGEST_REGION, parse_size
from heapfit.trace.loaded import STANDARD_ALIGNMENT


def parse_heap_size(text: str) -> PlanFile:
    """The plan of HEAP:BYTES, in the heap's own setting.

    >>> parse_heap_size("heap_4:64K").region, parse_heap_size("tlsf:probes=0:8K").heap
    (65536, 'tlsf:probes=0')
    """
    name, _, size = text.rpartition(":")
    if not name or "=" in size or (name.isalnum() and name[0].isdecimal()):
        if not text[:1].isdecimal():
            find_heap(text, STANDARD_ALIGNMENT)
        raise HeapfitError(f"{text}: give the heap and its size: HEAP:BYTES (heap_4:64K)")
    heap, setting = find_heap(name, STANDARD_ALIGNMENT), parse_size(size)
    if heap.memory_of(setting) > LARGEST_REGION:
        raise HeapfitError(f"{text}: a heap is smaller than 4 GiB, not {setting:,} bytes")
    return make_heap_plan(grow_headers(heap, [heap.memory_of(setting)]), setting)


def make_heap_plan(heap: Heap, setting: int) -> PlanFile:
    """The plan file of a heap with this value of its setting, from no recording yet."""
    return PlanFile(
        name=file_name(heap.name),
        plan=heap.plan,
        region=setting,
        r_min=None,
        base_alignment=heap.plan.alignment,
        u_max=0,
        pointer_bits=0,
        trained_on=BY_HAND,
        heapfit_version=_engine.version,
        heap=heap.name,
        setting=heap.setting,
    )


def heap_of_plan(plan_file: PlanFile) -> Heap:
    """The heap of a plan file: its plan, or the system's heap that it names.

    HeapfitError if its plan places blocks otherwise than that heap does.
    """
    if not plan_file.heap:
        return Heap(plan_file.name, plan_file.plan)
    heap = find_heap(plan_file.heap, plan_file.plan.alignment)
    if plan_file.region is not None:
        heap = grow_headers(heap, [heap.memory_of(plan_file.region)])
    if heap.plan != plan_file.plan:
        raise HeapfitError(
            f"{plan_file.name}: [plan] does not place blocks as {plan_file.heap} does in heapfit "
            f"{_engine.version} (make it anew with heapfit fit --now {plan_file.heap})"
        )
    return heap


def region_of_plan(plan_file: PlanFile, setting: int | None = None) -> int:
    """Bytes of the plan's region where a heap is set to `setting`, its own by default."""
    heap, size = heap_of_plan(plan_file), plan_file.region if setting is None else setting
    return heap.region(heap.memory_of(size or 0))


def describe_own_heap(plan_file: PlanFile) -> str:
    """One line on a plan for which no code is written."""
    size = "" if plan_file.region is None else f": set {plan_file.setting} to {plan_file.region:,}"
    return f"{plan_file.heap} is the system's own heap{size}; there is no code to write"
