# SPDX-License-Identifier: Apache-2.0
"""A fit names one plan and one least region with every effort."""

import sys
from pathlib import Path

import pytest
from small_traces import fit_json, heapfit

import heapfit as heapfit_package
from heapfit.comparison.verdict import select_row
from heapfit.design.effort import MEANING, Effort
from heapfit.design.front.preference import Preference
from heapfit.errors import HeapfitError
from heapfit.fitting.choosing import choose
from heapfit.fitting.options import FitOptions
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace

ROOT = Path(__file__).parents[2]
# Of the first 600 events quick names another plan than standard of the second, long of the third.
SHORT = (
    "second-runs/traces/device-1",
    "recordings/traces/gateway-loop32-1",
    "recordings/traces/routes32-1",
)
SHORT_EVENTS = 600

sys.path.insert(0, str(ROOT / "bench"))
from events import cut  # noqa: E402 (a bench is no package)

pytestmark = pytest.mark.usefixtures("unmeasured")


def short(source, folder):
    whole = Trace.open(ROOT / f"examples/{source}.parquet")
    return cut(whole, SHORT_EVENTS, folder / "short.parquet")


def named(row):
    return row.name, row.r_safe, row.heap_size.region


def choose_by_memory(trace, effort):
    options = FitOptions(effort=effort, prefer=Preference.RAM)
    return choose([load_trace(trace)], ["a"], options=options)


def test_what_is_searched_further_is_never_named():
    trace = Trace.open(ROOT / "examples/recordings/traces/m4-1.parquet")
    options = FitOptions(allocators=("tlsf", "first_fit", "segregated_fit"))
    choice = choose([load_trace(trace)], ["a"], options=options)
    assert any(row.is_searched_further for row in choice.comparison.rows)
    assert not choice.winner.is_searched_further
    assert not select_row(choice.comparison).is_searched_further


@pytest.mark.parametrize("source", SHORT)
def test_three_efforts_have_one_best_each(source, tmp_path):
    trace = short(source, tmp_path)
    found = [choose_by_memory(trace, effort) for effort in Effort]
    quick, standard, long = (one.comparison for one in found)
    assert quick.work.plans == quick.work.every_size == 0
    assert quick.work.events < standard.work.events < long.work.events
    assert not any(row.is_searched_further for row in long.rows)
    assert {row.name for row in quick.rows} <= {row.name for row in standard.rows}
    sizes = [one.winner.heap_size.region for one in found]
    assert sizes == sorted(sizes, reverse=True)


def test_an_effort_is_named_by_its_word_and_no_other(tmp_path):
    trace = short(SHORT[2], tmp_path)
    named = heapfit_package.fit(trace, effort="quick").found.comparison
    assert named.work.plans == 0
    with pytest.raises(HeapfitError, match="effort='longer': no such effort"):
        heapfit_package.fit(trace, effort="longer")


def test_plans_print_it(tmp_path):
    trace = str(short(SHORT[2], tmp_path).path)
    for effort in (Effort.QUICK, Effort.LONG):
        least = ("--effort", effort, "--prefer", "ram")
        asked = (*least, "-o", f"fit-{effort}", "--plans", "plans")
        fitted = fit_json(trace, *asked, folder=tmp_path)
        plans = fitted["plans"]
        assert plans["effort"] == effort
        assert plans["least"]["region"] == fitted["answer"]["region"]
        alone = f"alone-{effort}"
        done = heapfit("fit", trace, *least, "-o", alone, folder=tmp_path)
        assert f"et the heap to {plans['least']['region']:,} B" in done.stdout
        lines = [line.strip() for line in done.stdout.splitlines()]
        assert [line for line in MEANING.values() if line in lines] == [MEANING[effort]]
        assert max(map(len, done.stdout.splitlines())) <= 80


def test_an_effort_that_there_is_not_is_refused(tmp_path):
    done = heapfit("fit", "a.parquet", "--effort", "longer", folder=tmp_path)
    assert done.returncode == 2
    assert "long" in done.stderr
    assert not any(tmp_path.iterdir())
