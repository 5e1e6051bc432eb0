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

# Small ones of the folder HEAPFIT_CORPUS names; where it is not set, one of our own stands in.
PROGRAMS = (
    [f"{name}.heap.gz" for name in ("wee-find", "wee-cpp-demangle", "wee-source-map")]
    if os.environ.get("HEAPFIT_CORPUS")
    else ["phases_w4:events=2000"]
)


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


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_choice_is_no_worse_and_counted_blocks_close_most_of_the_gap(
    bench: ModuleType, program: str
) -> None:
    is_recorded = program.endswith(".gz")
    one = (bench.recorded if is_recorded else bench.drawn)(program, MILLION)
    assert one.is_no_worse
    assert one.counted_share >= bench.MEDIAN_COUNTED
    assert one.counted_share >= one.share
    assert "pools" not in one.chosen_name
