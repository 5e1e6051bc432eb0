# SPDX-License-Identifier: Apache-2.0
"""Halving an interval: what is tried, when it ends, and that neither end is tried."""

from collections.abc import Callable

import pytest

from heapfit.bisection import bisect_least, bisect_real


def noted(least: int, tried: list[int]) -> Callable[[int], bool]:
    """Works from `least` on; notes what it is asked."""

    def works(number: int) -> bool:
        tried.append(number)
        return number >= least

    return works


@pytest.mark.parametrize("least", range(1, 18))
def test_the_least_number_that_works_is_found_and_no_end_is_tried(least: int) -> None:
    tried: list[int] = []
    assert bisect_least(noted(least, tried), 0, does=17) == least
    assert not {0, 17} & {*tried}
    assert len(tried) == len({*tried}) <= 5


@pytest.mark.parametrize("least", [8, 9, 63, 64, 65, 79])
def test_of_a_unit_only_multiples_are_tried(least: int) -> None:
    tried: list[int] = []
    found = bisect_least(noted(least, tried), 0, does=80, unit=8)
    assert found == -(-least // 8) * 8
    assert all(number % 8 == 0 for number in tried)


def test_what_is_near_enough_is_not_halved_again() -> None:
    tried: list[int] = []
    assert bisect_least(noted(700, tried), 0, does=1024, within=128) == 768
    assert tried == [512, 768, 640]
    tried.clear()
    assert bisect_least(noted(700, tried), 0, does=1024, share=4) == 768  # to a quarter of itself
    assert tried == [512, 768, 640]


def test_a_real_number_is_found_to_the_last_digit() -> None:
    assert bisect_real(lambda number: number >= 0.1, 0.0, 1.0) == 0.1
    assert bisect_real(lambda number: number > 1e-300, 0.0, 1.0) < 1e-60
