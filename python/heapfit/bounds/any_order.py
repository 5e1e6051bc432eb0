# SPDX-License-Identifier: Apache-2.0
"""Bounds that allocators never exceed, whatever the order of requests within a trace's limits.

The limits are the largest request of the trace, n, the most bytes live at once, and the most
blocks, k. M is the most that blocks within these limits take, whatever their sizes
(Limits.max_blocks). Which proof holds for an allocator follows from what its descriptor says is
missing when it refuses a request (docs/evidence/design.md, Bounds, has the proofs); of allocators
that do not say, nothing is told. Control structures are left out. The formula of halffit is taken
from its source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from math import ceil, log2
from typing import Final

import numpy as np

from heapfit import _engine
from heapfit.bounds.worst_cases import Limits, Premise, WorstCase, chunk_sizes
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import find_allocators
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import Integers

_MOST_CHOICES = 8  # values of a tunable that are tried


def any_order(loaded: LoadedTrace) -> tuple[WorstCase, ...]:
    """The proven bound of each allocator that has one, the least first.

    None where requests ask for more than the alignment of all blocks.
    """
    limits, unit = Limits.of_trace(loaded), loaded.alignment
    if len(limits.sizes) == 0 or limits.alignment > unit:
        return ()
    bounds = (
        _bound_by_holes(info, limits, unit)
        if info.limit == "holes"
        else WorstCase(info.name, *_PROOFS[info.limit](limits, unit))
        for info in find_allocators()
        if info.limit in ("holes", *_PROOFS)
    )
    return tuple(sorted((one for one in bounds if one is not None), key=lambda one: one.size))


def _bound_powers(limits: Limits, least: int, header: int = 0) -> tuple[int, int]:
    """M (1 + log2 n) of blocks that are powers of two, n in units of the least, and k n."""

    def block(sizes: Integers) -> Integers:
        return 1 << np.ceil(np.log2(np.maximum(sizes + header, least))).astype(np.int64)

    m, k, n = limits.max_blocks(block, least, header)
    return m * (1 + int(log2(n // least))), k * n


# Bytes, why and for which requests, by hfit_limit.
_PROOFS: Final[dict[str, Callable[[Limits, int], tuple[int, str, Premise]]]] = {
    "sizes": lambda limits, unit: (
        int(_round_up(limits.sizes, unit) @ limits.peaks),
        "sum S_i P_i,max of rounded sizes (Lee and Yi 2008)",
        Premise.THESE_SIZES,
    ),
    "blocks": lambda limits, unit: (
        limits.count * int(_round_up(limits.sizes, unit)[-1]),
        "the largest block as often as blocks are live",
        Premise.ANY_SIZES,
    ),
    "buddies": lambda limits, unit: (
        min(_bound_powers(limits, max(8, unit))),
        "M (1 + log2 n), sizes powers of two, or k n if less",
        Premise.ANY_SIZES,
    ),
    "powers": lambda limits, _: (
        2 * _bound_powers(limits, 32, header=16)[0],
        "2 M (1 + ceil(log2 n)), sizes powers of two (Ogasawara 1995)",
        Premise.ANY_SIZES,
    ),
}


def _round_up(sizes: Integers, unit: int) -> Integers:
    return -(-np.maximum(sizes, 1) // unit) * unit


def _bound_by_holes(info: _engine.AllocatorInfo, limits: Limits, unit: int) -> WorstCase | None:
    """The bound by M bytes of chunks live at once, k blocks, the largest chunk of n bytes.

    None where no plan of this alignment has one.
    """
    provable = list(_find_provable(info, limits, unit))
    if not provable:
        return None
    plan, holes = next((one for one in provable if one[1].is_by_address), provable[0])
    m, k, n = limits.max_blocks(
        partial(chunk_sizes, holes=holes, unit=unit), unit, holes.header, holes.spare
    )
    holes = plan.holes(m) or holes  # classes may depend on how much is live
    name, worst = info.name, n + (n >> holes.class_log2 if holes.class_log2 else 0)
    size, why = m + (k + 1) * worst, "M + (k + 1) n: when a request fails, every hole is below n"
    if holes.is_by_address:
        name, size = (
            f"{name} by address",
            min(m * (1 + ceil(log2((n + holes.spare) // unit))), size),
        )
        why = "M (1 + ceil(log2 n)) (Robson 1977), or M + (k + 1) n if less"
    elif holes.class_log2:
        why = "M + (k + 1) c: holes below n and the class it is in"
    return WorstCase(name, size, why, Premise.ANY_SIZES)


def _find_provable(
    info: _engine.AllocatorInfo, limits: Limits, unit: int
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
            plan = Plan(info.name, {"alignment": unit, **choice}).engine()
            if holes := plan.holes(limits.live):
                yield plan, holes
