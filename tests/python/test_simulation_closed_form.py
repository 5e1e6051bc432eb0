# SPDX-License-Identifier: Apache-2.0
"""Erlang-B and Kaufman-Roberts against exact rationals and printed tables."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from heapfit import _engine
from heapfit.errors import HeapfitError


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


def test_a_larger_request_is_refused_more_often():
    found = refused(1024, [1, 2, 3, 4], [112.5, 133.3, 133.3, 120.9])
    assert list(found) == sorted(found)
    assert 0 < found[0] < found[3] < 1


def test_bad_traffic_is_refused_with_its_value():
    with pytest.raises(HeapfitError, match="nan"):
        _engine.erlang_b(3, float("nan"))
    with pytest.raises(HeapfitError, match="must be a number from 0, not -1"):
        refused(3, [1], [-1.0])
