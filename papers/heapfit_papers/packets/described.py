# SPDX-License-Identifier: Apache-2.0
"""The "Linux allocator" as Mamagkakis et al. describe it, in bytes alone.

Predefined blocks are split for smaller requests, best fit, and what is released is coalesced with
its free neighbours in its block, so that the block is whole again (section 5):

    block of 4096 B   | 1500 | 1500 |  1096 free  |

A model to count bytes with, written to be obvious: it keeps pieces in lists, and no headers lie
between them. A chunk has 4 B before what is asked for and is rounded up to 8, as Lea's on 32 bits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

BLOCKS = (64, 128, 256, 512, 1024, 4096)  # bytes; 64 and 4096 are named, powers between inferred
_HEADER, _ALIGNMENT = 4, 8


@dataclass(slots=True)
class Piece:
    """A part of a block. Bytes."""

    size: int
    is_free: bool


class DescribedAllocator:
    """Blocks taken from the system and never given back, each a list of pieces that tile it."""

    def __init__(self) -> None:
        self._blocks: list[list[Piece]] = []

    @property
    def footprint(self) -> int:
        """Bytes of all blocks taken so far."""
        return sum(piece.size for block in self._blocks for piece in block)

    @property
    def pieces(self) -> int:
        """How many there are, free ones too."""
        return sum(map(len, self._blocks))

    def alloc(self, size: int) -> tuple[int, Piece]:
        """The number of a block and a piece of it: the smallest free one that fits, else a new one.

        A request above the largest block gets a block of its own.
        """
        wanted = -(-(size + _HEADER) // _ALIGNMENT) * _ALIGNMENT
        fitting = [
            (piece.size, number, place)
            for number, block in enumerate(self._blocks)
            for place, piece in enumerate(block)
            if piece.is_free and piece.size >= wanted
        ]
        if not fitting:
            whole = next((block for block in BLOCKS if block >= wanted), wanted)
            self._blocks.append([Piece(whole, True)])
            fitting = [(whole, len(self._blocks) - 1, 0)]
        _, number, place = min(fitting)
        return number, self._split(self._blocks[number], place, wanted)

    def free(self, number: int, piece: Piece) -> None:
        """Gives a piece back and joins free neighbours."""
        piece.is_free = True
        joined: list[Piece] = []
        for one in self._blocks[number]:
            if joined and joined[-1].is_free and one.is_free:
                joined[-1].size += one.size
            else:
                joined.append(one)
        self._blocks[number] = joined

    @staticmethod
    def _split(block: list[Piece], place: int, wanted: int) -> Piece:
        piece = block[place]
        if piece.size > wanted:
            block.insert(place + 1, Piece(piece.size - wanted, True))
        piece.size, piece.is_free = wanted, False
        return piece


def measure_footprint(sizes: Iterable[int]) -> int:
    """Bytes of blocks that a queue takes, filled with these packets and emptied.

    >>> measure_footprint([1500, 1500, 40])
    4096
    """
    heap = DescribedAllocator()
    queued = [heap.alloc(int(size)) for size in sizes]
    for number, piece in queued:
        heap.free(number, piece)
    return heap.footprint
