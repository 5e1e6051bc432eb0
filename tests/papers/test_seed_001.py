# SPDX-License-Identifier: Apache-2.0
"""Mamagkakis, Soudris and Catthoor, section 5: what is published, and what is measured.

The 18 captures are not to be had; 18 queues of a mix fitted to the published totals stand for them
(packets/mix.py), each of 1,000 packets filled and drained. The paper's "Linux allocator" is told as
one that splits and coalesces predefined blocks, and its number is that of blocks left whole: both
are run, and `lea`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

import pytest

from heapfit_papers.packets.described import BLOCKS, DescribedAllocator, measure_footprint
from heapfit_papers.packets.instructions import MEASURED, queue_instructions
from heapfit_papers.packets.mix import FITTED, TRACES, draw_packets, queue_sizes
from heapfit_papers.reproduce.paper_001_costs import (
    MODEL,
    POOLS,
    STACK,
    Cost,
    both_mixes,
    compare_to_requested,
    costs,
    mean_cost,
    models,
)
from heapfit_papers.reproduce.published import figure

ENERGY_SAVED = figure("001-14", "saved").number
POOLS_MORE, LINUX_MORE = figure("001-12", "arithmetic").numbers


@dataclass(frozen=True)
class Means:
    """Over the traces."""

    cost: Cost
    over_requested: float  # R_safe / U_max

    @property
    def accesses(self) -> float:
        return self.cost.accesses

    @property
    def energy(self) -> float:
        return self.cost.energy


@pytest.fixture(scope="module")
def means(laboratory) -> Mapping[str, Means]:
    found = laboratory.measure_once(costs)
    return {
        name: Means(mean_cost(found, name), compare_to_requested(found, name) + 1)
        for name in found[0]
    }


def test_001_12_the_published_footprints_agree_with_the_published_shares():
    requested, ours, linux = (
        figure("001-12", name).number for name in ("requested", "footprint", "linux")
    )
    assert ours / requested - 1 == pytest.approx(POOLS_MORE, abs=0.0001)
    assert linux / requested - 1 == pytest.approx(LINUX_MORE, abs=0.0001)
    assert 1 - ours / linux == pytest.approx(figure("001-12", "saved").number, abs=0.0001)


def test_001_12_the_fitted_mix_meets_all_three_totals_within_a_percent(means):
    assert means[POOLS].cost.requested == pytest.approx(figure("001-12", "requested").number, 0.01)
    assert means[POOLS].cost.footprint == pytest.approx(figure("001-12", "footprint").number, 0.01)
    assert means[MODEL].cost.footprint == pytest.approx(figure("001-12", "linux").number, 0.01)


def test_001_12_the_shares_alone_do_not(laboratory):
    """Other sizes alike, which the fit replaced."""
    alike = laboratory.measure_once(both_mixes).alike
    assert compare_to_requested(alike, POOLS) == pytest.approx(0.097, abs=0.005)
    assert compare_to_requested(alike, MODEL) == pytest.approx(1.57, abs=0.05)


def test_001_12_a_queue_has_the_published_shares_and_the_fitted_parts():
    sizes = queue_sizes(3)
    assert [(sizes == one).sum() for one in (40, 1500)] == [430, 260]
    others = sizes[(sizes != 40) & (sizes != 1500)]
    for part in FITTED[:-1]:
        inside = ((others >= part.least) & (others <= part.most)).sum()
        assert inside == pytest.approx(part.share * 310, abs=5)
    assert sorted(queue_sizes(4)) != sorted(sizes)


def test_001_1_drawn_packets_have_the_shares_of_the_mix():
    sizes = draw_packets(1, 100_000)
    shares = {40: 0.43, 1500: 0.26}
    for size, share in shares.items():
        assert (sizes == size).mean() == pytest.approx(share, abs=0.005)
    large = ((sizes >= 1025) & (sizes <= 1424)).mean()
    assert large == pytest.approx(0.31 * 0.536, abs=0.005)
    assert (sizes.min(), sizes.max()) == (40, 1500)


def test_001_10_the_described_allocator_splits_and_coalesces():
    heap = DescribedAllocator()
    first = heap.alloc(1500)
    second = heap.alloc(1500)
    assert heap.footprint == 4096  # both of one block
    assert heap.pieces == 3
    heap.free(*first)
    assert heap.pieces == 3
    heap.free(*second)
    assert heap.pieces == 1  # whole again
    heap.alloc(40)
    assert heap.footprint == 4096  # split from what is free, before a new block is taken


def test_001_10_the_described_allocator_takes_the_smallest_block_that_fits():
    for size, block in ((40, 64), (60, 64), (61, 128), (1020, 1024), (1021, 4096), (5000, 5008)):
        assert measure_footprint([size]) == block
    assert {64, 4096} <= set(BLOCKS)


def test_001_10_its_pieces_always_tile_its_blocks():
    draw = Random(7)
    heap = DescribedAllocator()
    live = []
    for _ in range(400):
        if live and draw.random() < 0.45:
            heap.free(*live.pop(draw.randrange(len(live))))
        else:
            live.append(heap.alloc(draw.randint(1, 1500)))
        used = sum(piece.size for _, piece in live)
        assert used <= heap.footprint
        assert len({id(piece) for _, piece in live}) == len(live)
    for number, piece in live:
        heap.free(number, piece)
    taken = heap.footprint
    for _ in range(taken // 4096 // 2):  # every block is whole, so large requests find room
        heap.alloc(1)
    assert heap.footprint == taken


def test_001_10_the_text_s_allocator_needs_a_tenth_more_and_not_twice_as_much(laboratory):
    """188.74 % more are published. Whole blocks give it; split and coalesced ones do not."""
    found = laboratory.measure_once(models)
    for one in found.described:
        assert one.footprint / one.requested - 1 == pytest.approx(0.11, abs=0.02)
    assert compare_to_requested(found.fitted, MODEL) == pytest.approx(LINUX_MORE, rel=0.01)


def test_001_11_instructions_are_told_of_every_queue():
    found = queue_instructions()
    assert sorted(found) == list(range(1, TRACES + 1))
    for one in found.values():
        assert set(one) == set(MEASURED)
        assert one[STACK].each < 0.4 * one[POOLS].each < one["best_fit"].each


def test_001_12_lea_s_own_allocator_needs_less_than_the_pools(means):
    """62.58 % less footprint than Lea's does not hold: pools need more than it does."""
    assert means["lea"].over_requested < 1.03
    assert means["lea"].over_requested < means[POOLS].over_requested


def test_001_13_pools_make_few_accesses_where_general_allocators_make_many(means):
    """8 at most to find a pool are published, and no other number."""
    assert means[STACK].accesses < means[POOLS].accesses < 8
    for general in ("lea", "tlsf"):
        assert means[general].accesses > 2 * means[POOLS].accesses
        assert means[general].accesses > 3 * means[STACK].accesses


def test_001_14_pools_save_most_of_the_energy_but_not_nine_tenths(means):
    """90.11 % less are published. Found with the paper's traversal: some 53 % less than lea, 80 %
    less than TLSF; with a stack 67 % and 86 %."""
    for general in ("lea", "tlsf"):
        assert 0.45 < 1 - 1 / means[general].energy < ENERGY_SAVED
        assert 0.6 < 1 - means[STACK].energy / means[general].energy < ENERGY_SAVED


def test_001_14_the_paper_s_two_factors_together_come_near_its_energy(means):
    """Fewer accesses, each in a smaller memory: lea's accesses in one of the model's size."""
    energy = means["lea"].accesses / means[MODEL].accesses * means[MODEL].energy
    assert 0.65 < 1 - 1 / energy < ENERGY_SAVED
