# SPDX-License-Identifier: Apache-2.0
"""Buffers of known lifetimes in several banks: as many bytes as possible in the first.

Each bank takes buffers in an order, first where its load lets it, then where its packing does. Of
eight such ways the best of each direction is improved by buffers moved to the front of its order.
That the first bank could have no more is proven where a search of all divisions ends soon enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.bounds.placement import Placement
from heapfit.comparison.incumbents.heaps import MEMORY_HEAPS
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_trace
from heapfit.plan.memories import parse_memory, require_different
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace

Ints: TypeAlias = NDArray[np.int64]

_EFFORT = (1, 200_000, 2_000)  # of the engine, for one more buffer
_LAST_EFFORT = (1, 5_000_000, 50_000)  # for all buffers of a bank
_MOST_MISSES = 30  # buffers in vain, until a bank is full
_MOST_TRIALS = 5_000  # of one buffer in a bank, when a way is improved
_MOST_PROVEN = 40  # buffers, for a search that proves a division
_MOST_NODES = 50_000  # of that search
_NOWHERE = -1
_NO_HEAP = Plan(MEMORY_HEAPS[0])  # buffers in banks have none


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
    """A bank and an offset for each lifetime of a file."""

    source: Path
    lifetimes: _engine.Lifetimes
    banks: tuple[Bank, ...]
    numbers: Ints  # the bank of each lifetime
    offsets: NDArray[np.uint64]  # bytes
    is_most: bool  # proven: no division gives the first bank more bytes

    def share(self, bank: Bank, amount: Callable[[Bank], int]) -> float:
        """The share of an amount that a bank has."""
        return amount(bank) / max(sum(map(amount, self.banks)), 1)

    def save(self, path: Path | str) -> None:
        """Writes each buffer's bank and offset as the file's ending says: .csv, .json or .h."""
        heights = {one.name: one.height for one in self.banks}
        placed = (self.source, self.lifetimes, self.offsets, heights, self.numbers)
        Placement(*placed).save(Path(path))


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

    def fits(self, chosen: Ints, size: int) -> bool | None:
        """True if these buffers have a place in a bank, False if proven not to, else None."""
        found = self.pack(chosen, _EFFORT, size)
        return True if found.height <= size else (False if found.floor > size else None)


@dataclass(slots=True)
class _Divisions:
    """All divisions that give the first bank more bytes than the best one found so far."""

    buffers: _Buffers
    sizes: Sequence[int]  # of the banks
    numbers: Ints  # the best division
    most: int  # bytes of the first bank in it; -1: it does not place all buffers
    is_certain: bool = True  # each division tried was decided

    def search(self) -> bool:
        """True once `numbers` is proven best, False if that takes too long."""
        if len(self.numbers) > _MOST_PROVEN:
            return False
        order = np.argsort(-self.buffers.sizes, kind="stable")
        sizes = self.buffers.sizes[order]
        rest = [*np.cumsum(sizes[::-1])[::-1].tolist(), 0]
        loads, others = self._loads(order), sum(self.sizes[1:])
        pending = [(np.zeros(len(order), np.bool_), 0, loads[:0].sum(0), loads[:0].sum(0))]
        for _ in range(_MOST_NODES):
            if not pending:
                return self.is_certain
            inside, place, load, outside = pending.pop()
            taken = int(sizes[inside].sum())
            if taken + rest[place] <= self.most:
                continue
            if place == len(order):
                self._judge(order, inside, taken)
                continue
            if (less := outside + loads[place]).max() <= others:
                pending.append((inside, place + 1, load, less))
            if (more := load + loads[place]).max() <= self.sizes[0]:
                with_it = inside.copy()
                with_it[place] = True
                pending.append((with_it, place + 1, more, outside))
        return False

    def _loads(self, order: Ints) -> Ints:
        """The bytes of each buffer at the starts of all, since a load is highest at one of them."""
        buffers = self.buffers
        moments, starts = np.unique(buffers.starts), buffers.starts[order, None]
        is_live = (starts <= moments) & (moments < buffers.ends[order, None])
        return np.asarray(is_live * buffers.sizes[order, None])

    def _judge(self, order: Ints, inside: NDArray[np.bool_], taken: int) -> None:
        """Takes a division that has a packing; with more than two banks the rest is not divided."""
        first, rest = np.sort(order[inside]), np.sort(order[~inside])
        fits = [self.buffers.fits(first, self.sizes[0])]
        fits.append(self.buffers.fits(rest, self.sizes[1]) if len(self.sizes) == 2 else None)
        if all(fits):
            self.numbers, self.most = np.where(np.isin(np.arange(len(order)), first), 0, 1), taken
        elif False not in fits:
            self.is_certain = False


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
    source: Trace | Path | str,
    memories: Sequence[str],
    importing: ImportOptions | None = None,
    progress: Progress = ignore_progress,
) -> BankedBuffers:
    """Divides buffers of known lifetimes, as a network's tensors, among banks NAME=SIZE.

    The first bank gets as many bytes as is found. HeapfitError if a bank is none, or if no way was
    found to place all buffers.
    """
    parsed = [parse_memory(one, _NO_HEAP) for one in memories]
    require_different(parsed)
    given = source if isinstance(source, Trace) else Path(source)
    with open_trace(given, importing, progress) as trace:
        lifetimes = _engine.Lifetimes(load_trace(trace, progress=progress).events)
        path = trace.given
    return _divide(path, lifetimes, [one.name for one in parsed], [one.size for one in parsed])


def _divide(
    source: Path, lifetimes: _engine.Lifetimes, names: Sequence[str], sizes: Sequence[int]
) -> BankedBuffers:
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
    missing = -best.worth[0]
    divisions = _Divisions(buffers, sizes, best.numbers, -1 if missing else best.worth[1])
    is_most, numbers = divisions.search(), divisions.numbers
    if divisions.most < 0:
        why = "no division has room (proven)" if is_most else "no order that was tried has room"
        raise HeapfitError(
            f"{' and '.join(names)}: {why} for all: {missing:,} B are left over (give a bank more)"
        )
    banks, offsets = _pack_banks(buffers, numbers, names, sizes)
    return BankedBuffers(source, lifetimes, banks, numbers, offsets, is_most)


def _pack_banks(
    buffers: _Buffers, numbers: Ints, names: Sequence[str], sizes: Sequence[int]
) -> tuple[tuple[Bank, ...], NDArray[np.uint64]]:
    """The banks with the buffers that each has, and an offset for each buffer."""
    offsets = np.zeros(len(numbers), np.uint64)
    banks = []
    for bank in range(len(sizes)):
        chosen = np.flatnonzero(numbers == bank)
        found = buffers.pack(chosen, _LAST_EFFORT, 0)
        if found.height > sizes[bank]:
            found = buffers.pack(chosen, _EFFORT, sizes[bank])
        offsets[chosen] = found.offsets
        byte_events = int((buffers.sizes * buffers.lives)[chosen].sum())
        is_least, moved = found.height == found.floor, buffers.bytes_in(numbers, bank)
        used = (len(chosen), found.height, is_least, moved, byte_events)
        banks.append(Bank(names[bank], sizes[bank], *used))
    return tuple(banks), offsets
