# SPDX-License-Identifier: Apache-2.0
"""What any heap needs for a trace, and what some allocators never exceed.

    U_max  <=  the best placement  <=  offline packing found        (this trace, this order)
           <=  R of an allocator   <=  its worst case               (any order within the limits)

The limits of the worst cases are the trace's own: its largest block, the most bytes of blocks live
at once, and the most blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log2
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from heapfit import _engine
from heapfit.atomic_file import file_aside
from heapfit.bounds.worst_cases import Limits, WorstCase, least_of_any, standard_level, worst_case
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, no_progress
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import Profile

Ints: TypeAlias = NDArray[np.int64]

STANDARD_PAIRS = (
    50_000_000  # of lifetimes that overlap; see engine/include/heapfit/packing/packing.hpp
)
_QUICK_PAIRS = 2_000_000
_HEADER = 4  # bytes before each block of the core's heaps
_LEAST_CHUNK = 16


@dataclass(frozen=True, slots=True)
class OfflinePacking:
    """A placement with all lifetimes known, without headers; checked."""

    height: int  # bytes
    zoned: int  # placements tried with zones for common sizes; 0: none, as they come suffices
    orders: int  # in which all lifetimes were placed, looking ahead; 0: too many overlap
    pairs: int  # of overlapping lifetimes, or of a lifetime and a hole, looked at
    is_stopped: bool  # by an interrupt


@dataclass(frozen=True, slots=True)
class Bounds:
    """From the least to the most that a trace's heap can need."""

    u_max: int
    packing: OfflinePacking
    static: int  # sum S_i P_i,max in bytes as requested: every size its own worst case
    least_of_any: int  # no allocator promises less for such sizes in any number and order
    worst_cases: tuple[WorstCase, ...]


@dataclass(frozen=True, slots=True)
class BesideResult:
    """Bounds quick enough to stand beside every comparison. Sizes in bytes."""

    packing: int  # of lifetimes known beforehand, found with little effort
    static: int  # sum S_i P_i,max
    worst_case: WorstCase | None  # of the best plan, whatever comes within the trace's limits


def find_bounds(
    loaded: LoadedTrace,
    seed: int = 1,
    pairs: int = STANDARD_PAIRS,
    progress: Progress = no_progress,
) -> Bounds:
    """All bounds of a trace; `pairs` limits the work on the packing."""
    lifetimes = _engine.Lifetimes(loaded.events)
    packing = _packed(lifetimes, seed, pairs, progress)
    profile = loaded.profile
    return Bounds(
        u_max=profile.u_max,
        packing=packing,
        static=_static(profile),
        least_of_any=least_of_any(Limits.of(profile)),
        worst_cases=_worst_cases(lifetimes, profile, loaded.alignment),
    )


@dataclass(frozen=True, slots=True)
class QuickBounds:
    """What of a trace is needed to tell its bounds beside a result."""

    packing: int
    static: int
    limits: Limits

    def beside(self, best: Plan | None) -> BesideResult:
        """The bounds, with the worst case of the plan that needs least."""
        worst = None if best is None else worst_case(best, self.limits)
        return BesideResult(self.packing, self.static, worst)


def quick_bounds(loaded: LoadedTrace) -> QuickBounds:
    """In little time beside the replays of a comparison."""
    packing = _packed(_engine.Lifetimes(loaded.events), 1, _QUICK_PAIRS, no_progress).height
    return QuickBounds(packing, _static(loaded.profile), Limits.of(loaded.profile))


def save_lifetimes(path: Path, loaded: LoadedTrace) -> int:
    """Writes the trace as minimalloc's CSV, times in events; returns how many lifetimes."""
    lifetimes = _engine.Lifetimes(loaded.events)
    columns = {
        "id": np.arange(len(lifetimes)),
        "lower": lifetimes.starts,
        "upper": lifetimes.ends,
        "size": lifetimes.sizes,
    }
    with file_aside(path) as aside, aside.open("wb") as file:
        file.write((",".join(columns) + "\n").encode())
        csv.write_csv(pa.table(columns), file, csv.WriteOptions(include_header=False))
    return len(lifetimes)


def _static(profile: Profile) -> int:
    return int(profile.sizes.astype(np.int64) @ profile.peaks.astype(np.int64))


def _packed(
    lifetimes: _engine.Lifetimes, seed: int, pairs: int, progress: Progress
) -> OfflinePacking:
    step = "offline packing"
    found = _engine.pack(lifetimes, seed, pairs, lambda done: progress(step, done))
    progress(step, 1.0)
    height = _engine.check_placement(lifetimes, found.offsets)
    return OfflinePacking(height, found.zoned, found.orders, found.pairs, found.is_stopped)


def _worst_cases(
    lifetimes: _engine.Lifetimes, profile: Profile, alignment: int
) -> tuple[WorstCase, ...]:
    if len(lifetimes) == 0:
        return ()

    def live(block: Callable[[Ints], Ints]) -> tuple[int, int]:
        """Most bytes of blocks live at once and the largest, for blocks of these sizes."""
        blocks = block(lifetimes.sizes.astype(np.int64))
        changes = np.zeros(int(lifetimes.ends.max()) + 1, np.int64)
        np.add.at(changes, lifetimes.starts, blocks)
        np.subtract.at(changes, lifetimes.ends, blocks)
        return int(np.cumsum(changes).max()), int(blocks.max())

    def chunks(sizes: Ints) -> Ints:
        return np.maximum(-(-(sizes + _HEADER) // alignment) * alignment, _LEAST_CHUNK)

    def rounded(sizes: Ints) -> Ints:
        return -(-sizes // alignment) * alignment

    blocks = profile.live_blocks_max
    m, n = live(chunks)
    powers, largest_power = live(_powers_of_two)
    log_n = ceil(log2(max(n // alignment, 1)))
    asked = profile.sizes.astype(np.int64)
    found = [
        WorstCase(
            "static_pools",
            int(rounded(np.maximum(asked, 1)) @ profile.peaks.astype(np.int64)),
            "sum S_i P_i,max of rounded sizes (Lee and Yi 2008)",
        ),
        WorstCase(
            "fixed_pool",
            blocks * int(rounded(np.maximum(asked, 1)).max()),
            "the largest block as often as blocks are live",
        ),
        WorstCase(
            "buddy",
            _robson(powers, largest_power),
            "M (1 + log2(n) / 2) - n + 1, sizes powers of two (Robson 1974)",
        ),
        WorstCase(
            "first_fit by address",
            min(m * (1 + log_n), m + (blocks + 1) * n),
            "M (1 + ceil(log2 n)) (Robson 1977), or M + (k + 1) n if less",
        ),
        WorstCase(
            "best_fit",
            m + (blocks + 1) * n,
            "M + (k + 1) n: when one is refused every hole is below n",
        ),
        WorstCase(
            "tlsf",
            m + (blocks + 1) * (n + (n >> standard_level(m))),
            "M + (k + 1) c: holes below n and the class it is in",
        ),
        WorstCase(
            "halffit",
            2 * powers * (1 + ceil(log2(max(largest_power // alignment, 1)))),
            "2 M (1 + ceil(log2 n)), sizes powers of two (Ogasawara 1995)",
        ),
    ]
    return tuple(sorted(found, key=lambda one: one.size))


def _powers_of_two(sizes: Ints) -> Ints:
    powers: Ints = 2 ** np.ceil(np.log2(np.maximum(sizes, 8))).astype(np.int64)
    return powers


def _robson(live: int, largest: int) -> int:
    """Robson 1974 for powers of two, in units of 8 bytes as the buddy of the baselines has them.

    >>> _robson(64, 32)  # 8 units live, the largest of 4: 8 (1 + 1) - 4 + 1
    104
    """
    units, most = -(-live // 8), max(largest // 8, 1)
    return 8 * ceil(units * (1 + log2(most) / 2) - most + 1)
