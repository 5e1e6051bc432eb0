# SPDX-License-Identifier: Apache-2.0
"""What checked recordings say of the next one: its chance to run out, and the margin's end."""

import numpy as np
import pytest
from test_check import REGION, blocks, plan_file, recording

from heapfit.checks.check import CheckOptions, check_recordings
from heapfit.checks.prospect import estimate_need, find_prospect
from heapfit.forecast.horizon import FEWEST_RUNS, expect_further_runs
from heapfit.results.check import check_parts
from heapfit.results.parts import Line


def test_few_recordings_bound_the_chance_and_give_none():
    prospect = find_prospect([1000.0] * 3, 0, 1200)
    assert prospect.highest_chance == pytest.approx(1 - 0.05 ** (1 / 3))
    assert (prospect.chance, prospect.margin_end) == (None, None)
    assert find_prospect([1000.0] * 3, 1, 1200).highest_chance is None
    assert find_prospect([], 0, 1200).highest_chance is None


def test_the_chance_is_that_which_fit_prints_of_the_same_needs():
    needs = [40_000, 41_000, 39_500, 42_000, 40_300, 41_700, 39_900, 40_800]
    further = expect_further_runs(needs)
    assert find_prospect(needs, 0, 43_000).chance == further.chance_interval(43_000, 1)
    low, high = further.chance_interval(43_000, 1)
    assert further.chance_interval(43_000, 10)[1] == pytest.approx(1 - (1 - high) ** 10)
    assert low <= further.chance(43_000, 1) <= high


@pytest.mark.parametrize("count", [FEWEST_RUNS, 40])
def test_the_chance_is_about_the_true_one(count):
    stated = [
        find_prospect(np.random.default_rng(seed).normal(1000, 50, count), 0, 1064).chance
        for seed in range(60)
    ]
    known = [chance for chance in stated if chance is not None]
    assert len(known) >= 57  # the others have a trend by chance
    assert sum(low <= 0.1 <= high for low, high in known) >= 0.9 * len(known)
    lowest, highest = np.median(known, axis=0)
    assert lowest < 0.1 < highest < 0.1 + 1 / np.sqrt(count)


def test_needs_that_grow_say_when_the_margin_is_eaten():
    needs = 1000 + 10 * np.arange(12) + np.random.default_rng(3).normal(0, 5, 12)
    prospect = find_prospect(needs, 0, 1300)
    assert prospect.chance is None
    end = prospect.margin_end
    assert end is not None
    assert end.latest is not None
    assert end.earliest <= end.after <= end.latest
    assert end.after == pytest.approx((1300 - 1110) / 10, rel=0.1)


def test_equal_needs_are_certain_to_run():
    prospect = find_prospect([1000.0] * 8, 0, 1200)
    assert prospect.chance == pytest.approx((0.0, 1 - 0.05 ** (1 / 8)))


def test_a_need_is_the_searched_one_or_reckoned_from_the_peak():
    plan = plan_file()
    assert estimate_need(plan, 3300, 3456) == 3456
    assert estimate_need(plan, 3300, None) == pytest.approx(3300 * REGION / 1.1 / 3000)
    assert estimate_need(plan_file(margin=None), 3300, None) == pytest.approx(3300 * 3200 / 3000)


def test_a_check_prints_it_under_the_table(tmp_path):
    files = [recording(tmp_path / f"run{i}.heap", blocks([2000 + 60 * i, 300])) for i in range(10)]
    text = [
        part.text
        for part in check_parts(check_recordings(files, plan_file()))
        if isinstance(part, Line)
    ]
    grow = [line for line in text if line.startswith("Needs grow by 74 B")]
    assert len(grow) == 1
    text = [
        part.text
        for part in check_parts(check_recordings(files[:3], plan_file()))
        if isinstance(part, Line)
    ]
    assert any(
        line.startswith("All 3 that differ run. Their number alone allows a chance of up to 63")
        for line in text
    )


def test_needs_that_are_reckoned_from_peaks_give_no_chance(tmp_path):
    """`fit` has the searched needs' chance: another one of the same heap would contradict it."""
    sizes = (2000, 2400, 1900, 2300, 2100, 2250, 1950, 2200)
    files = [recording(tmp_path / f"{size}.heap", blocks([size, size // 7])) for size in sizes]
    measured = check_recordings(files, plan_file(), CheckOptions(measure=True))
    needs = [one.needed.r_safe for one in measured.recordings if one.needed and one.needed.r_safe]
    assert measured.prospect.chance == expect_further_runs(needs).chance_interval(REGION, 1)
    reckoned = check_recordings(files, plan_file())
    assert reckoned.prospect.chance is None
    text = [part.text for part in check_parts(reckoned) if isinstance(part, Line)]
    assert any("their needs give an estimate with --measure" in line for line in text)


def test_recordings_that_ask_for_the_same_count_once(tmp_path):
    """Eight files of one content are one run: not enough for a chance, nor for a bound."""
    files = [recording(tmp_path / f"run{i}.heap", blocks([2000, 300])) for i in range(8)]
    prospect = check_recordings(files, plan_file()).prospect
    assert (prospect.runs, prospect.chance) == (1, None)
    assert prospect.highest_chance == pytest.approx(0.95)
    other = recording(tmp_path / "other.heap", blocks([2000, 301]))
    assert check_recordings([*files, other], plan_file()).prospect.runs == 2


def test_a_region_that_the_trend_has_passed_has_no_recordings_left():
    needs = 1000 + 10 * np.arange(12) + np.random.default_rng(3).normal(0, 5, 12)
    end = find_prospect(needs, 0, 1090).margin_end
    assert end is not None
    assert (end.earliest, end.after, end.latest) == (0, 0, 0)
