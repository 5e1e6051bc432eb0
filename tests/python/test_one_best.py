# SPDX-License-Identifier: Apache-2.0
"""fit, design and front name one plan and one least region for a recording, with every effort."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from small_traces import heapfit

import heapfit as heapfit_package
from heapfit.comparison.verdict import chosen_row
from heapfit.design.effort import MEANING, Effort
from heapfit.design.front.design_front import compare_all
from heapfit.design.plan_files import design
from heapfit.design.space import configurations
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
    "recordings/traces/terms32-1",
)
SHORT_EVENTS = 600

sys.path.insert(0, str(ROOT / "bench"))
from events import cut  # noqa: E402 (a bench is no package)


def short(source, folder):
    whole = Trace.open(ROOT / f"examples/{source}.parquet")
    return cut(whole, SHORT_EVENTS, folder / "short.parquet")


def named(row):
    return row.name, row.r_safe, row.heap_size.region


def three(trace, folder, effort):
    """The comparisons that fit, design and front judge, and what fit chooses."""
    options = FitOptions(effort=effort)
    loaded = load_trace(trace)
    choice = choose_for_one(loaded, "a", options)
    designed = design(trace, "a", folder, options.plans).comparison
    space = configurations(loaded, options.plans)
    return choice, designed, compare_all(loaded, space, options.plans.precision)


def require_one_best(choice, designed, front):
    assert named(chosen_row(designed)) == named(choice.winner) == named(chosen_row(front))


def test_three_commands_name_one_least_region(tmp_path):
    trace = Trace.open(ROOT / "examples/recordings/traces/m4-1.parquet")
    choice, designed, front = three(trace, tmp_path, Effort.STANDARD)
    require_one_best(choice, designed, front)
    assert any(row.is_searched_further for row in front.rows)


@pytest.mark.parametrize("source", SHORT)
def test_three_efforts_have_one_best_each(source, tmp_path):
    trace = short(source, tmp_path)
    found = {effort: three(trace, tmp_path / effort, effort) for effort in Effort}
    for effort in Effort:
        require_one_best(*found[effort])
    quick, standard, long = (found[effort][0].comparison for effort in Effort)
    assert quick.work.plans == quick.work.every_size == 0
    assert quick.work.events < standard.work.events < long.work.events
    assert not any(row.is_searched_further for row in long.rows)
    assert {row.name for row in quick.rows} <= {row.name for row in standard.rows}
    sizes = [one.winner.heap_size.region for one, _, _ in found.values()]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == (1 if source == SHORT[0] else 2)


def test_exact_tries_every_size_with_any_effort(tmp_path):
    trace = short(SHORT[2], tmp_path)
    options = FitOptions(effort=Effort.QUICK, whole=True)
    quick = choose_for_one(load_trace(trace), "a", options).comparison
    exact = choose_for_one(load_trace(trace), "a", replace(options, exact=True)).comparison
    assert all(row.is_exhaustive for row in exact.rows)
    assert not all(row.is_exhaustive for row in quick.rows)


def test_an_effort_is_named_by_its_word_and_no_other(tmp_path):
    trace = short(SHORT[2], tmp_path)
    named = heapfit_package.fit(trace, effort="quick").found.comparison
    assert named.work.plans == 0
    with pytest.raises(HeapfitError, match="effort longer: no such effort"):
        heapfit_package.fit(trace, effort="longer")


def test_the_commands_print_it(tmp_path):
    trace = str(short(SHORT[2], tmp_path).path)
    told = {}
    for effort in (Effort.QUICK, Effort.LONG):
        for command in ("design", "front"):
            asked = (command, trace, "--effort", effort, "-o", f"{command}-{effort}", "--json")
            done = heapfit(*asked, folder=tmp_path)
            assert done.returncode == 0, done.stderr
            content = json.loads(done.stdout)
            assert content["effort"] == effort
            told[effort, command] = content["least"]
        assert told[effort, "design"] == told[effort, "front"]
        done = heapfit("fit", trace, "--effort", effort, "-o", f"fit-{effort}", folder=tmp_path)
        assert f"et the heap to {told[effort, 'front']['region']:,} B" in done.stdout
        lines = [line.strip() for line in done.stdout.splitlines()]
        assert [line for line in MEANING.values() if line in lines] == [MEANING[effort]]
        assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("command", ["fit", "design", "front"])
def test_an_effort_that_there_is_not_is_refused(command, tmp_path):
    done = heapfit(command, "a.parquet", "--effort", "longer", folder=tmp_path)
    assert done.returncode == 2
    assert "long" in done.stderr
    assert not any(tmp_path.iterdir())
