# SPDX-License-Identifier: Apache-2.0
"""Gumbel's law of window maxima: levels are exceeded as stated, the interval holds the true one."""

import numpy as np
import pytest

from heapfit.forecast.extremes import Gumbel, find_chance_interval, sample_gumbel

LAW = Gumbel(1000.0, 50.0)


def draw(seed: int, count: int) -> np.ndarray:
    return LAW.location - LAW.scale * np.log(-np.log(np.random.default_rng(seed).random(count)))


def test_a_large_sample_says_what_the_law_says():
    sample = sample_gumbel(draw(1, 1000))
    assert sample.level(480, 0.01) == pytest.approx(LAW.level(480, 0.01), rel=0.02)
    assert sample.chance(1300, 480) == pytest.approx(LAW.chance(1300, 480), rel=0.3)


@pytest.mark.parametrize(("count", "windows"), [(48, 480), (48, 4800), (8, 10)])
@pytest.mark.parametrize("chance", [0.01, 0.1])
def test_a_small_sample_states_levels_that_hold_on_average(count, windows, chance):
    samples = [sample_gumbel(draw(seed, count)) for seed in range(800)]
    levels = [sample.level(windows, chance) for sample in samples]
    assert np.mean([LAW.chance(one, windows) for one in levels]) == pytest.approx(chance, rel=0.25)
    assert samples[0].chance(levels[0], windows) == pytest.approx(chance, rel=0.01)


@pytest.mark.parametrize("chance", [0.01, 0.1])
def test_a_level_is_exceeded_with_its_chance(chance):
    level = LAW.level(480, chance)
    assert LAW.chance(level, 480) == pytest.approx(chance)
    exceeded = np.mean([draw(seed, 480).max() > level for seed in range(3000)])
    assert exceeded == pytest.approx(chance, rel=0.25)


def test_equal_maxima_have_no_spread():
    sample = sample_gumbel([7.0] * 48)
    assert (sample.level(480, 0.01), sample.chance(6, 10), sample.chance(7, 10)) == (7.0, 1.0, 0.0)


def test_a_level_far_below_is_certain():
    assert LAW.chance(-1e9, 10) == 1.0
    assert LAW.chance(1e9, 10) == 0.0


def test_an_interval_of_equal_values_rests_on_their_number():
    assert sample_gumbel([7.0] * 48).interval(480, 0.01) == (7.0, 7.0)
    rare = 0.05 ** (1 / 8)
    assert find_chance_interval([7.0] * 8, 9) == pytest.approx((0.0, 1 - rare))
    assert find_chance_interval([7.0] * 8, 6) == pytest.approx((rare, 1.0))


def test_an_interval_moves_and_grows_with_its_values():
    maxima = draw(1, 48)
    low, high = sample_gumbel(maxima).interval(480, 0.1)
    scaled = sample_gumbel(3 * maxima + 500).interval(480, 0.1)
    assert scaled == pytest.approx((3 * low + 500, 3 * high + 500))
    wide = sample_gumbel(maxima, dependence=4).interval(480, 0.1)
    assert wide[1] - wide[0] > 1.5 * (high - low)
    assert low < sample_gumbel(maxima).level(480, 0.1) < high
    assert find_chance_interval(maxima, 1300) == pytest.approx(
        find_chance_interval(3 * maxima + 500, 4400)
    )
