# SPDX-License-Identifier: Apache-2.0
"""Closed forms against exact rationals and printed tables; metrics and intervals."""

import random
from dataclasses import replace
from fractions import Fraction
from math import factorial
from pathlib import Path

import numpy as np
import pytest

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan, Pool
from heapfit.simulation.arrivals import periodic, poisson
from heapfit.simulation.closed_form import exact_metrics, exact_refusals, unit_classes
from heapfit.simulation.holding import constant, exponential, fifo
from heapfit.simulation.metrics import METRICS, Observation, overhead_ratio
from heapfit.simulation.scenario import Point, RunSettings, Scenario, load_scenario
from heapfit.simulation.scheme import Scheme
from heapfit.simulation.simulate import simulate, solve
from heapfit.simulation.sizes import (
    BimodalSize,
    EmpiricalSize,
    ExponentialSize,
    ListedSizes,
    UniformSize,
)
from heapfit.simulation.statistics import estimate, student_t
from heapfit.simulation.traffic import Traffic, load_traffic


def erlang_b_by_definition(servers: int, offered: Fraction) -> Fraction:
    """a^n / n! over the sum of a^i / i!."""
    terms = [offered**i / factorial(i) for i in range(servers + 1)]
    return terms[-1] / sum(terms)


def states(units: int, demand: list[int]) -> list[tuple[int, ...]]:
    """Every number of live requests of each class that fits."""
    if not demand:
        return [()]
    return [
        (n, *rest)
        for n in range(units // demand[0] + 1)
        for rest in states(units - n * demand[0], demand[1:])
    ]


def refused_by_product_form(units: int, demand: list[int], offered: list[Fraction]) -> list[float]:
    """Each state's weight is the product of a_k^n_k / n_k!; no recurrence."""
    weights = {}
    for state in states(units, demand):
        weight = Fraction(1)
        for n, a in zip(state, offered, strict=True):
            weight *= a**n / factorial(n)
        weights[state] = weight
    total = sum(weights.values())
    free = {s: units - sum(n * b for n, b in zip(s, demand, strict=True)) for s in weights}
    return [float(sum(w for s, w in weights.items() if free[s] < b) / total) for b in demand]


def refused(units: int, demand: list[int], offered: list[float]) -> np.ndarray:
    return _engine.kaufman_roberts(units, np.array(demand, np.uint64), np.array(offered, float))


@pytest.mark.parametrize(("servers", "offered"), [(1, "1/3"), (7, "5"), (40, "31/2"), (60, "90")])
def test_erlang_b_is_its_definition(servers, offered):
    exact = float(erlang_b_by_definition(servers, Fraction(offered)))
    assert _engine.erlang_b(servers, float(Fraction(offered))) == pytest.approx(exact, rel=1e-13)


def test_erlang_b_is_as_in_printed_tables():
    """Erlang's table: 10 circuits carry 4.46 erlangs, 100 carry 84.06, at 1 % lost."""
    assert _engine.erlang_b(10, 4.46) == pytest.approx(0.01, abs=5e-5)
    assert _engine.erlang_b(100, 84.06) == pytest.approx(0.01, abs=5e-5)


@pytest.mark.parametrize(
    ("units", "demand", "offered"),
    [
        (2, [1, 2], ["1", "1"]),
        (12, [1, 2, 3], ["2", "3/2", "1/2"]),
        (17, [2, 5], ["7/3", "1"]),
        (20, [4, 1, 7], ["1", "10", "3"]),
    ],
)
def test_kaufman_roberts_is_the_product_form(units, demand, offered):
    rationals = [Fraction(a) for a in offered]
    exact = refused_by_product_form(units, demand, rationals)
    found = refused(units, demand, [float(a) for a in rationals])
    assert found == pytest.approx(exact, rel=1e-12)


def test_kaufman_roberts_is_the_recurrence_where_doubles_would_overflow():
    units, demand, offered = 1024, [1, 2, 3, 4], [450, 533, 533, 484]
    q = [Fraction(1)]
    for j in range(1, units + 1):
        terms = (
            a * b * q[j - b] for a, b in zip(offered, demand, strict=True) if j >= b
        )  # whole numbers over j: rounded to keep the fractions short
        q.append((sum(terms, Fraction(0)) / j).limit_denominator(10**30))
    assert q[-1] > 10**308
    exact = [float(sum(q[units - b + 1 :]) / sum(q)) for b in demand]
    assert refused(units, demand, offered) == pytest.approx(exact, rel=1e-12)


def test_bad_traffic_is_refused_with_its_value():
    with pytest.raises(HeapfitError, match="nan"):
        _engine.erlang_b(3, float("nan"))
    with pytest.raises(HeapfitError, match="must be a number from 0, not -1"):
        refused(3, [1], [-1.0])


# ---- where closed forms apply

TRAFFIC = Traffic(poisson(0.1), UniformSize(80, 2000), exponential(1.0))


def scheme(allocator: str, **tunables: int) -> Scheme:
    plan = Plan(allocator, tunables)
    return Scheme("one", plan, max(plan.engine().smallest_region, 10_000))


FIXED = scheme("fixed_pool", block_size=2048, blocks=8)
CHAINED = scheme("chained_pool", partition_size=512, partitions=30)


def test_uniform_sizes_become_classes_of_exact_shares():
    """80 to 512, 513 to 1024, 1025 to 1536, 1537 to 2000; the first two in several bins."""
    classes = unit_classes(TRAFFIC.load(), 512)
    assert sorted(set(classes.units.tolist())) == [1, 2, 3, 4]
    counts = [433, 512, 512, 464]
    share, size, offered, live = (
        np.bincount(classes.units, one)[1:]
        for one in (classes.share, classes.size, classes.offered, classes.live)
    )
    assert share == pytest.approx([float(Fraction(n, 1921)) for n in counts], rel=1e-12)
    assert size / share == pytest.approx([296, 768.5, 1280.5, 1768.5], rel=1e-12)
    assert offered == pytest.approx(10 * share) and live == pytest.approx(10 * size)


@pytest.mark.parametrize(
    "sizes",
    [
        UniformSize(1, 7),
        ExponentialSize(8, 350),
        ExponentialSize(5, 5),
        BimodalSize(40, 43, 1500, 26),
        EmpiricalSize((9, 3, 9), (1.0, 2.0, 1.0)),
    ],
)
def test_a_distribution_is_what_the_engine_draws(sizes):
    values, shares = sizes.distribution()
    assert shares.sum() == pytest.approx(1)
    drawn = _engine.Simulation(
        FIXED.plan.engine(), FIXED.region, replace(TRAFFIC, sizes=sizes).engine(), 1
    )
    drawn.run(100_000)
    counts = drawn.counts()
    mean = float((values * shares).sum())
    assert counts.requested_bytes / counts.requests == pytest.approx(mean, rel=0.02)
    bounds, offered = counts.offered_by_size
    below = np.searchsorted(values, bounds, side="right")
    expected = np.append(0, np.cumsum(shares))[below]
    assert np.cumsum(offered) / counts.requests == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize("block_size", [2048, 2001, 2003])
def test_a_fixed_pool_is_refused_by_erlang_whatever_the_sizes(block_size):
    """Each block begins aligned, and a request may have all of one."""
    fixed = scheme("fixed_pool", block_size=block_size, blocks=8)
    exact = exact_metrics(TRAFFIC, fixed)
    admitted = 1 - _engine.erlang_b(8, 10.0)
    assert exact["bandwidth_admission"] == pytest.approx(admitted)
    assert exact["request_admission"] == pytest.approx(admitted)
    live = 10.0 * admitted * 1040
    assert exact["memory_utilisation"] == pytest.approx(live / fixed.region)
    assert exact["pool_utilisation"] == pytest.approx(live / (8 * block_size))
    assert exact["internal_fragmentation"] == pytest.approx(10.0 * admitted * (block_size - 1040))


def test_requests_above_a_buffer_take_nothing_from_the_others():
    narrow = scheme("fixed_pool", block_size=1040, blocks=8)
    share = 961 / 1921
    exact = exact_metrics(TRAFFIC, narrow)
    admitted = share * (1 - _engine.erlang_b(8, 10.0 * share))
    assert exact["request_admission"] == pytest.approx(admitted)


def test_chained_partitions_are_refused_by_kaufman_and_roberts():
    classes = unit_classes(TRAFFIC.load(), 512)
    refused = _engine.kaufman_roberts(30, classes.units, 10.0 * classes.share)
    exact = exact_metrics(TRAFFIC, CHAINED)
    assert exact["request_admission"] == pytest.approx(1 - (classes.share * refused).sum())
    assert exact["bandwidth_admission"] < exact["request_admission"]


PACKETS = replace(TRAFFIC, sizes=BimodalSize(40, 43, 1500, 26))


def class_pools(**tunables: int) -> Scheme:
    """40 B and 1500 B exactly, the rest by the pools of 512, 1024 and 1536 B."""
    sizes = ((40, True), (512, False), (1024, False), (1500, True), (1536, False))
    pools = tuple(Pool(size, 4, is_exact) for size, is_exact in sizes)
    plan = Plan("class_pools", tunables, pools)
    return Scheme("one", plan, plan.engine().smallest_region)


def test_pools_without_a_shared_heap_to_pass_to_refuse():
    passing, refusing = class_pools(overflow=1), class_pools(overflow=2)
    assert passing.lacks_shared_heap and not refusing.lacks_shared_heap
    assert exact_metrics(PACKETS, passing) == exact_metrics(PACKETS, refusing) != {}


def test_class_pools_that_refuse_are_an_erlang_system_each():
    exact = exact_metrics(PACKETS, class_pools(overflow=2))
    each = 0.31 / 1459  # of the sizes from 41 to 1499
    shares = [0.43, 472 * each, 512 * each, 0.26, 475 * each]
    admitted = sum(share * (1 - _engine.erlang_b(4, 10 * share)) for share in shares)
    assert exact["request_admission"] == pytest.approx(admitted)


STILLS = Traffic(poisson(1 / 3), UniformSize(12_288, 12_288), constant(4.0))
TELEMETRY = Traffic(poisson(1 / 150), UniformSize(200, 2000), exponential(0.4))
ROADSIDE = replace(TELEMETRY, beside=(STILLS,))
STORE = scheme("chained_pool", partition_size=1016, partitions=256, overhead=8)


def test_streams_hold_each_for_its_own_time():
    """By the recurrence written out in another program, to six digits."""
    rows = exact_refusals(ROADSIDE, STORE)
    assert [(top, lost / offered) for top, offered, lost in rows[-1:]] == [
        (12_288, pytest.approx(0.188361, abs=5e-7))
    ]
    small = [(offered, lost) for top, offered, lost in rows if top < 12_288]
    offered, lost = map(sum, zip(*small, strict=True))
    assert offered == pytest.approx(150 / 153)
    assert lost / offered == pytest.approx(0.021904, abs=5e-7)
    exact = exact_metrics(ROADSIDE, STORE)
    assert 1 - exact["request_admission"] == pytest.approx(0.025168, abs=5e-7)


def test_the_loss_of_each_size_is_about_what_is_simulated():
    point = Point({}, ROADSIDE, (STORE,))
    run = RunSettings(requests=20_000, warm_up=2000, replications=8)
    scenario = Scenario(Path("s.toml"), "s", "s", (), (point,), run)
    simulated, exact = (one.results[0] for one in (simulate(scenario), solve(scenario)))
    assert {top for top, _, _ in exact.refusals_by_size()} == {
        top for top, _, _ in simulated.refusals_by_size()
    }
    known = exact.exact["request_admission"]
    estimate = simulated.estimates["request_admission"]
    assert abs(estimate.mean - known) < 2 * estimate.half_width < 0.02


def test_a_systems_heap_is_offered_traffic_in_its_own_setting(tmp_path):
    path = tmp_path / "s.toml"
    laws = (
        'schema = 1\nname = "s"\n[traffic]\narrivals = { law = "poisson", rate = 90 }\n'
        'sizes = { law = "uniform", least = 100, most = 600 }\n'
        'holding = { law = "exponential", mean = 1.0 }\n[run]\nrequests = 1000\n'
    )
    same = 'region = 32768\nplan = { allocator = "tlsf" }'
    path.write_text(
        f'{laws}[schemes.a]\nheap = "heap_4:32K"\n[schemes.b]\nheap = "tlsf:32K"\n'
        f"[schemes.c]\n{same}\n"
    )
    system, ours, plan = simulate(load_scenario(path)).results
    assert ours.observations == plan.observations
    assert (system.scheme.region, system.scheme.plan.allocator) == (32_768, "first_fit")
    assert system.capacity == 32_752, "its first header and its end are not handed out"
    path.write_text(f'{laws}[schemes.a]\nheap = "lwip-mem:32K"\n')
    with pytest.raises(HeapfitError, match=r"schemes\.a\.heap: lwip-mem: give one that serves"):
        load_scenario(path)
    path.write_text(f'{laws}[schemes.a]\nheap = "nonsense:32K"\n')
    with pytest.raises(HeapfitError, match=r"s\.toml: schemes\.a\.heap: nonsense: no such heap"):
        load_scenario(path)


def test_a_list_of_one_size_is_that_size(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        'traffic.arrivals = { law = "poisson", rate = 3 }\n'
        'traffic.sizes = { law = "listed", sizes = [12288, 12288] }\n'
        'traffic.holding = { law = "fixed", mean = 4.0 }\n'
    )
    assert exact_metrics(load_traffic(path), STORE) is not None


def test_streams_of_a_file_are_read_by_their_names(tmp_path):
    path, stream = (
        tmp_path / "s.toml",
        (
            '[traffic.streams.{}]\narrivals = {{ law = "poisson", rate = {} }}\n'
            'sizes = {{ law = "uniform", least = {}, most = {} }}\n'
            'holding = {{ law = "{}", mean = {} }}\n'
        ),
    )
    path.write_text(
        stream.format("telemetry", 150, 200, 2000, "exponential", 0.4)
        + stream.format("stills", 3, 12_288, 12_288, "fixed", 4.0)
    )
    assert load_traffic(path) == ROADSIDE
    path.write_text("[traffic.streams]\n")
    with pytest.raises(HeapfitError, match="streams: needs at least one stream"):
        load_traffic(path)


@pytest.mark.parametrize(
    ("traffic", "one"),
    [
        (replace(ROADSIDE, beside=(replace(STILLS, arrivals=periodic(0.1)),)), FIXED),
        (replace(TRAFFIC, arrivals=periodic(0.1)), FIXED),
        (replace(TRAFFIC, holding=fifo("bytes", 1e6)), FIXED),
        (replace(TRAFFIC, sizes=ListedSizes((80, 90))), FIXED),
        (replace(TRAFFIC, sizes=UniformSize(1, 2**31)), CHAINED),
        (TRAFFIC, scheme("partition_pool", partition_size=512, partitions=30)),
        (TRAFFIC, scheme("tlsf")),
        (PACKETS, class_pools()),
    ],
)
def test_without_its_conditions_there_is_no_closed_form(traffic, one):
    assert exact_metrics(traffic, one) is None


# ---- metrics

SEEN = Observation(
    region=1000,
    capacity=800,
    requests=10,
    admitted=9,
    requested_bytes=500,
    admitted_bytes=400,
    live=200.0,
    used=260.0,
    external=30.0,
    external_peak=90,
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bandwidth_admission", 0.8),
        ("request_admission", 0.9),
        ("memory_utilisation", 0.2),
        ("pool_utilisation", 0.25),
        ("combined_utility", 0.16),
        ("internal_fragmentation", 60.0),
        ("external_fragmentation", 30.0),
        ("external_fragmentation_peak", 90.0),
    ],
)
def test_a_metric_is_as_by_hand(name, value):
    assert METRICS[name].of(SEEN) == pytest.approx(value)


def test_what_has_no_whole_has_no_share():
    nothing = replace(SEEN, requests=0, requested_bytes=0, capacity=0)
    for name in ("bandwidth_admission", "request_admission", "pool_utilisation",
                 "combined_utility"):  # fmt: skip
        assert METRICS[name].of(nothing) is None


def test_overhead_is_over_what_can_be_handed_out():
    assert overhead_ratio(1000, 800) == 0.25
    assert overhead_ratio(1000, 0) is None


# ---- intervals


@pytest.mark.parametrize(
    ("confidence", "freedom", "t"),
    [
        (0.95, 1, 12.706),
        (0.95, 2, 4.303),
        (0.95, 3, 3.182),
        (0.95, 9, 2.262),
        (0.95, 120, 1.980),
        (0.99, 1, 63.657),
        (0.99, 4, 4.604),
        (0.99, 7, 3.499),
        (0.99, 30, 2.750),
        (0.999, 5, 6.869),
    ],
)
def test_t_is_as_in_printed_tables(confidence, freedom, t):
    assert student_t(confidence, freedom) == pytest.approx(t, abs=0.0005)


def test_the_interval_of_three_values_is_as_by_hand():
    found = estimate([1.0, 2.0, 3.0], 0.95)
    assert found.mean == 2.0
    assert found.half_width == pytest.approx(4.303 / 3**0.5, abs=0.001)
    assert found.holds(4.0)
    assert not found.holds(4.5)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_an_interval_holds_the_truth_as_often_as_it_says(confidence):
    draw = random.Random(3)
    trials = 4000
    hits = sum(
        estimate([draw.gauss(10, 3) for _ in range(5)], confidence).holds(10) for _ in range(trials)
    )
    assert hits / trials == pytest.approx(confidence, abs=0.02)
