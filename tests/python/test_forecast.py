# SPDX-License-Identifier: Apache-2.0
"""What recordings tell of longer runs: the reserve of a load, its windows, and trends."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from loads import STANDARD, make_columns, make_events, write_load
from small_traces import load_lines

from heapfit import _engine
from heapfit.comparison.longer import LongerRuns, tell_longer_runs
from heapfit.comparison.margin import MarginBasis, MarginKind, heap_size
from heapfit.forecast.horizon import parse_horizon
from heapfit.forecast.kind import RecordingKind, find_kind
from heapfit.forecast.load import USUAL, Load, find_level, find_shape
from heapfit.forecast.trend import Trend, find_dependence, find_trend, rank_correlation
from heapfit.forecast.windows import cut_windows
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import load_trace
from heapfit.trace.operations import ALLOC
from heapfit.trace.profile import Profile, profile_trace
from heapfit.trace.stored import Trace, TraceInfo, write_trace

# ---- the reserve of a load


def test_one_recording_is_answered_by_the_law() -> None:
    load = Load((40_000,), skew=0.2)
    assert load.reserve() == pytest.approx(19 + 40 * 0.2)
    assert load.reserve(10) - load.reserve() == pytest.approx(14)
    assert load.reserve(10, USUAL) == pytest.approx(8 + 10 + 40 * 0.2)
    assert replace(load, spread=0.0).reserve(100) == 0


def test_more_recordings_need_less_and_nothing_has_a_cliff() -> None:
    reserves = [Load((40_000,) * count).reserve() for count in range(1, 8)]
    assert reserves == sorted(reserves, reverse=True)
    assert reserves[0] - reserves[3] == pytest.approx(14 * np.log10(4))
    sizes = [Load((size,), is_job=True).reserve() for size in range(60_000, 600_000, 1_000)]
    steps = -np.diff(sizes)
    assert (steps >= 0).all()
    assert steps.max() < 0.2
    assert sizes[0] == pytest.approx(19)
    assert sizes[-1] == pytest.approx(2)
    assert Load((600_000,)).reserve() == pytest.approx(19)  # only a job needs less as it grows


def test_a_short_recording_that_has_not_ended_is_no_job(tmp_path: Path) -> None:
    """The reserve of a job is too little for a service whose load has just begun."""
    service = [
        profile_trace(write_load("poisson_500", 5_000, seed, tmp_path / f"{seed}"))
        for seed in range(6)
    ]
    begun = [Load.of([one]) for one in service]
    assert not any(one.is_job for one in begun) and min(map(Load.reserve, begun)) >= 19
    traces = Path(__file__).resolve().parents[2] / "examples/recordings/traces"
    for name in ("gawk-1", "tcc-1"):  # one grows for 35,568 events, one ends after 8,044
        assert Load.of([profile_trace(Trace.open(traces / f"{name}.parquet"))]).is_job
    made = make_columns("steady", 5_000, 1)
    kept = {name: one[made["op"] == ALLOC] for name, one in made.items()}
    batch = profile_trace(write_trace(tmp_path / "batch.parquet", [kept], TraceInfo()))
    assert Load.of([batch]).is_job and not Load.of([batch, service[0]]).is_job


def test_a_recording_without_windows_tells_no_bursts(tmp_path: Path) -> None:
    def load(name: str, requests: int) -> Profile:
        """Small blocks, each freed at once, and a large one now and then."""
        sizes = [4_000 if i % 400 == 399 else 64 for i in range(requests)]
        lines = [line for i, size in enumerate(sizes) for line in (f"a {i} {size}", f"f {i}")]
        return load_lines(tmp_path / f"{name}.heap", ["a 9999 8", *lines]).profile

    bursts, short = load("bursts", 3_000), load("short", 20)
    assert Load.of([bursts, short]).bursts == Load.of([bursts]).bursts > 0


def test_from_eight_recordings_on_their_own_spread_decides() -> None:
    random = np.random.default_rng(1)
    narrow, wide = (
        Load(tuple(random.gumbel(100_000, spread, 24).astype(int))) for spread in (300, 6_000)
    )
    assert narrow.reserve() < 1
    assert wide.reserve() > 3
    assert Load((100_000,) * 8).reserve(100) == 0


def test_a_level_is_exceeded_about_as_often_as_it_says() -> None:
    random, above = np.random.default_rng(1), []
    for values in random.gumbel(size=(400, 30)):
        level = find_level(values, 10, 0.1)
        above.append(-np.expm1(-10 * np.exp(-level)))
    assert np.mean(above) == pytest.approx(0.1, rel=0.4)


def test_skewness_is_that_of_the_law() -> None:
    random = np.random.default_rng(1)
    assert find_shape(random.gumbel(size=20_000))[0] == pytest.approx(0.1699, abs=0.01)
    assert find_shape(random.uniform(size=20_000))[0] == pytest.approx(0, abs=0.01)
    assert find_shape([1, 2, 9])[0] == find_shape([7] * 48)[0] == 0


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
    assert find_trend(values) == Trend(0, 0, 0, 1)


# ---- the bytes of longer runs

PLAN = Plan("tailored", {"alignment": 8})


def record(load: str, seed: int, folder: Path) -> tuple[Profile, RecordingKind, int]:
    """A recording of a load, its kind, and the region that it needs."""
    loaded = load_trace(write_load(load, STANDARD, seed, folder / f"{load}-{seed}.parquet"))
    kind = find_kind(loaded.trace, loaded.profile)
    return loaded.profile, kind, need_of(loaded.events)


def need_of(events: _engine.EventArray) -> int:
    region = _engine.Trial(PLAN.engine(), events).scan().r_safe
    assert region is not None
    return region


def tell(profile: Profile, kind: RecordingKind, need: int, horizon: str = "") -> LongerRuns:
    known = MarginBasis(Load.of([profile]), MarginKind.PLAIN)
    asked = parse_horizon(horizon) if horizon else None
    return tell_longer_runs(heap_size(need, known), known, kind, horizon=asked)


def test_runs_ten_times_as_long_hold_in_the_bytes_that_are_told(tmp_path: Path) -> None:
    longer = tell(*record("steady", 1, tmp_path))
    needs = [need_of(make_events("steady", 10 * STANDARD, seed)) for seed in (21, 22, 23)]
    assert [row.times for row in longer.rows] == [1, 10, 100]
    told = longer.rows[1]
    assert told.needed is not None and told.usual is not None
    assert max(needs) <= told.needed <= 1.35 * min(needs)
    assert told.usual < told.needed
    assert f"10 x as long up to {told.needed:,} B" in longer.sentence(told.usual)


@pytest.mark.parametrize(("horizon", "times"), [("1x", [1, 10, 100]), ("30x", [1, 10, 30, 100])])
def test_a_horizon_is_a_row_among_the_others(horizon, times, tmp_path: Path) -> None:
    longer = tell(*record("steady", 1, tmp_path), horizon)
    assert [row.times for row in longer.rows] == times
    assert longer.asked is not None and longer.asked.name == horizon
    assert longer.beyond(0) == longer.asked.needed
    assert longer.beyond(1 << 30) is None


@pytest.mark.parametrize("horizon", ["101x", "200000000events", "999999999999999y"])
def test_a_horizon_too_far_says_so_and_gets_the_size_of_the_farthest(
    horizon, tmp_path: Path
) -> None:
    longer = tell(*record("steady", 1, tmp_path), horizon)
    assert longer.asked is not None and longer.asked.needed is None
    assert longer.asked.times > 100 and "100 times" in longer.asked.reason
    assert all(row.needed for row in longer.rows if not row.is_asked)
    farthest = longer.beyond(0)
    assert farthest == tell(*record("steady", 1, tmp_path), "100x").beyond(0) is not None
    assert longer.beyond(farthest) is None and longer.lasts(farthest - 1) == ""
    assert longer.lasts(farthest).endswith(f"(as far as it tells; {horizon} is longer)")


def test_what_grows_is_told_with_its_growth(tmp_path: Path) -> None:
    profile, kind, need = record("leak_site", 1, tmp_path)
    assert kind.is_growing
    longer = tell(profile, kind, need)
    assert longer.is_growing and "if it grows on" in longer.sentence(0)
    leaked = kind.rate.slope * profile.events
    known = MarginBasis(Load.of([profile]), MarginKind.PLAIN)
    alone = heap_size(need, known, margin=known.load.reserve(10))
    grown = 9 * leaked * alone.r_safe / alone.u_max  # in bytes of the heap
    assert longer.rows[1].needed - alone.region == pytest.approx(grown, rel=0.05)


def test_few_bursts_are_held_and_said_to_be_too_few(tmp_path: Path) -> None:
    profile, kind, need = record("steady", 1, tmp_path)
    live = profile.live_highest.copy()
    live[500] *= 4
    longer = tell(replace(profile, live_highest=live), kind, need)
    assert longer.rows == ()
    assert "1 burst stands out" in longer.sentence(0)


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
