# SPDX-License-Identifier: Apache-2.0
"""Rules of systems' heaps beside the systems' own sources: where each puts every block.

The sums are of the sources themselves, compiled for 32 bits and given the same requests; their
versions are in docs/now.md. A sum takes each block's offset from the first one.
"""

import random
import zlib

import numpy as np
import pytest

from heapfit import _engine
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.incumbents.requests import Requests
from heapfit.trace.operations import ALLOC, FREE, RESIZE

MEMORY = 60_000  # bytes that each system's heap is given


def walk(resizes: bool) -> Requests:
    """4,000 requests of 1 to 900 bytes, mostly small, of up to 90 blocks."""
    chance = random.Random(7)
    rows: list[tuple[int, int, int, int]] = []
    live: list[int] = []
    count = 0
    for _ in range(4_000):
        size = chance.choice(
            (chance.randint(1, 40), chance.randint(1, 200), 8 * chance.randint(1, 112))
        )
        if len(live) < 8 or (len(live) < 90 and chance.random() < 0.5):
            rows.append((ALLOC, count, size, 0))
            live.append(count)
            count += 1
        elif resizes and chance.random() < 0.2:
            rows.append((RESIZE, chance.choice(live), size, 0))
        else:
            rows.append((FREE, live.pop(chance.randrange(len(live))), 0, 0))
    op, named, sizes, alignment = (np.array(column) for column in zip(*rows, strict=True))
    return Requests(
        op.astype(np.uint8),
        named.astype(np.uint32),
        sizes.astype(np.uint64),
        alignment.astype(np.uint32),
    )


def offsets_of(name: str, requests: Requests) -> np.ndarray:
    heap = find_heap(name, 8)
    replay = _engine.Replay(heap.plan.engine(), heap.region(MEMORY), 8, keep_offsets=True)
    assert replay.feed(heap.events(requests))
    return replay.offsets.astype(np.int64)


@pytest.mark.parametrize(
    ("name", "resizes", "source"),
    [
        ("lwip-mem", False, 3_453_895_797),
        ("nuttx", True, 329_164_443),
        ("threadx", False, 2_218_428_356),
        ("umm_malloc", True, 2_314_380_253),
        ("newlib-nano", True, 421_779_346),
        ("sys_heap", True, 2_272_548_607),
        ("mattconte-tlsf", True, 1_515_212_347),
        ("picolibc", True, 1_768_139_587),
        ("esp-tlsf", True, 3_617_390_045),
        ("rt-thread", False, 1_736_180_855),
        ("newlib", True, 161_847_702),
    ],
)
def test_every_block_lies_where_the_source_puts_it(name, resizes, source):
    offsets = offsets_of(name, walk(resizes))
    assert zlib.crc32((offsets - offsets[0]).astype("<i4").tobytes()) == source


@pytest.mark.parametrize(
    ("name", "apart"),
    [
        ("newlib", (16, 104)),  # a word before each, at multiples of 8, at least 16
        ("picolibc", (16, 112)),  # 8 before each, at multiples of 8
        ("esp-tlsf", (16, 108)),  # a word before 12, and before 104, the next eighth of 64 to 128
        ("mattconte-tlsf", (16, 104)),  # a word before each, at multiples of 4
        ("sys_heap", (8, 104)),  # 4 before each, at multiples of 8
        ("lwip-mem", (24, 112)),  # 8 before 12, at multiples of 8
        ("rt-thread", (32, 120)),  # 16 before 16, at multiples of 8
    ],
)
def test_blocks_of_1_and_of_100_bytes_lie_so_far_apart(name, apart):
    heap = find_heap(name, 8)
    sizes = np.array([1, 1, 100, 100], np.uint64)
    requests = Requests(
        np.full(4, ALLOC, np.uint8), np.arange(4, dtype=np.uint32), sizes, np.zeros(4, np.uint32)
    )
    replay = _engine.Replay(heap.plan.engine(), heap.region(12_000), 8, keep_offsets=True)
    assert replay.feed(heap.events(requests))
    between = np.diff(replay.offsets.astype(np.int64))
    assert (between[0], between[2]) == apart


def test_newlib_asks_for_pages():
    heap = find_heap("newlib", 8)
    statics = heap.own
    for size, pages in (
        (100, 1),
        (4_072, 1),
        (4_080, 2),
    ):  # a word, 8s, and 16 that stay at the top
        requests = Requests(
            np.array([ALLOC], np.uint8),
            np.array([0], np.uint32),
            np.array([size], np.uint64),
            np.array([0], np.uint32),
        )
        needed = measure(heap, [requests]).most
        assert needed == statics + 4_096 * pages
        assert heap.set_to(needed) == 4_096 * pages
    assert heap.set_to(statics + 4_097) == 8_192
