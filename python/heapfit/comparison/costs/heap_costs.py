# SPDX-License-Identifier: Apache-2.0
"""What a heap costs to run: instructions of its calls in a recording, and bytes of flash.

Both are of code as it ships: a plan's as the folder that `fit` writes, at safety level 1 and with
its counts; a system's heap as its project has it, built for use, its checks off. The compiler and
the options are the same (code_table.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from numpy.typing import NDArray

from heapfit import _engine
from heapfit.comparison.costs.chunk_walks import count_walks
from heapfit.comparison.costs.code_table import code_label, read_codes, read_system_codes
from heapfit.comparison.costs.instruction_model import MeasuredCode
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.requests import requests_of
from heapfit.trace.loaded import LoadedTrace


@dataclass(frozen=True, slots=True)
class HeapCosts:
    """The costs of a heap for a recording; None where nothing was measured."""

    mean: float | None = None  # instructions of a call
    longest: float | None = None  # instructions of the longest call of the recording; no bound
    flash: int | None = None  # bytes of code as linked of what initialises, allocates and frees
    has_checks: bool = True  # free and resize check the block that they are given
    adds: Mapping[str, int] = field(default_factory=dict)  # bytes by further function, of FURTHER
    stack: int | None = None  # bytes that a call takes at most


UNKNOWN: Final = HeapCosts()


def estimate_costs(heap: Heap, recording: LoadedTrace, memory: int | None) -> HeapCosts:
    """The costs of a heap with so much memory for a recording; bytes, None: none serves it."""
    code = find_code(heap)
    if code is None:
        return UNKNOWN
    known = None if memory is None else code.estimate(count_calls(heap, recording, memory))
    mean, longest = known or (None, None)
    return HeapCosts(mean, longest, code.size, heap.is_ours, code.adds, code.stack)


def find_code(heap: Heap) -> MeasuredCode | None:
    """The measured code of a heap; None where there is none."""
    return (
        read_codes().get(code_label(heap.plan))
        if heap.is_ours
        else read_system_codes().get(heap.name.partition(":")[0])
    )


def count_calls(heap: Heap, recording: LoadedTrace, memory: int) -> Mapping[str, NDArray[Any]]:
    """How many calls of a recording make how many accesses, in the form of _engine.call_costs.

    The recording keeps the answer: choice, verdict, references and page ask for the same heaps.
    """
    plan, region = heap.plan, heap.region(memory)

    def count() -> Mapping[str, NDArray[Any]]:
        base = max(_engine.HOST_BASE_ALIGNMENT, plan.alignment, recording.largest_alignment)
        if heap.walks:
            return count_walks(plan, heap.serve(requests_of(recording)), region, base)
        counted, room = heap.with_links(region)
        return _engine.call_costs(counted, heap.events(recording), room, base)

    return recording.once((repr((plan, heap.resizes, heap.least, heap.walks)), region), count)
