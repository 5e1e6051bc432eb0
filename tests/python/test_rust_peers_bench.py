# SPDX-License-Identifier: Apache-2.0
"""bench/rust_peers.py: its search, and its table for a recording of examples/."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch):
    """The module; its folder has the crate's sources by the same name."""
    monkeypatch.syspath_prepend(str(BENCH))
    import rust_peers

    return rust_peers


def test_the_smallest_safe_size_lies_above_every_size_that_failed(bench) -> None:
    assert bench.smallest_safe(lambda size: size >= 1_016, 1_000) == 1_016
    above_a_gap = bench.smallest_safe(lambda size: size >= 1_016 and size != 1_040, 1_000)
    assert above_a_gap == 1_048


def test_the_search_takes_no_finer_steps_than_it_says(bench) -> None:
    tried: set[int] = set()

    def served(size: int) -> bool:
        tried.add(size)
        return size >= 1_234_567

    found = bench.smallest_safe(served, 1_000_000)
    assert 1_234_567 <= found <= 1_234_567 + 256
    assert len(tried) < 45


def test_a_crate_that_serves_in_no_region_has_none(bench) -> None:
    assert bench.smallest_safe(lambda _: False, 1_000) is None


def test_every_crate_replays_an_example_in_more_than_its_live_bytes() -> None:
    done = subprocess.run(
        [sys.executable, BENCH / "rust_peers.py", "--examples", "--only", "lwip-echo/"],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    head, row, *_ = (line.split() for line in done.stdout.splitlines())
    ratios = dict(zip(head[1:], map(float, row[1:]), strict=True))
    assert min(ratios.values()) > 1.05
    assert ratios["ours"] < 1.09
    assert ratios["linked_list_allocator"] < 1.1
    assert 1.1 < ratios["talc"] < ratios["rlsf"] < ratios["buddy_system_allocator"] < 1.5
