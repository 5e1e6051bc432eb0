# SPDX-License-Identifier: Apache-2.0
"""bench/loads.py: loads of any length that are what their names say."""

from pathlib import Path

import numpy as np
import pytest
from loads import (
    CLEAN,
    LEAK,
    LEAK_SITE,
    LOADS,
    NOT_STEADY,
    SERVICES,
    WORKLOADS,
    make_columns,
    make_events,
    write_load,
)

from heapfit.trace.loaded import load_trace
from heapfit.trace.profile import profile_events

EVENTS = 4000


@pytest.mark.parametrize("name", [*LOADS, *WORKLOADS])
def test_a_load_has_so_many_events_and_is_a_recording(name: str, tmp_path: Path) -> None:
    trace = write_load(name, EVENTS, 1, tmp_path / "load.parquet")
    assert load_trace(trace).profile.events == EVENTS


def test_a_seed_makes_the_same_load_and_another_one_another() -> None:
    first, again, other = (make_columns("walk", EVENTS, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["size"], other["size"])


def test_every_load_is_a_service_or_not_steady() -> None:
    assert {*SERVICES}.isdisjoint(NOT_STEADY)
    assert {*SERVICES, *NOT_STEADY} == {*LOADS, *WORKLOADS}
    assert {*CLEAN} < {*SERVICES}


@pytest.mark.parametrize("name", ["leak_site", "leak_size"])
def test_a_leak_grows_by_what_it_says(name: str) -> None:
    columns = make_columns(name, 40_000, 1)
    is_leak = columns["site"] == LEAK_SITE if name == "leak_site" else columns["size"] == 50
    lost = columns["object"][is_leak]
    assert columns["size"][is_leak].sum() == pytest.approx(40 * LEAK, rel=0.03)
    assert not np.isin(columns["object"][columns["op"] == 4], lost).any()


def test_a_service_keeps_its_level_and_what_fills_does_not() -> None:
    def rise(name: str) -> float:
        lowest = profile_events(make_events(name, 40_000, 1)).live_lowest.astype(float)
        part = len(lowest) // 4
        return float(lowest[-part:].mean() / lowest[part : 2 * part].mean())

    assert max(rise(name) for name in CLEAN) < 1.2
    assert rise("fill_long") > 1.2
    assert rise("leak_shared") > 1.2
