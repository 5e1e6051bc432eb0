# SPDX-License-Identifier: Apache-2.0
"""bench/best.py, a small form of it: no plan that was ever found is lost."""

import importlib
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from heapfit.design.portfolio import build_portfolio
from heapfit.importers import ImportOptions, open_any
from heapfit.trace.loaded import load_trace

ROOT = Path(__file__).parents[2]
# The shortest of the folder HEAPFIT_CORPUS names; where it is not set, two of our own.
SHORT = (
    ("wee-cpp-demangle", "wee-find", "wee-source-map")
    if os.environ.get("HEAPFIT_CORPUS")
    else ("m4-1", "m4-2")
)


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        return importlib.import_module("best")
    finally:
        sys.path.remove(str(ROOT / "bench"))


def source_of(bench: ModuleType, name: str) -> Path:
    return next(path for path in bench.recordings() if path.name.split(".")[0] == name)


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("alignment", [4, 8])
def test_fit_names_a_plan_like_the_best_ever(bench: ModuleType, name: str, alignment: int) -> None:
    now = bench.measure(source_of(bench, name), alignment)
    row = bench.known_rows()[name, alignment]
    assert now.u_max == row.u_max
    assert not bench.is_lost(now, row)
    assert bench.is_lost(replace(now, named=round(1.1 * max(row.named, row.least))), row)


@pytest.mark.parametrize("name", SHORT)
def test_the_best_plan_needs_what_its_row_says(bench: ModuleType, name: str, tmp_path) -> None:
    row = bench.known_rows()[name, 8]
    loaded = load_trace(open_any(source_of(bench, name), ImportOptions(), tmp_path))
    (candidate,) = build_portfolio(loaded, [row.plan], []).candidates
    assert loaded.trial(candidate.plan).scan().r_safe == row.least


def test_each_row_is_within_half_a_percent_or_names_a_decision(bench: ModuleType) -> None:
    rows = bench.known_rows().values()
    assert {(row.recording, row.alignment) for row in rows} >= {
        (name, alignment) for name in bench.OWN for alignment in bench.ALIGNMENTS
    }
    for row in rows:
        assert row.named <= bench.ALLOWED * row.least or re.fullmatch(r"\d{4}", row.decision)
        assert not row.decision or any((ROOT / "docs/decisions").glob(f"{row.decision}-*.md"))


def test_the_best_ever_stays_when_a_search_finds_less(bench: ModuleType) -> None:
    before = next(iter(bench.known_rows().values()))
    worse = replace(before, least=2 * before.least, named=2 * before.least, decision="0034")
    joined = bench.join_known(worse, before)
    assert (joined.least, joined.plan, joined.decision) == (
        before.least,
        before.plan,
        before.decision,
    )
    assert bench.is_lost(worse, before)
