# SPDX-License-Identifier: Apache-2.0
"""Packets as the wire carries them, where the card that captured them has merged them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_HEADERS = 40  # bytes of IP and TCP in a segment


def split_packets(
    time: NDArray[np.uint64], size: NDArray[np.uint32], largest: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Packets as a wire of so large ones carries them: a larger one as segments, each with headers.

    A network card merges those it receives and splits those it sends, where no capture sees it.

    >>> _, sizes = split_packets(np.array([5, 9], np.uint64), np.array([60, 2948], np.uint32), 1500)
    >>> sizes.tolist()
    [60, 1500, 1488]
    """
    sizes, room = size.astype(np.int64), largest - _HEADERS
    counts = np.where(sizes > largest, -(-(sizes - _HEADERS) // room), 1)
    segments = np.full(counts.sum(), largest)
    segments[np.cumsum(counts) - 1] = sizes - (counts - 1) * room
    return np.repeat(time, counts), segments.astype(np.uint32)
