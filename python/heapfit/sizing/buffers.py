# SPDX-License-Identifier: Apache-2.0
"""Chains of equal buffers that hold packets: how many for each buffer size, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heapfit.progress import Progress, ignore_progress
from heapfit.sizing.demand import measure_units
from heapfit.sizing.run_out import RunOut, least_count
from heapfit.trace.operations import Integers
from heapfit.trace.stored import Trace


@dataclass(frozen=True, slots=True)
class Layout:
    """How a packet lies in buffers of one size. All in bytes."""

    buffer_size: int  # as it is set
    first: int  # of the packet, in a chain's first buffer
    later: int  # in each later one
    extra: int  # stored beside the packet: the link's header
    memory: int  # that a buffer costs, its own bookkeeping included

    def holds_all_of(self, other: Layout) -> bool:
        """True if a buffer holds as much as one of another layout, with equal overhead."""
        return self.first >= other.first and self.later >= other.later and self.extra <= other.extra

    def buffers(self, sizes: Integers) -> Integers:
        """The number of buffers that a packet of each size takes."""
        return 1 + (np.maximum(sizes + self.extra - self.first, 0) + self.later - 1) // self.later


@dataclass(frozen=True, slots=True)
class BufferPool:
    """The buffers of one size that a trace needs."""

    layout: Layout
    run_out: RunOut

    @property
    def memory(self) -> int:
        """Bytes of all buffers."""
        return self.layout.memory * self.run_out.count


def size_buffers(
    traces: Sequence[Trace],
    layouts: Sequence[Layout],
    admission: float,
    progress: Progress = ignore_progress,
) -> tuple[BufferPool, ...]:
    """The least count for each layout, in the order given, smaller ones first: one pass each.

    No packet takes more of larger buffers, so a count that serves smaller ones serves, and its
    chance to run out is a bound; what is extrapolated for each alone may be above it. The peak is
    each one's own.
    """
    pools: list[BufferPool] = []
    for layout in layouts:
        found = least_count(measure_units(traces, layout.buffers, progress), admission)
        smaller = [pool.run_out for pool in pools if layout.holds_all_of(pool.layout)]
        least = min([found, *smaller], key=lambda run_out: run_out.count)
        pools.append(BufferPool(layout, replace(least, peak=found.peak)))
    return tuple(pools)


def least_memory(pools: Sequence[BufferPool]) -> BufferPool:
    """The pool that costs least; of equal ones that with larger buffers, so with fewer chains."""
    return min(pools, key=lambda pool: (pool.memory, -pool.layout.buffer_size))
