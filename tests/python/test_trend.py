# SPDX-License-Identifier: Apache-2.0
"""Windows of a recording, and the trend of a series."""

from pathlib import Path

import numpy as np
import pytest

from heapfit.forecast.trend import find_dependence, find_trend, rank_correlation, ranks
from heapfit.forecast.windows import cut_windows
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import TraceInfo, write_trace


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
