# SPDX-License-Identifier: Apache-2.0
"""Student's t and the intervals made of it."""

import random

import pytest

from heapfit.simulation.statistics import estimate, student_t


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


def test_one_value_has_no_interval():
    found = estimate([0.5], 0.95)
    assert (found.mean, found.half_width) == (0.5, None)
    assert not found.holds(0.5)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_an_interval_holds_the_truth_as_often_as_it_says(confidence):
    draw = random.Random(3)
    trials = 4000
    hits = sum(
        estimate([draw.gauss(10, 3) for _ in range(5)], confidence).holds(10) for _ in range(trials)
    )
    assert hits / trials == pytest.approx(confidence, abs=0.02)
