# SPDX-License-Identifier: Apache-2.0
"""Buffers of known lifetimes in several banks: as many bytes as possible in the first.

Each bank takes buffers in an order, first where its load lets it, then where its packing does. Of
eight such ways the best of each direction is improved by buffers moved to the front of its order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.errors import HeapfitError

Ints: TypeAlias = NDArray[np.int64]

_EFFORT = (1, 200_000, 2_000)  # of the engine, for one more buffer
_LAST_EFFORT = (1, 5_000_000, 50_000)  # for all buffers of a bank
_MOST_MISSES = 30  # buffers in vain, until a bank is full
_MOST_TRIALS = 5_000  # of one buffer in a bank, when a way is improved
_NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Bank:
    """What a bank holds."""

    name: str
    size: int  # bytes
    buffers: int
    height: int  # bytes in use
    is_least: bool  # no placement of these buffers is lower
    moved: int  # bytes of all its buffers
    byte_events: int  # bytes x events for which they are live


@dataclass(frozen=True, slots=True)
class BankedBuffers:
    """A bank and an offset for each lifetime."""

    banks: tuple[Bank, ...]
    numbers: Ints  # the bank of each lifetime
    offsets: NDArray[np.uint64]

    def share(self, bank: Bank, amount: Callable[[Bank], int]) -> float:
        """The share of an amount that a bank has."""
        return amount(bank) / max(sum(map(amount, self.banks)), 1)


@dataclass(frozen=True, slots=True)
class _Buffers:
    starts: Ints
    ends: Ints
    sizes: Ints

    @classmethod
    def from_lifetimes(cls, lifetimes: _engine.Lifetimes) -> _Buffers:
        columns = (lifetimes.starts, lifetimes.ends, lifetimes.sizes)
        return cls(*(column.astype(np.int64) for column in columns))

    @property
    def lives(self) -> Ints:
        return self.ends - self.starts

    def pack(self, chosen: Ints, effort: tuple[int, int, int], enough: int) -> _engine.Packing:
        """A packing of some of them, in ascending order; one of `enough` bytes ends the search."""
        columns = (self.starts[chosen], self.ends[chosen], self.sizes[chosen])
        lifetimes = _engine.Lifetimes(*(one.astype(np.uint64) for one in columns))
        return _engine.pack(lifetimes, _engine.PackingEffort(*effort, enough))

    def fill(self, order: Sequence[int], size: int) -> list[int]:
        """Those of an order that a bank of this size takes, ascending."""
        load = np.zeros(int(self.ends.max(initial=0)) + 1, np.int64)
        taken: list[int] = []
        misses = 0
        for one in order:
            live = load[self.starts[one] : self.ends[one]]
            if live.max() + self.sizes[one] > size or misses > _MOST_MISSES:
                continue
            more = sorted([*taken, one])
            if self.pack(np.array(more), _EFFORT, size).height <= size:
                live += self.sizes[one]
                taken = more
            else:
                misses += 1
        return taken

    def divide(self, order: Sequence[int], sizes: Sequence[int], turns: Sequence[int]) -> Ints:
        """The bank of each buffer, or nowhere; banks take theirs in these turns."""
        numbers = np.full(len(self.sizes), _NOWHERE)
        for bank in turns:
            left = [one for one in order if numbers[one] == _NOWHERE]
            numbers[self.fill(left, sizes[bank])] = bank
        return numbers

    def bytes_in(self, numbers: Ints, bank: int) -> int:
        return int(self.sizes[numbers == bank].sum())


_ORDERS: Final[tuple[Callable[[_Buffers], Ints], ...]] = (
    lambda all_: np.lexsort((-all_.sizes, all_.lives)),  # most bytes for the bytes x events
    lambda all_: np.argsort(-all_.sizes, kind="stable"),
    lambda all_: np.argsort(-all_.sizes * all_.lives, kind="stable"),
    lambda all_: np.argsort(all_.sizes, kind="stable"),
)


class _Way:
    """An order in which banks take buffers, by turns, and what comes of it."""

    def __init__(
        self, buffers: _Buffers, sizes: Sequence[int], turns: Sequence[int], order: Sequence[int]
    ) -> None:
        self._buffers, self._sizes, self._turns, self._order = buffers, sizes, turns, order
        self.numbers = buffers.divide(order, sizes, turns)
        held = [buffers.bytes_in(self.numbers, bank) for bank in range(len(sizes))]
        self.worth = (-buffers.bytes_in(self.numbers, _NOWHERE), *held)  # the larger the better

    def improve(self) -> _Way:
        """The way after all moves of one buffer to the front that made it better."""
        best, trials = self, _MOST_TRIALS // max(len(self._order), 1)
        while trials > 0:
            behind = [one for one in best._order if best.numbers[one] != self._turns[0]]
            for one in behind[:trials]:
                trials -= 1
                moved = best.move_to_front(one)
                if moved.worth > best.worth:
                    best = moved
                    break
            else:
                break
        return best

    def move_to_front(self, buffer: int) -> _Way:
        """The way whose order begins with a buffer."""
        order = [buffer, *(one for one in self._order if one != buffer)]
        return _Way(self._buffers, self._sizes, self._turns, order)


def place_in_banks(
    lifetimes: _engine.Lifetimes, names: Sequence[str], sizes: Sequence[int]
) -> BankedBuffers:
    """Divides all lifetimes among banks of these sizes; HeapfitError if no way was found."""
    buffers = _Buffers.from_lifetimes(lifetimes)
    largest = int(buffers.sizes.max(initial=0))
    if largest > max(sizes):
        raise HeapfitError(f"a buffer of {largest:,} B is larger than every bank (give more)")
    there = range(len(sizes))
    ways = []
    for turns in (there, there[::-1]):
        begun = [_Way(buffers, sizes, turns, order(buffers).tolist()) for order in _ORDERS]
        ways.append(max(begun, key=lambda way: way.worth).improve())
    best = max(ways, key=lambda way: way.worth)
    numbers = best.numbers
    if best.worth[0] < 0:
        raise HeapfitError(
            f"{' and '.join(names)}: buffers of {-best.worth[0]:,} B found no place in any order "
            "that was tried (give a bank more)"
        )
    offsets = np.zeros(len(numbers), np.uint64)
    banks = []
    for bank in there:
        chosen = np.flatnonzero(numbers == bank)
        found = buffers.pack(chosen, _LAST_EFFORT, 0)
        if found.height > sizes[bank]:
            found = buffers.pack(chosen, _EFFORT, sizes[bank])
        offsets[chosen] = found.offsets
        byte_events = int((buffers.sizes * buffers.lives)[chosen].sum())
        is_least, moved = found.height == found.floor, buffers.bytes_in(numbers, bank)
        used = (len(chosen), found.height, is_least, moved, byte_events)
        banks.append(Bank(names[bank], sizes[bank], *used))
    return BankedBuffers(tuple(banks), numbers, offsets)
