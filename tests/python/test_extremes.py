# SPDX-License-Identifier: Apache-2.0
"""Laws of window maxima: levels are exceeded as stated, the interval holds the true one."""

import numpy as np
import pytest

from heapfit.forecast.extremes import find_chance_interval, sample_maxima

LOCATION, SCALE = 1000.0, 50.0  # of Gumbel's law


def draw(seed: int, count: int) -> np.ndarray:
    return LOCATION - SCALE * np.log(-np.log(np.random.default_rng(seed).random(count)))


def test_a_large_sample_says_what_the_law_says():
    sample = sample_maxima(draw(1, 1000))
    level = LOCATION - SCALE * np.log(-np.log1p(-0.01) / 480)
    chance = -np.expm1(-480 * np.exp((LOCATION - 1300) / SCALE))
    assert sample.level(480, 0.01) == pytest.approx(level, rel=0.1)
    assert sample.chance(1300, 480) == pytest.approx(chance, rel=0.3)


@pytest.mark.parametrize(("count", "windows"), [(48, 480), (48, 4800), (8, 10)])
@pytest.mark.parametrize("chance", [0.01, 0.1])
def test_a_small_sample_states_levels_that_hold_on_average(count, windows, chance):
    """On average over laws with a bound and without one."""
    random, exceeded = np.random.default_rng(1), []
    for shape in random.uniform(-0.1, 0.5, 400):
        values = -np.expm1(-shape * random.gumbel(size=count)) / shape
        level = sample_maxima(values).level(windows, chance)
        rest = max(1e-300, 1 - shape * level)
        exceeded.append(-np.expm1(-windows * rest ** (1 / shape)))
    assert np.mean(exceeded) == pytest.approx(chance, rel=0.5)
    sample = sample_maxima(values)
    assert sample.chance(level, windows) == pytest.approx(chance, rel=0.01)
    low, high = sample.chance_interval(level, windows)
    assert 0 <= low <= chance <= high <= 1


def test_what_has_a_bound_needs_less_than_what_has_none():
    random = np.random.default_rng(1)
    bounded, heavy = random.uniform(0, 1, 48), random.exponential(size=48)
    levels = [
        (sample.level(480, 0.01) - sample.mean) / sample.spread
        for sample in map(sample_maxima, (bounded, heavy))
    ]
    assert 1.5 * levels[0] < levels[1]


def test_equal_maxima_have_no_spread():
    sample = sample_maxima([7.0] * 48)
    assert (sample.level(480, 0.01), sample.chance(6, 10), sample.chance(7, 10)) == (7.0, 1.0, 0.0)


def test_an_interval_of_equal_values_rests_on_their_number():
    assert sample_maxima([7.0] * 48).interval(480, 0.01) == (7.0, 7.0)
    rare = 0.05 ** (1 / 8)
    assert find_chance_interval([7.0] * 8, 9) == pytest.approx((0.0, 1 - rare))
    assert find_chance_interval([7.0] * 8, 6) == pytest.approx((rare, 1.0))


def test_an_interval_moves_and_grows_with_its_values():
    maxima = draw(1, 48)
    low, high = sample_maxima(maxima).interval(480, 0.1)
    scaled = sample_maxima(3 * maxima + 500).interval(480, 0.1)
    assert scaled == pytest.approx((3 * low + 500, 3 * high + 500))
    wide = sample_maxima(maxima, dependence=4).interval(480, 0.1)
    assert wide[1] - wide[0] > 1.3 * (high - low)
    assert low < sample_maxima(maxima).level(480, 0.1) < high
    assert find_chance_interval(maxima, 1300) == pytest.approx(
        find_chance_interval(3 * maxima + 500, 4400)
    )
