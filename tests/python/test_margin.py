# SPDX-License-Identifier: Apache-2.0
"""What a heap is set to: the arithmetic, and that more evidence never asks for more."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from heapfit.comparison.margin import (
    HeapSize,
    MarginBasis,
    MarginKind,
    heap_size,
    is_enough,
    margin_for,
    margin_kind,
)
from heapfit.plan.plan import LARGEST_REGION, Plan

ROOT = Path(__file__).parents[2]
TABLES = SimpleNamespace(**runpy.run_path(str(ROOT / "bench/page_tables.py")))
SIZES = (1 << 10, 100 << 10, 300 << 10, 8 << 20)


def test_the_region_is_r_over_u_max_times_the_peak_and_the_margin():
    assert HeapSize(1_100, 1_000, 1_000, 0).region == 1_104  # up to a multiple of 8
    assert HeapSize(1_100, 1_000, 2_000, 0).region == 2_200
    assert HeapSize(1_100, 1_000, 2_000, 10).region == 2_424  # 2,420
    assert HeapSize(10_000, 1_000, 1_000, 3.5).region == 10_352  # 10,350, in exact arithmetic


def test_a_smaller_peak_changes_nothing():
    known = MarginBasis(1, 1_000, MarginKind.PLAIN)
    assert heap_size(1_100, known, peak=10) == heap_size(1_100, known)


def test_no_region_is_beyond_what_offsets_reach():
    assert HeapSize(LARGEST_REGION, 1, 1000, 50).region <= LARGEST_REGION


@pytest.mark.parametrize("kind", MarginKind)
@pytest.mark.parametrize("u_max", SIZES)
def test_more_recordings_never_need_a_larger_margin(kind, u_max):
    margins = [margin_for(MarginBasis(runs, u_max, kind)) for runs in range(1, 10)]
    assert margins == sorted(margins, reverse=True)


@pytest.mark.parametrize("kind", (MarginKind.PLAIN, MarginKind.PLACED, MarginKind.BY_ADDRESS))
@pytest.mark.parametrize("runs", range(1, 6))
def test_larger_heaps_never_need_a_larger_margin(kind, runs):
    margins = [margin_for(MarginBasis(runs, u_max, kind)) for u_max in SIZES]
    assert margins == sorted(margins, reverse=True)


def test_a_small_heap_takes_four_recordings():
    small = [MarginBasis(runs, 24 << 10, MarginKind.PLACED) for runs in (1, 3, 4)]
    assert list(map(is_enough, small)) == [False, False, True]
    assert is_enough(MarginBasis(1, 64 << 10, MarginKind.PLACED))


@pytest.mark.parametrize("u_max", SIZES)
@pytest.mark.parametrize("runs", range(1, 6))
def test_what_a_descriptor_leaves_out_gets_the_most_careful_margin(runs, u_max):
    margins = {kind: margin_for(MarginBasis(runs, u_max, kind)) for kind in MarginKind}
    assert margins.pop(MarginKind.UNKNOWN) == max(margins.values())


def test_a_heap_that_searches_one_list_is_known_by_its_descriptor():
    assert margin_kind(Plan("first_fit"), is_trained=False) is MarginKind.LISTED
    assert margin_kind(Plan("first_fit", {"list": 1}), is_trained=False) is MarginKind.BY_ADDRESS
    assert margin_kind(Plan("segregated_fit"), is_trained=False) is MarginKind.LISTED
    assert margin_kind(Plan("tlsf"), is_trained=False) is MarginKind.PLAIN
    assert margin_kind(Plan("sized"), is_trained=False) is MarginKind.PLAIN
    assert margin_kind(Plan("class_pools"), is_trained=False) is MarginKind.PLAIN
    assert margin_kind(Plan("tailored"), is_trained=True) is MarginKind.PLACED


@pytest.mark.parametrize("known", (1, 2, 3, 4))
def test_no_margin_is_below_what_was_measured(known):
    rows = TABLES.read_result(f"needs-from-{known}").rows
    assert len(rows) > (15 if known < 3 else 2)
    for _, kind, peak, _, most, *_ in rows:
        peaks = TABLES.PEAKS.values() if peak == "any" else [TABLES.PEAKS[peak]]
        margins = [margin_for(MarginBasis(known, u_max, MarginKind(kind))) for u_max in peaks]
        assert max(margins) >= float(most), (kind, peak)
