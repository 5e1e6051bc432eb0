# SPDX-License-Identifier: Apache-2.0
"""Forecasts of longer runs: laws of maxima, trends, and the regions of windows."""

from pathlib import Path

import numpy as np
import pytest
from loads import STANDARD, make_events, write_load

from heapfit import _engine
from heapfit.forecast.extent import ReplayedRun, find_maxima, measure_extents
from heapfit.forecast.extremes import find_chance_interval, sample_maxima
from heapfit.forecast.horizon import LongerRuns, Refusal, expect_longer_runs, join_runs
from heapfit.forecast.kind import RecordingKind, find_kind
from heapfit.forecast.trend import find_dependence, find_trend, rank_correlation, ranks
from heapfit.forecast.windows import cut_windows
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import TraceInfo, write_trace

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


# ---- windows and trends


def test_a_window_has_the_extremes_of_its_events(tmp_path: Path) -> None:
    # 4,000 blocks of 10 B; every 100th is kept, the others are freed at once.
    objects = np.arange(4000, dtype=np.uint32)
    kept = objects % 100 == 99
    events = [(0, n, 10) for n in objects]
    rows = [row for row, stays in zip(events, kept, strict=True) for row in _calls(row, stays)]
    op, numbers, size = (np.array(column) for column in zip(*rows, strict=True))
    columns = {"op": op.astype(np.uint8), "object": numbers.astype(np.uint32)}
    trace = write_trace(
        tmp_path / "t.parquet", [{**columns, "size": size.astype(np.uint64)}], TraceInfo()
    )
    windows = cut_windows(profile_trace(trace), 20)

    live = np.cumsum(np.where(op == 0, 10, -10))
    assert len(windows) == 20
    assert windows.starts[0] >= len(live) // 10
    for start, peak, trough in zip(windows.starts, windows.peaks, windows.troughs, strict=True):
        inside = live[start : start + windows.events]
        assert len(inside) == windows.events
        assert (peak, trough) == (inside.max(), inside.min())


def _calls(row: tuple[int, int, int], stays: bool) -> list[tuple[int, int, int]]:
    return [row] if stays else [row, (4, row[1], 0)]


def test_a_line_is_found_with_its_slope() -> None:
    noise = np.random.default_rng(1).normal(0, 5, 48)
    trend = find_trend(1000 + 3 * np.arange(48) + noise)
    assert trend.low < 3 < trend.high
    assert trend.high - trend.low < 0.5
    assert trend.p < 1e-6


def test_independent_values_are_called_a_trend_once_in_twenty() -> None:
    random = np.random.default_rng(2)
    false = sum(find_trend(random.exponential(1, 48)).p < 0.05 for _ in range(400))
    assert 6 <= false <= 36


def test_dependence_takes_away_from_a_trend() -> None:
    random = np.random.default_rng(3)

    def chance_of_dependent_values() -> float:
        values = [0.0]
        for shock in random.normal(0, 1, 95):
            values.append(0.5 * values[-1] + shock)
        return find_trend(values).p

    # 20 of them are without the correction.
    assert sum(chance_of_dependent_values() < 0.01 for _ in range(200)) <= 8


@pytest.mark.parametrize("values", [[], [1, 2, 3], [7] * 20])
def test_what_cannot_show_a_trend_has_none(values: list[int]) -> None:
    assert find_trend(values).p == 1


def test_equal_values_share_a_rank() -> None:
    assert ranks([5, 1, 5, 9]).tolist() == [1.5, 0, 1.5, 3]


def test_neighbours_correlate_in_a_walk_and_not_in_noise() -> None:
    random = np.random.default_rng(4)
    assert rank_correlation(np.cumsum(random.normal(0, 1, 200))) > 0.9
    assert abs(rank_correlation(random.normal(0, 1, 200))) < 0.2


def test_values_depend_as_a_process_of_first_order_would() -> None:
    # Ranks 1 2 4 3 6 5 about 3.5: the sum of neighbours' products is 5.25, of squares 17.5.
    r = 5.25 / 17.5
    r += (1 + 3 * r) / 6
    weighted = sum((6 - lag) * (5 - lag) * (4 - lag) * r**lag for lag in range(1, 6))
    assert find_dependence([10, 20, 40, 30, 60, 50]) == pytest.approx(1 + 2 / 120 * weighted)


# ---- regions of windows

TAILORED = Plan("tailored", {"alignment": 8})  # places from both ends
BEST_FIT = Plan("best_fit", {"alignment": 8})


def make_run(loaded: LoadedTrace, plan: Plan) -> ReplayedRun:
    base = loaded.trace.base_alignment_for(plan.alignment)
    return ReplayedRun(loaded.events, loaded.events_for(plan), plan, base)


def judge(load: str, seed: int, folder: Path) -> tuple[LoadedTrace, RecordingKind]:
    loaded = load_trace(write_load(load, STANDARD, seed, folder / f"{load}.parquet"))
    return loaded, find_kind(loaded.trace, loaded.profile)


def region_of(events: _engine.EventArray, plan: Plan) -> int:
    region = _engine.Trial(plan.engine(), events).scan().r_safe
    assert region is not None
    return region


def test_maxima_over_spans_are_those_of_the_obvious_way() -> None:
    random = np.random.default_rng(1)
    first = random.integers(0, 37, 500)
    last = np.minimum(first + random.integers(0, 20, 500), 36)
    values = random.integers(1, 1000, 500)
    found = find_maxima(first, last, values, 37)
    for cell in range(37):
        assert found[cell] == values[(first <= cell) & (cell <= last)].max(initial=0)


@pytest.mark.parametrize("plan", [TAILORED, BEST_FIT], ids=lambda plan: plan.allocator)
def test_the_largest_extent_is_the_region_of_the_recording(plan: Plan, tmp_path: Path) -> None:
    loaded, _ = judge("walk", 3, tmp_path)
    region = region_of(loaded.events, plan)
    windows = cut_windows(loaded.profile, 48)
    extents = measure_extents(make_run(loaded, plan), region, windows)
    assert extents is not None
    assert len(extents) == 48
    assert extents.max() == region
    assert (extents >= windows.troughs).all()


@pytest.mark.parametrize("plan", [TAILORED, BEST_FIT], ids=lambda plan: plan.allocator)
def test_runs_ten_times_as_long_hold_in_the_region_forecast(plan: Plan, tmp_path: Path) -> None:
    loaded, kind = judge("steady", 1, tmp_path)
    region = region_of(loaded.events, plan)
    expected = expect_longer_runs(make_run(loaded, plan), region, kind)
    assert isinstance(expected, LongerRuns)
    forecast = expected.forecast(10, 0.01)
    assert not isinstance(forecast, Refusal)
    needs = [region_of(make_events("steady", 10 * STANDARD, seed), plan) for seed in (21, 22, 23)]
    assert max(needs) <= forecast.region <= 1.35 * min(needs)
    assert region <= forecast.low <= forecast.region <= forecast.high


@pytest.mark.parametrize("load", ["leak_site", "leak_shared", "fill_long", "cycle_long"])
def test_nothing_is_forecast_of_what_is_not_steady(load: str, tmp_path: Path) -> None:
    loaded, kind = judge(load, 1, tmp_path)
    region = region_of(loaded.events, BEST_FIT)
    assert isinstance(expect_longer_runs(make_run(loaded, BEST_FIT), region, kind), Refusal)


def test_dependent_windows_tell_less_and_a_far_horizon_is_refused() -> None:
    walk = np.cumsum(np.random.default_rng(1).normal(0, 100, 48)).astype(np.int64) + 100_000
    expected = LongerRuns(int(walk.max()), walk, 53.0)
    assert expected.sample.level(5300, 0.1) > sample_maxima(walk).level(5300, 0.1)
    assert isinstance(expected.forecast(101, 0.1), Refusal)
    forecast = expected.forecast(100, 0.1)
    assert not isinstance(forecast, Refusal)
    assert forecast.region == pytest.approx(expected.sample.level(5300, 0.1), abs=8)
    assert expected.chance(forecast.region, 100) == pytest.approx(0.1, rel=0.05)


def test_recordings_of_one_program_are_forecast_together() -> None:
    maxima = np.random.default_rng(1).gumbel(100_000, 2000, 96).astype(np.int64)
    halves = [LongerRuns(int(half.max()), half, 53.0) for half in (maxima[:48], maxima[48:])]
    together = join_runs(halves)
    assert (together.region, together.windows) == (int(maxima.max()), 53.0)
    assert together.sample.spread == pytest.approx(2000 * np.log(2), rel=0.25)
