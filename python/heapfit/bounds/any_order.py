# SPDX-License-Identifier: Apache-2.0
"""Bounds that allocators never exceed, whatever the order of requests within a trace's limits.

The limits are the largest block of the trace, the most bytes of blocks live at once, and the most
blocks. Which proof holds for an allocator follows from what its descriptor says is missing when it
refuses a request; of allocators that do not say, nothing is told. Control structures are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, log2
from typing import Final

import numpy as np

from heapfit import _engine
from heapfit.bounds.worst_cases import Premise, WorstCase, chunk_sizes, robson
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import find_allocators
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import Integers
from heapfit.trace.profile import Profile

_ANY = Premise.ANY_SIZES
_MOST_CHOICES = 8  # values of a tunable that are tried


@dataclass(frozen=True, slots=True)
class _Trace:
    """The figures of a trace that the proofs need."""

    lifetimes: _engine.Lifetimes
    profile: Profile
    alignment: int

    def live(self, block: Callable[[Integers], Integers]) -> tuple[int, int]:
        """Most bytes of blocks live at once and the largest, for blocks of these sizes."""
        blocks = block(self.lifetimes.sizes.astype(np.int64))
        changes = np.zeros(int(self.lifetimes.ends.max()) + 1, np.int64)
        np.add.at(changes, self.lifetimes.starts, blocks)
        np.subtract.at(changes, self.lifetimes.ends, blocks)
        return int(np.cumsum(changes).max()), int(blocks.max())

    def round_sizes(self) -> Integers:
        """The requested sizes, rounded up to whole alignments."""
        asked = np.maximum(self.profile.sizes.astype(np.int64), 1)
        return -(-asked // self.alignment) * self.alignment

    def log2_units(self, size: int) -> int:
        """The logarithm of a size in alignments, rounded up."""
        return ceil(log2(max(size // self.alignment, 1)))


def any_order(lifetimes: _engine.Lifetimes, loaded: LoadedTrace) -> tuple[WorstCase, ...]:
    """The proven bound of each allocator that has one, the least first.

    None where requests ask for more than the alignment of all blocks.
    """
    if len(lifetimes) == 0 or loaded.trace.largest_alignment > loaded.alignment:
        return ()
    trace = _Trace(lifetimes, loaded.profile, loaded.alignment)
    bounds = (
        _bound_by_holes(info, trace)
        if info.limit == "holes"
        else WorstCase(info.name, *_PROOFS[info.limit](trace))
        for info in find_allocators()
        if info.limit in ("holes", *_PROOFS)
    )
    return tuple(sorted((one for one in bounds if one is not None), key=lambda one: one.size))


def _bound_by_powers(trace: _Trace) -> int:
    live, largest = trace.live(_powers_of_two)
    return 2 * live * (1 + trace.log2_units(largest))


# Bytes, why and for which requests, by hfit_limit.
_PROOFS: Final[dict[str, Callable[[_Trace], tuple[int, str, Premise]]]] = {
    "sizes": lambda trace: (
        int(trace.round_sizes() @ trace.profile.peaks.astype(np.int64)),
        "sum S_i P_i,max of rounded sizes (Lee and Yi 2008)",
        Premise.THESE_SIZES,
    ),
    "blocks": lambda trace: (
        trace.profile.live_blocks_max * int(trace.round_sizes().max()),
        "the largest block as often as blocks are live",
        _ANY,
    ),
    "buddies": lambda trace: (
        robson(*trace.live(_powers_of_two)),
        "M (1 + log2(n) / 2) - n + 1, sizes powers of two (Robson 1974)",
        _ANY,
    ),
    "powers": lambda trace: (
        _bound_by_powers(trace),
        "2 M (1 + ceil(log2 n)), sizes powers of two (Ogasawara 1995)",
        _ANY,
    ),
}


def _bound_by_holes(info: _engine.AllocatorInfo, trace: _Trace) -> WorstCase | None:
    """The bound by M bytes of chunks live at once, k blocks, the largest chunk of n bytes.

    None where no plan of this alignment has one.
    """
    provable = list(_find_provable(info, trace))
    if not provable:
        return None
    plan, holes = next((one for one in provable if one[1].is_by_address), provable[0])
    m, n = trace.live(lambda sizes: chunk_sizes(sizes, holes, trace.alignment))
    holes = plan.holes(m) or holes  # classes may depend on how much is live
    k = trace.profile.live_blocks_max
    name, worst = info.name, n + (n >> holes.class_log2 if holes.class_log2 else 0)
    size, why = m + (k + 1) * worst, "M + (k + 1) n: when a request fails, every hole is below n"
    if holes.is_by_address:
        name, size = f"{name} by address", min(m * (1 + trace.log2_units(n)), m + (k + 1) * n)
        why = "M (1 + ceil(log2 n)) (Robson 1977), or M + (k + 1) n if less"
    elif holes.class_log2:
        why = "M + (k + 1) c: holes below n and the class it is in"
    return WorstCase(name, size, why, _ANY)


def _find_provable(
    info: _engine.AllocatorInfo, trace: _Trace
) -> Iterator[tuple[_engine.Plan, _engine.Holes]]:
    """The plans that have a bound, and their chunks: the standard one, then those with another
    value of one tunable that chooses; some values exclude some alignments."""
    choices = [
        {tunable.name: value}
        for tunable in info.tunables
        if tunable.kind == "scalar" and tunable.effect == "choice"
        for value in range(tunable.lowest, min(tunable.highest, _MOST_CHOICES) + 1)
    ]
    for choice in [{}, *choices]:
        with suppress(HeapfitError):
            plan = Plan(info.name, {"alignment": trace.alignment, **choice}).engine()
            if holes := plan.holes(trace.profile.u_max):
                yield plan, holes


def _powers_of_two(sizes: Integers) -> Integers:
    return np.asarray(2 ** np.ceil(np.log2(np.maximum(sizes, 8))).astype(np.int64))
