# SPDX-License-Identifier: Apache-2.0
"""What was asked for under one stack, or for one size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from heapfit.errors import HeapfitError
from heapfit.trace.kinds import View
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.names import source_name
from heapfit.trace.views import Holder, ViewedBlocks, view_blocks


@dataclass(frozen=True, slots=True)
class Frame:
    """One caller of a stack."""

    name: str  # the function, or what stands for it
    file: str = ""  # the source file
    line: int = 0


@dataclass(frozen=True, slots=True)
class SampledBlocks:
    """Who holds the blocks of a recording, each under one stack."""

    program: str
    holders: tuple[Holder, ...]
    stacks: Mapping[int, tuple[Frame, ...]]  # by the holders' keys; innermost first
    viewed: ViewedBlocks
    keys: NDArray[Any]  # of each block of `viewed`

    def by_stack(self) -> list[tuple[Holder, tuple[Frame, ...]]]:
        """Each holder with its stack."""
        return [(one, self.stacks[one.key]) for one in self.holders]


def holdings_by_site(
    loaded: LoadedTrace, view: View, places: Mapping[int, Frame] | None = None
) -> SampledBlocks:
    """What each call site holds; HeapfitError if none is recorded. `places`: known callers."""
    if len(loaded.sites) == 0:
        info = loaded.trace.info
        keeper = "firmware built with HFIT_RECORD_CALL_SITES=1 keeps them; --view tasks has tasks"
        if info.queue:
            keeper = "packets have none; heapfit settings sizes their pools"
        elif not info.is_from_target:
            keeper = "`heapfit record` keeps them; `heapfit profile` has sizes"
        raise HeapfitError(f"{loaded.trace.given}: no call sites are recorded ({keeper})")
    viewed, known = view_blocks(loaded, view), places or {}

    def stack_of(site: int) -> tuple[Frame, ...]:
        callers = loaded.trace.chains.get(site, (site,))
        return tuple(known.get(one) or Frame(f"{one:08x}" if one else "unknown") for one in callers)

    return _holdings(loaded, viewed, viewed.sites, stack_of)


def holdings_by_size(loaded: LoadedTrace) -> SampledBlocks:
    """What the requests of each size hold at the peak, under the power of two below it."""
    viewed = view_blocks(loaded, View.PEAK)

    def stack_of(size: int) -> tuple[Frame, ...]:
        low = 1 << size.bit_length() >> 1
        return Frame(f"{size:,} B"), Frame(f"{low:,} to {2 * low - 1:,} B" if size else "0 B")

    return _holdings(loaded, viewed, viewed.blocks.sizes, stack_of)


def _holdings(
    loaded: LoadedTrace,
    viewed: ViewedBlocks,
    keys: NDArray[Any],
    stack_of: Callable[[int], tuple[Frame, ...]],
) -> SampledBlocks:
    holders = viewed.find_holders(keys)
    stacks = {one.key: stack_of(one.key) for one in holders}
    program = loaded.trace.info.program or source_name(loaded.trace.path)
    return SampledBlocks(program, holders, stacks, viewed, keys)
