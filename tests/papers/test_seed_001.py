# SPDX-License-Identifier: Apache-2.0
"""Mamagkakis, Soudris and Catthoor, section 5: what is published, and what is measured.

The 18 captures are not to be had; 18 seeds of the published mix stand for them, each a queue of
1,000 packets filled and drained. The paper's "Linux allocator" is Lea's as it understands it: 40 B
come out of blocks of 64 B and 1500 B out of blocks of 4096 B, which nothing joins or splits. Lea's
allocator as published does no such thing, so both are run: the paper's model of it, and `lea`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from heapfit_papers.reproduce.paper_001_costs import (
    MODEL,
    POOLS,
    STACK,
    Cost,
    costs,
    mean_cost,
    over_requested,
)
from heapfit_papers.reproduce.published import figure

FOOTPRINT_SAVED = figure("001-12", "saved").number
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
    found = laboratory.once(costs)
    return {
        name: Means(mean_cost(found, name), over_requested(found, name) + 1) for name in found[0]
    }


def test_001_12_the_published_footprints_agree_with_the_published_shares():
    requested, ours, linux = (
        figure("001-12", name).number for name in ("requested", "footprint", "linux")
    )
    assert ours / requested - 1 == pytest.approx(POOLS_MORE, abs=0.0001)
    assert linux / requested - 1 == pytest.approx(LINUX_MORE, abs=0.0001)
    assert 1 - ours / linux == pytest.approx(FOOTPRINT_SAVED, abs=0.0001)


def test_001_12_pools_by_the_paper_need_little_more_than_is_requested(means):
    """8.05 % more are published; 9.7 % are found, as other sizes are drawn alike."""
    assert means[POOLS].over_requested - 1 == pytest.approx(POOLS_MORE, abs=0.025)


def test_001_10_the_paper_s_model_of_lea_explains_its_footprint(means):
    """188.74 % more than requested are published; 157 % are found with blocks as described."""
    assert means[MODEL].over_requested - 1 == pytest.approx(LINUX_MORE, abs=0.35)
    saved = 1 - means[POOLS].over_requested / means[MODEL].over_requested
    assert saved == pytest.approx(FOOTPRINT_SAVED, abs=0.07)


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
