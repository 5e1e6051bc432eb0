# SPDX-License-Identifier: Apache-2.0
"""The region needed in windows of a recording, and what it says about longer runs."""

from pathlib import Path

import numpy as np
import pytest
from loads import STANDARD, make_events, write_load

from heapfit import _engine
from heapfit.forecast.extent import ReplayedRun, find_maxima, measure_extents
from heapfit.forecast.extremes import sample_maxima
from heapfit.forecast.horizon import LongerRuns, Refusal, expect_longer_runs, join_runs
from heapfit.forecast.kind import RecordingKind, find_kind
from heapfit.forecast.windows import cut_windows
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace

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
