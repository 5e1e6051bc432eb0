# SPDX-License-Identifier: Apache-2.0
"""The least memory for offered traffic: closed forms, and simulations that agree with them."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.plan.plan import LARGEST_REGION
from heapfit.simulation.arrivals import OnOff, Periodic, Poisson
from heapfit.simulation.closed_form import unit_classes
from heapfit.simulation.holding import ExponentialHolding, FifoService
from heapfit.simulation.sizes import BimodalSize, ListedSizes, UniformSize
from heapfit.simulation.traffic import Traffic
from heapfit.sizing.families import families_for, load_of
from heapfit.sizing.from_traffic import Aim, FamilySearch, curve_aims, size_for

# Elsayed and Galal's traffic at an inter-arrival time of 0.002.
ARTICLE = Traffic(Poisson(0.002), UniformSize(80, 2000), ExponentialHolding(1.0))
# 20 requests live on average: quick to simulate.
SMALL = Traffic(Poisson(0.05), UniformSize(80, 2000), ExponentialHolding(1.0))


def test_a_family_ends_at_the_largest_region():
    for family in families_for(load_of(SMALL)):
        if family.name in ("tlsf", "best_fit"):
            largest = family.make(family.most).region
            assert LARGEST_REGION - 64 < largest <= LARGEST_REGION


def test_a_size_that_is_seldom_live_has_a_block():
    seldom = Traffic(Poisson(4.0), UniformSize(80, 2000), ExponentialHolding(1.0))
    families = {one.name: one for one in families_for(load_of(seldom))}
    assert families["class_pools"].make(4).plan.pools[-1].size >= 2000


def exact(traffic, admission=0.999, buffer_size=None):
    with ThreadPoolExecutor(1) as executor:
        searches = [
            FamilySearch(traffic, family, Aim(), executor)
            for family in families_for(load_of(traffic), buffer_size)
        ]
        found = [one.least(admission) for one in searches if one.is_exact]
    return {one.name: one for one in found}


def test_the_articles_pools_need_what_the_closed_form_say():
    found = exact(ARTICLE, buffer_size=2048)
    fixed = found["fixed_pool"].scheme.plan.scalars
    assert (fixed["blocks"], fixed["block_size"]) == (555, 2048)
    assert round(555 * (2048 + 36) / 1000) == 1157  # KB, published prototype
    chained = found["chained_pool 512 B"].scheme.plan.scalars["partitions"]
    assert round(chained * (512 + 36) / 1000) == 776
    small = found["chained_pool 64 B"].scheme.plan.scalars["partitions"]
    assert round(small * (64 + 0.25) / 1000) == 606  # with two bits of metadata a partition


def test_one_block_fewer_would_refuse_too_many():
    for one in exact(ARTICLE).values():
        assert one.is_exact
        assert one.reached >= 0.999
        assert one.lowest == one.highest == one.memory
    fixed = exact(ARTICLE)["fixed_pool"].scheme.plan.scalars["blocks"]
    assert _engine.erlang_b(fixed, 500) <= 0.001 < _engine.erlang_b(fixed - 1, 500)
    chained = exact(ARTICLE)["chained_pool 256 B"].scheme.plan.scalars["partitions"]
    assert _lost(chained, 256) <= 0.001 < _lost(chained - 1, 256)


def _lost(partitions, size):
    """Bytes refused over bytes asked for."""
    classes = unit_classes(UniformSize(80, 2000), size)
    refused = _engine.kaufman_roberts(partitions, classes.units, 500 * classes.share)
    asked = classes.share * classes.mean_size
    return float((refused * asked).sum() / asked.sum())


def test_simulated_memories_are_told_with_an_interval_that_holds_them():
    found = size_for(SMALL, Aim(0.99, replications=4), workers=2)
    names = {one.name: one for one in found.schemes}
    assert {"tlsf", "best_fit", "class_pools", "partition_pool 64 B"} < set(names)
    for one in found.schemes:
        assert one.lowest <= one.memory <= one.highest
        assert one.is_exact == one.name.startswith(("fixed", "chained"))
        assert one.reached >= 0.99
    # Runs need at least as much as partitions wherever they lie; here bits cost less than chains.
    units = {
        name: names[f"{name} 64 B"].scheme.plan.scalars["partitions"]
        for name in ("chained_pool", "partition_pool")
    }
    assert units["partition_pool"] > units["chained_pool"]
    memories = [one.memory for one in found.schemes]
    assert memories == sorted(memories)


@pytest.mark.usefixtures("few")
def test_simulated_memories_are_judged_on_draws_they_were_not_found_on():
    found = size_for(SMALL, Aim(0.9, replications=4)).schemes
    for one in found:
        if one.is_exact:
            assert one.unseen is None and one.unseen_half_width is None
        else:
            assert one.unseen != one.reached
            assert abs(one.unseen - one.reached) < one.unseen_half_width + one.half_width < 0.04
    assert any(one.unseen is not None for one in found)


def test_the_same_seed_gives_the_same_with_any_number_of_workers():
    traffic = Traffic(Poisson(0.1), UniformSize(80, 2000), ExponentialHolding(1.0))
    aim = Aim(0.95, replications=3, seed=7)
    one, other = size_for(traffic, aim, 1), size_for(traffic, aim, 3)
    assert [(s.name, s.memory, s.reached) for s in one.schemes] == [
        (s.name, s.memory, s.reached) for s in other.schemes
    ]


def test_budgets_are_tried_where_a_size_is_frequent():
    traffic = Traffic(Poisson(0.1), BimodalSize(40, 43, 1500, 26), ExponentialHolding(1.0))
    found = {one.name: one for one in size_for(traffic, Aim(0.95, replications=2), 2).schemes}
    pools = found["budgeted"].scheme.plan.pools
    assert [(pool.size, pool.count) for pool in pools] == [(40, 4), (1500, 2)]
    assert (40, True) in [(p.size, p.is_exact) for p in found["class_pools"].scheme.plan.pools]


@pytest.fixture
def few(monkeypatch):
    """Some kinds of schemes only: all of them take their time."""
    kept = ("fixed_pool", "chained_pool 256 B", "class_pools", "tlsf")
    monkeypatch.setattr(
        "heapfit.sizing.from_traffic.families_for",
        lambda *given: tuple(one for one in families_for(*given) if one.name in kept),
    )


@pytest.mark.usefixtures("few")
def test_bursts_need_more_than_the_same_load_without():
    calm = Traffic(Poisson(0.1), UniformSize(80, 2000), ExponentialHolding(1.0))
    bursts = Traffic(
        OnOff(on=1.0, off=3.0, interval=0.025), UniformSize(80, 2000), ExponentialHolding(1.0)
    )
    assert load_of(bursts).offered == load_of(calm).offered == pytest.approx(10)
    aim = Aim(0.95, replications=4)
    needed = [
        {one.name: one.memory for one in size_for(traffic, aim, workers=2).schemes}
        for traffic in (calm, bursts)
    ]
    assert needed[0].keys() == needed[1].keys()
    assert all(needed[1][name] > 1.1 * memory for name, memory in needed[0].items())


@pytest.mark.usefixtures("few")
def test_a_queue_is_sized_by_simulation_alone():
    traffic = Traffic(
        Periodic(0.01), UniformSize(80, 2000), FifoService(None, packets_per_second=101.0)
    )
    found = size_for(traffic, Aim(0.9, replications=2), workers=2)
    assert not any(one.is_exact for one in found.schemes)
    fixed = next(one for one in found.schemes if one.name == "fixed_pool")
    assert fixed.scheme.plan.scalars["blocks"] == 1  # served before the next one comes


def test_what_is_too_rare_to_simulate_is_told_and_closed_form_still_answer():
    found = size_for(SMALL, Aim(1 - 1e-9, replications=2))
    for one in found.schemes:
        if one.is_exact:
            assert 1 - one.reached <= 1e-9
        else:
            assert one.memory is None
            assert one.why_not == "too rare to simulate: a loss of 1.0e-09"
    assert found.schemes[0].is_exact


@pytest.mark.usefixtures("few")
def test_the_curve_falls_with_the_share_refused():
    found = size_for(SMALL, Aim(0.99, replications=2, curve=True), workers=2)
    for name in {one.name for one in found.curve}:
        some = [one for one in found.curve if one.name == name]
        assert [one.admission for one in some] == curve_aims(0.99)
        assert [one.memory for one in some] == sorted(one.memory for one in some)


def test_traffic_that_cannot_be_sized_is_refused():
    with pytest.raises(HeapfitError, match="pool size: 1,024 bytes are below the largest request"):
        exact(ARTICLE, buffer_size=1024)
    with pytest.raises(HeapfitError, match="admission: 1 must be"):
        size_for(ARTICLE, Aim(1.0))
    listed = Traffic(Poisson(0.1), ListedSizes((40, 1500)), ExponentialHolding(1.0))
    assert not exact(listed)
