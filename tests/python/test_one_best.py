# SPDX-License-Identifier: Apache-2.0
"""A fit names one plan and one least region, with every effort and whatever it compares."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from small_traces import fit_json, heapfit

import heapfit as heapfit_package
from heapfit.comparison.verdict import select_row
from heapfit.design.effort import MEANING, Effort
from heapfit.design.front.preference import Preference
from heapfit.errors import HeapfitError
from heapfit.fitting.choice import choose_for_one
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


def two(trace, effort):
    """What a fit chooses, and what it chooses from the whole design space."""
    options = FitOptions(effort=effort, prefer=Preference.RAM)
    loaded = load_trace(trace)
    space = replace(options, front=True)
    return choose_for_one(loaded, "a", options), choose_for_one(loaded, "a", space)


def require_one_best(choice, of_space):
    assert named(choice.winner) == named(of_space.winner)
    assert named(select_row(choice.comparison)) == named(select_row(of_space.comparison))
    assert choice.answer == of_space.answer


def test_a_fit_names_what_it_names_from_the_whole_space():
    trace = Trace.open(ROOT / "examples/recordings/traces/m4-1.parquet")
    choice, of_space = two(trace, Effort.STANDARD)
    require_one_best(choice, of_space)
    assert any(row.is_searched_further for row in of_space.comparison.rows)


@pytest.mark.parametrize("source", SHORT)
def test_three_efforts_have_one_best_each(source, tmp_path):
    trace = short(source, tmp_path)
    found = {effort: two(trace, effort) for effort in Effort}
    for effort in Effort:
        require_one_best(*found[effort])
    quick, standard, long = (found[effort][0].comparison for effort in Effort)
    assert quick.work.plans == quick.work.every_size == 0
    assert quick.work.events < standard.work.events < long.work.events
    assert not any(row.is_searched_further for row in long.rows)
    assert {row.name for row in quick.rows} <= {row.name for row in standard.rows}
    sizes = [one.winner.heap_size.region for one, _ in found.values()]
    assert sizes == sorted(sizes, reverse=True)


def test_exact_tries_every_size_with_any_effort(tmp_path):
    trace = short(SHORT[2], tmp_path)
    options = FitOptions(effort=Effort.QUICK, whole=True)
    loaded = load_trace(trace)
    quick = choose_for_one(loaded, "a", options).comparison
    exact = choose_for_one(loaded, "a", replace(options, exact=True)).comparison
    assert all(row.is_exhaustive for row in exact.rows)
    assert not all(row.is_exhaustive for row in quick.rows)


def test_an_effort_is_named_by_its_word_and_no_other(tmp_path):
    trace = short(SHORT[2], tmp_path)
    named = heapfit_package.fit(trace, effort="quick").found.comparison
    assert named.work.plans == 0
    with pytest.raises(HeapfitError, match="effort='longer': no such effort"):
        heapfit_package.fit(trace, effort="longer")


def test_plans_and_front_print_it(tmp_path):
    trace = str(short(SHORT[2], tmp_path).path)
    for effort in (Effort.QUICK, Effort.LONG):
        least = ("--effort", effort, "--prefer", "ram")
        asked = (*least, "-o", f"fit-{effort}", "--plans", "plans", "--front", "front")
        fitted = fit_json(trace, *asked, folder=tmp_path)
        plans, front = fitted["plans"], fitted["front"]
        assert plans["effort"] == front["effort"] == effort
        assert plans["least"] == front["least"]
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
