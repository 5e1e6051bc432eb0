# SPDX-License-Identifier: Apache-2.0
"""Mamagkakis, Soudris and Catthoor, section 5: what is published, and what is measured.

The 18 captures are not to be had; 18 seeds of the published mix stand for them, each a queue of
1,000 packets filled and drained. The paper's "Linux allocator" is Lea's as it understands it: 40 B
come out of blocks of 64 B and 1500 B out of blocks of 4096 B, which nothing joins or splits. Lea's
allocator as published does no such thing, so both are run: the paper's model of it, and `lea`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean

import pytest

from heapfit.comparison import Row, compare, energies_over_least
from heapfit.design.candidates import Candidate, Portfolio, named_portfolio
from heapfit.design.special_pools import special_pools_plan, special_sizes
from heapfit.design.workload import Workload, load_workload
from heapfit.energy import load_sram
from heapfit.workloads import generate_workload, parse_workload

TRACES = 18
REQUESTED, OURS, LINUX = 621_172, 671_210, 1_793_611  # mean bytes
FOOTPRINT_SAVED, ENERGY_SAVED = 0.6258, 0.9011
LEA_AS_DESCRIBED = (64, 128, 256, 512, 1024, 4096)  # the blocks its requests are said to come from
MODEL = "lea as described"
STACK = "class_pools:search=1"  # a free block in one step; the paper traverses the pool


@dataclass(frozen=True)
class Means:
    """Over the traces."""

    over_requested: float  # R_safe / U_max
    accesses: float  # metadata words per operation
    energy: float  # over that of class_pools


def contestants(workload: Workload) -> Portfolio:
    blocks = [(size, False) for size in LEA_AS_DESCRIBED]
    plan = special_pools_plan("class_pools", workload.events, blocks, workload.alignment)
    named = named_portfolio(workload, ["class_pools", STACK, "lea", "tlsf"], [])
    return Portfolio((*named.candidates, Candidate(MODEL, plan, "", True)), ())


def measured(folder) -> Iterator[dict[str, tuple[Row, float]]]:
    """For each trace, every row with its energy over that of class_pools."""
    for seed in range(1, TRACES + 1):
        spec = parse_workload("queue_fill:packets=1000", seed)
        workload = load_workload(generate_workload(spec, folder / str(seed)))
        assert special_sizes(workload.profile) == (40, 1500)
        rows = compare(workload, contestants(workload)).rows
        energies = energies_over_least(rows, load_sram())
        pools = next(e for row, e in zip(rows, energies, strict=True) if row.name == "class_pools")
        yield {row.name: (row, e / pools) for row, e in zip(rows, energies, strict=True)}


@pytest.fixture(scope="module")
def means(tmp_path_factory) -> dict[str, Means]:
    traces = list(measured(tmp_path_factory.mktemp("traces")))
    return {
        name: Means(
            mean(trace[name][0].over_u_max for trace in traces),
            mean(trace[name][0].accesses_per_operation for trace in traces),
            mean(trace[name][1] for trace in traces),
        )
        for name in traces[0]
    }


def test_001_12_the_published_footprints_agree_with_the_published_shares():
    ours, linux, saved = OURS / REQUESTED - 1, LINUX / REQUESTED - 1, 1 - OURS / LINUX
    assert ours == pytest.approx(0.0805, abs=0.0001)
    assert linux == pytest.approx(1.8874, abs=0.0001)
    assert saved == pytest.approx(FOOTPRINT_SAVED, abs=0.0001)


def test_001_12_pools_by_the_paper_need_little_more_than_is_requested(means):
    """8.05 % more are published; 9.7 % are found, as other sizes are drawn alike."""
    assert means["class_pools"].over_requested - 1 == pytest.approx(0.0805, abs=0.025)


def test_001_10_the_paper_s_model_of_lea_explains_its_footprint(means):
    """188.74 % more than requested are published; 157 % are found with blocks as described."""
    assert means[MODEL].over_requested - 1 == pytest.approx(1.8874, abs=0.35)
    saved = 1 - means["class_pools"].over_requested / means[MODEL].over_requested
    assert saved == pytest.approx(FOOTPRINT_SAVED, abs=0.07)


def test_001_12_lea_s_own_allocator_needs_less_than_the_pools(means):
    """62.58 % less footprint than Lea's does not hold: pools need more than it does."""
    assert means["lea"].over_requested < 1.03
    assert means["lea"].over_requested < means["class_pools"].over_requested


def test_001_13_pools_make_few_accesses_where_general_allocators_make_many(means):
    """8 at most to find a pool are published, and no other number."""
    assert means[STACK].accesses < means["class_pools"].accesses < 8
    for general in ("lea", "tlsf"):
        assert means[general].accesses > 2 * means["class_pools"].accesses
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
