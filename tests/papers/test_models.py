# SPDX-License-Identifier: Apache-2.0
"""What the rows of the papers are measured with: models, drawn loads and lists told in order."""

import math
from random import Random

import numpy as np
import pytest

from heapfit import _engine
from heapfit_papers.packets.described import BLOCKS, DescribedAllocator, measure_footprint
from heapfit_papers.packets.mix import FITTED, draw_packets, queue_sizes
from heapfit_papers.slotbuf.benchmark import SlotbufSpec, draw_sizes, report_version


def test_slots_are_drawn_by_the_law_of_the_report():
    """10,000 samples: each of 10 equal parts of ln(MAX / MIN) has a tenth of them."""
    spec = SlotbufSpec(1, 1, report_version(1))
    drawn = np.log(draw_sizes(spec, 10_000) + 0.5)  # the middle of what is rounded down to it
    edges = np.linspace(math.log(spec.least), math.log(spec.most + 1), 11)
    counts, _ = np.histogram(drawn, edges)
    assert counts.sum() == 10_000
    assert counts[3:] == pytest.approx(1000, rel=0.15)  # small sizes are too coarse for tenths


def test_the_free_list_tells_its_sizes_in_its_order():
    workload = _engine.SlotWorkload(2, 8, 8, 1)
    buffer = _engine.SlotBuffer(report_version(1).engine(), 65_536, workload)
    assert len(buffer.free_sizes()) == 1
    while buffer.counts.free.calls == 0:
        buffer.run(1)
    assert buffer.free_sizes().tolist()[0] == 8  # freed last, so in front


def test_a_queue_has_the_published_shares_and_the_fitted_parts():
    sizes = queue_sizes(3)
    assert [(sizes == one).sum() for one in (40, 1500)] == [430, 260]
    others = sizes[(sizes != 40) & (sizes != 1500)]
    for part in FITTED[:-1]:
        inside = ((others >= part.least) & (others <= part.most)).sum()
        assert inside == pytest.approx(part.share * 310, abs=5)
    assert sorted(queue_sizes(4)) != sorted(sizes)
    drawn = draw_packets(1, 100_000)
    for size, share in {40: 0.43, 1500: 0.26}.items():
        assert (drawn == size).mean() == pytest.approx(share, abs=0.005)
    assert (drawn.min(), drawn.max()) == (40, 1500)


def test_the_described_allocator_splits_the_smallest_block_that_fits_and_coalesces():
    for size, block in ((40, 64), (60, 64), (61, 128), (1020, 1024), (1021, 4096), (5000, 5008)):
        assert measure_footprint([size]) == block
    assert {64, 4096} <= set(BLOCKS)
    heap = DescribedAllocator()
    first, second = heap.alloc(1500), heap.alloc(1500)
    assert (heap.footprint, heap.pieces) == (4096, 3)  # both of one block
    heap.free(*first)
    assert heap.pieces == 3
    heap.free(*second)
    assert heap.pieces == 1  # whole again
    heap.alloc(40)
    assert heap.footprint == 4096  # split from what is free, before a new block is taken


def test_its_pieces_always_tile_its_blocks():
    draw, heap, live = Random(7), DescribedAllocator(), []
    for _ in range(400):
        if live and draw.random() < 0.45:
            heap.free(*live.pop(draw.randrange(len(live))))
        else:
            live.append(heap.alloc(draw.randint(1, 1500)))
        assert sum(piece.size for _, piece in live) <= heap.footprint
        assert len({id(piece) for _, piece in live}) == len(live)
    for number, piece in live:
        heap.free(number, piece)
    taken = heap.footprint
    for _ in range(taken // 4096 // 2):  # every block is whole, so large requests find room
        heap.alloc(1)
    assert heap.footprint == taken
