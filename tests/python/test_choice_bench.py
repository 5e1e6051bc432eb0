# SPDX-License-Identifier: Apache-2.0
"""bench/choice.py, a small form of it: what design chooses beside every single allocator."""

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[2] / "bench"
MILLION = 5  # events of search


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    sys.path.insert(0, str(BENCH))
    try:
        return importlib.import_module("choice")
    finally:
        sys.path.remove(str(BENCH))


@pytest.mark.parametrize("pair", ["phase_shift:pairs=300", "phase_shift_small:pairs=1000"])
def test_a_phase_shift_needs_hardly_more_than_its_live_bytes(bench: ModuleType, pair: str) -> None:
    one = bench.drawn(pair, MILLION)
    assert one.chosen <= bench.SHIFT * one.u_max
    assert one.tlsf > 1.7 * one.u_max
    assert one.is_no_worse


def test_where_nothing_is_to_be_learned_no_pools_are_taken(bench: ModuleType) -> None:
    """Cut to one draw pools save a little; on draws not seen they do not."""
    one = bench.unseen("poisson_500:events=800", 1, 2)
    assert one.says_no_pools
    assert "pools" not in one.chosen_name


@pytest.mark.skipif("HEAPFIT_CORPUS" not in os.environ, reason="no recorded programs")
def test_the_choice_closes_most_of_a_recorded_programs_gap(bench: ModuleType) -> None:
    for name in ("wee-find", "wee-cpp-demangle", "wee-source-map"):
        one = bench.recorded(f"{name}.heap.gz", MILLION)
        assert one.is_no_worse, name
        assert one.share >= bench.MEDIAN, name
