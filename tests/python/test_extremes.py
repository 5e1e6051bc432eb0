# SPDX-License-Identifier: Apache-2.0
"""Gumbel's law of window maxima: levels are exceeded as stated, the interval holds the true one."""

import numpy as np
import pytest

from heapfit.forecast.extremes import (
    Gumbel,
    find_chance_interval,
    find_level_interval,
    predict_chance,
    predict_level,
)

LAW = Gumbel(1000.0, 50.0)


def draw(seed: int, count: int) -> np.ndarray:
    return LAW.location - LAW.scale * np.log(-np.log(np.random.default_rng(seed).random(count)))


def test_of_many_maxima_a_level_is_that_of_the_law():
    maxima = draw(1, 20_000)
    assert predict_level(maxima, 480, 0.01) == pytest.approx(LAW.level(480, 0.01), rel=0.005)
    assert predict_chance(maxima, 1300, 480) == pytest.approx(LAW.chance(1300, 480), rel=0.1)


@pytest.mark.parametrize("count", [8, 48])
@pytest.mark.parametrize("chance", [0.01, 0.1])
def test_of_few_maxima_a_level_is_higher_and_is_exceeded_with_its_chance(count, chance):
    """Or less often: few independent maxima look dependent at times, and then count as fewer."""
    levels = [predict_level(draw(seed, count), 10, chance) for seed in range(300)]
    came = np.array([LAW.chance(level, 10) for level in levels])
    assert 0.3 * chance < came.mean() < chance + 3 * came.std() / 300**0.5
    assert np.mean(levels) > LAW.level(10, chance)
    assert predict_chance(draw(1, count), levels[1], 10) == pytest.approx(chance, rel=0.001)


@pytest.mark.parametrize("chance", [0.01, 0.1])
def test_a_level_is_exceeded_with_its_chance(chance):
    level = LAW.level(480, chance)
    assert LAW.chance(level, 480) == pytest.approx(chance)
    exceeded = np.mean([draw(seed, 480).max() > level for seed in range(3000)])
    assert exceeded == pytest.approx(chance, rel=0.25)


def test_equal_maxima_have_no_spread():
    equal = [7.0] * 48
    assert predict_level(equal, 480, 0.01) == 7.0
    assert (predict_chance(equal, 6, 10), predict_chance(equal, 7, 10)) == (1.0, 0.0)


def test_a_level_far_below_is_certain():
    assert LAW.chance(-1e9, 10) == 1.0
    assert LAW.chance(1e9, 10) == 0.0


def test_an_interval_of_equal_values_rests_on_their_number():
    assert find_level_interval([7.0] * 48, 480, 0.01) == (7.0, 7.0)
    rare = 0.05 ** (1 / 8)
    assert find_chance_interval([7.0] * 8, 9) == pytest.approx((0.0, 1 - rare))
    assert find_chance_interval([7.0] * 8, 6) == pytest.approx((rare, 1.0))


def test_an_interval_moves_and_grows_with_its_values():
    maxima = draw(1, 48)
    low, high = find_level_interval(maxima, 480, 0.1)
    scaled = find_level_interval(3 * maxima + 500, 480, 0.1)
    assert scaled == pytest.approx((3 * low + 500, 3 * high + 500))
    wide = find_level_interval(maxima, 480, 0.1, widening=1.5)
    assert wide[1] - wide[0] == pytest.approx(1.5 * (high - low))
    level = predict_level(maxima, 480, 0.1)
    assert low < level < high
    assert predict_level(3 * maxima + 500, 480, 0.1) == pytest.approx(3 * level + 500)
    wider = predict_level(maxima, 480, 0.1, widening=1.5)
    assert wider - maxima.mean() == pytest.approx(1.5 * (level - maxima.mean()))
    assert predict_chance(maxima, wider, 480, widening=1.5) == pytest.approx(0.1, rel=0.001)
    assert find_chance_interval(maxima, 1300) == pytest.approx(
        find_chance_interval(3 * maxima + 500, 4400)
    )
