# SPDX-License-Identifier: Apache-2.0
"""The profile of a trace without any allocator: sizes, lifetimes, live bytes over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.plan.quantities import format_count
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.stored import Trace
from heapfit.trace.tabular import Tabular

Counts: TypeAlias = NDArray[np.uint64]

SAMPLES = 1000  # a series has at least as many points, and fewer than twice as many


@dataclass(frozen=True, slots=True, repr=False)
class Profile(Tabular):
    """The profile of one trace. Sizes in bytes; series by buckets of `bucket_width` events."""

    events: int
    operations: Counts  # events of each op, by its number
    u_max: int  # high-water mark of the live bytes, U(t)
    u_max_event: int  # the first event after which U(t) is U_max
    live_blocks_max: int
    never_freed: int  # objects
    never_freed_bytes: int
    sizes: Counts  # different request sizes, ascending
    allocations: Counts  # requests of each size; resizes do not count
    peaks: Counts  # P_i,max: most blocks of each size live at once; resizes count
    is_coarse: bool  # more than a million sizes: later ones are counted as 16 an octave
    lifetimes: Counts  # freed objects that lived 2^b to 2^(b+1) - 1 events, by b
    lifetime_bytes: Counts  # their sizes when they were freed, likewise
    bucket_width: int  # events
    live_lowest: Counts  # lowest U(t) of each bucket
    live_highest: Counts  # highest U(t) of each bucket

    def __str__(self) -> str:
        return (
            f"profile: {format_count(int(self.allocations.sum()), 'allocation')} of "
            f"{format_count(len(self.sizes), 'size')}, at most {self.u_max:,} B live"
        )

    def to_arrow(self) -> pa.Table:
        """A row for each size: how often it was asked for, and most blocks of it live at once."""
        return pa.table({"size": self.sizes, "allocations": self.allocations, "peak": self.peaks})


@dataclass(frozen=True, slots=True)
class SizeSeries:
    """P_i(t), the live blocks of one size, over a trace: the extremes of each bucket."""

    size: int  # bytes
    bucket_width: int  # events
    lowest: Counts
    highest: Counts


def profile_trace(trace: Trace, progress: Progress = ignore_progress) -> Profile:
    """Profiles a stored trace in one pass and bounded memory."""
    engine = _engine.Profile(SAMPLES)
    trace.feed(engine.feed, "profile", progress)
    return profile_of(engine)


def profile_events(events: _engine.EventArray, progress: Progress = ignore_progress) -> Profile:
    """Profiles a trace that is in memory."""
    engine = _engine.Profile(SAMPLES)
    progress("profile", 0.0)
    engine.feed(events)
    progress("profile", 1.0)
    return profile_of(engine)


def profile_of(engine: _engine.Profile) -> Profile:
    """The profile of what the engine's pass has read so far."""
    result = engine.result()
    return Profile(**{field.name: getattr(result, field.name) for field in fields(Profile)})


def sum_by_block(
    sizes: NDArray[Any], alignment: int, *values: NDArray[Any]
) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """The block sizes of requests, ascending, and of each the sums of what belongs to its sizes.

    Sizes that need equal blocks are one; a request of 0 is served as 1 byte.

    >>> blocks, [sums] = sum_by_block(np.array([0, 33, 40]), 8, np.array([1, 2, 3]))
    >>> blocks.tolist(), sums.tolist()
    ([8, 40], [1, 5])
    """
    asked = np.maximum(sizes.astype(np.int64), 1)
    blocks, members = np.unique(-(-asked // alignment) * alignment, return_inverse=True)
    sums = [np.zeros(len(blocks), np.int64) for _ in values]
    for total, each in zip(sums, values, strict=True):
        np.add.at(total, members, each.astype(np.int64))
    return blocks, sums


def follow_sizes(
    trace: Trace, sizes: Sequence[int], progress: Progress = ignore_progress
) -> tuple[SizeSeries, ...]:
    """P_i(t) of chosen sizes, exact as requested, in a pass of its own; in the order given."""
    engine = _engine.SizeSeries(list(sizes), SAMPLES)
    trace.feed(engine.feed, "profile", progress)
    result = engine.result()
    return tuple(
        SizeSeries(size, result.bucket_width, lowest, highest)
        for size, (lowest, highest) in zip(sizes, result.blocks, strict=True)
    )
