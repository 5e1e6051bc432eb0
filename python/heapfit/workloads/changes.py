# SPDX-License-Identifier: Apache-2.0
"""Changes of a program: its recording as the next build may ask for memory.

A change keeps what happens when: each block is requested and freed where it was, or three events
later. Sizes, some blocks' number or the order of the first ones are others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import FREE, is_allocation, is_end

Columns: TypeAlias = dict[str, NDArray[Any]]  # of events, as in a stored trace

_HEAVIEST: Final = 3  # sizes
_EACH: Final = 10  # one of so many blocks is doubled; of so many parts of a recording one is first
_LATE: Final = 3  # events
_CLASSES: Final = 4  # between a power of two and the next


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a program."""

    name: str  # for people
    apply: Callable[[Columns], Columns]  # to a recording
    is_of_sizes: bool  # else of the number or the order of blocks


def list_changes(loaded: LoadedTrace) -> tuple[Change, ...]:
    """The 13 changes of the program that was recorded; fewer if it has few sizes, or two agree."""
    return change_sizes(heaviest_sizes(loaded))


def change_sizes(heaviest: Sequence[int]) -> tuple[Change, ...]:
    """The changes of a program whose heaviest sizes these are."""
    return (
        *(
            Change(f"{more} B more a request", partial(grow_requests, more=more), True)
            for more in (8, 4)
        ),
        *(
            Change(
                f"requests of {size:,} B as {to:,} B", partial(replace_size, size=size, to=to), True
            )
            for size in heaviest
            for to in dict.fromkeys((size + 8, find_next_class(size)))
        ),
        *(
            Change(f"10 % more blocks of {size:,} B", partial(double_blocks, size=size), False)
            for size in heaviest
        ),
        Change("first lasting blocks in reverse order", reverse_lasting, False),
        Change(f"frees {_LATE} events late", delay_frees, False),
    )


def heaviest_sizes(loaded: LoadedTrace) -> list[int]:
    """The three sizes with the most live bytes when most bytes are live, the heaviest first."""
    return rank_sizes(*loaded.live_at_peak())


def rank_sizes(sizes: NDArray[np.uint64], counts: NDArray[Any]) -> list[int]:
    """The three sizes that so many live blocks of each have most bytes of, the heaviest first."""
    order = np.argsort(-(sizes.astype(np.int64) * counts.astype(np.int64)), kind="stable")
    return [int(one) for one in sizes[order][:_HEAVIEST]]


def find_next_class(size: int) -> int:
    """The next larger size of four a power of two.

    >>> [find_next_class(size) for size in (1, 16, 17, 160, 255)]
    [2, 20, 20, 192, 256]
    """
    step = max((1 << size.bit_length() - 1) // _CLASSES, 1)
    return (size // step + 1) * step


def grow_requests(columns: Columns, more: int) -> Columns:
    """Every request, and every resize that is no free, by `more` bytes larger."""
    size = columns["size"] + np.where(_is_request(columns), np.uint64(more), np.uint64(0))
    return columns | {"size": size}


def replace_size(columns: Columns, size: int, to: int) -> Columns:
    """Every request of `size` bytes as one of `to` bytes."""
    is_replaced = _is_request(columns) & (columns["size"] == size)
    return columns | {"size": np.where(is_replaced, np.uint64(to), columns["size"])}


def double_blocks(columns: Columns, size: int) -> Columns:
    """Each tenth block that is of `size` bytes at some time twice, with the same life."""
    blocks = np.unique(columns["object"][_is_request(columns) & (columns["size"] == size)])
    counts = np.ones(np.count_nonzero(is_allocation(columns["op"])), np.int64)
    counts[blocks[_EACH - 1 :: _EACH]] = 2
    events = np.repeat(np.arange(len(columns["op"])), counts[columns["object"]])
    is_second = np.diff(events, prepend=-1) == 0
    doubled = {name: column[events] for name, column in columns.items()}
    firsts = np.cumsum(counts) - counts
    doubled["object"] = (firsts[doubled["object"]] + is_second).astype(np.uint32)
    return doubled


def reverse_lasting(columns: Columns) -> Columns:
    """Requests of the first tenth whose blocks are never freed nor resized, in reverse order."""
    births = np.flatnonzero(is_allocation(columns["op"]))
    lasts = np.bincount(columns["object"], minlength=len(births)) == 1
    events = births[lasts & (births * _EACH < len(columns["op"]))]
    order = np.arange(len(columns["op"]))
    order[events] = events[::-1]
    moved = {name: column[order] for name, column in columns.items()}
    return moved | {"object": columns["object"]}


def delay_frees(columns: Columns) -> Columns:
    """Every free three events later; frees stay in their order."""
    places = 2 * np.arange(len(columns["op"]))
    places[columns["op"] == FREE] += 2 * _LATE + 1
    return {name: column[np.argsort(places, kind="stable")] for name, column in columns.items()}


def _is_request(columns: Columns) -> NDArray[np.bool_]:
    return ~is_end(columns["op"], columns["size"])
