# SPDX-License-Identifier: Apache-2.0
"""Programs of bench/ in a small form: what they find is what is promised."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import best
import choice
import pytest
from chances import Statement, judge_statement, list_statements

BENCH = Path(__file__).parents[2] / "bench"
CORPUS = os.environ.get("HEAPFIT_CORPUS")


def run(name: str, *words: object) -> subprocess.CompletedProcess[str]:
    """A program of bench/ on our own generators; it ends with 0."""
    environment = {key: value for key, value in os.environ.items() if key != "HEAPFIT_CORPUS"}
    command = [sys.executable, BENCH / f"{name}.py", *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


# ---- chances.py: printed chances and intervals hold as often as they say

QUICK = {(one.name, one.commands): one for one in list_statements()[::-1] if not one.is_slow}


@pytest.mark.parametrize("one", QUICK.values(), ids=lambda one: one.name)
def test_a_statement_holds_as_often_as_it_says(one: Statement) -> None:
    found = judge_statement(one, 60)
    assert found.is_kept(3), f"{found.share:.1f} % of {found.made}"  # errors, of a dozen statements


# ---- best.py: no plan that was ever found is lost

# The shortest of the folder HEAPFIT_CORPUS names; where it is not set, two of our own.
SHORT = ("wee-cpp-demangle", "wee-find", "wee-source-map") if CORPUS else ("m4-1", "m4-2")


def source_of(name: str) -> Path:
    return next(path for path in best.recordings() if path.name.split(".")[0] == name)


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("alignment", [4, 8])
def test_fit_names_a_plan_like_the_best_ever(name: str, alignment: int) -> None:
    now, row = best.measure(source_of(name), alignment), best.known_rows()[name, alignment]
    assert now.u_max == row.u_max
    assert not best.is_lost(now, row)
    assert best.is_lost(replace(now, named=round(1.1 * max(row.named, row.least))), row)


# ---- choice.py: what design chooses beside every single allocator

PROGRAMS = [f"{name}.heap.gz" for name in SHORT] if CORPUS else ["phases_w4:events=2000"]


@pytest.mark.parametrize("pair", ["phase_shift:pairs=300", "phase_shift_small:pairs=1000"])
def test_a_phase_shift_needs_hardly_more_than_its_live_bytes(pair: str) -> None:
    one = choice.drawn(pair)
    assert one.chosen <= choice.SHIFT * one.u_max
    assert one.tlsf > 1.7 * one.u_max
    assert one.is_no_worse


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_choice_is_no_worse_than_any_allocator_alone(program: str) -> None:
    one = (choice.recorded if program.endswith(".gz") else choice.drawn)(program)
    assert one.is_no_worse
    assert "pools" not in one.chosen_name


# ---- memory.py, exhaustive.py, robust.py


@pytest.mark.parametrize("allocator", ["budgeted", "static_pools"])
def test_plans_made_for_table_2_need_what_is_aimed_at(allocator: str) -> None:
    table = run("memory", "--only", f"{allocator} t2_").stdout.partition("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith(allocator)]
    assert len(rows) == 5
    assert all(row.endswith("  reached") and "not reached" not in row for row in rows), table


def test_replays_of_every_region_find_none_wrong() -> None:
    printed = run("exhaustive", "--only", "t2_w2 tlsf").stdout
    assert printed.endswith("\n0 of 1 wrong\n")
    assert "  right\n" in printed


def test_the_chosen_plan_needs_less_on_unseen_traces_than_any_plain_allocator() -> None:
    size = ("--training", "4", "--unseen", "100", "--events", "5000")
    rows = re.findall(r"^  (\S.*?) +([0-9.]+)$", run("robust", "phases_w4", *size).stdout, re.M)
    found = {name.partition(":")[0]: float(ratio) for name, ratio in rows}
    assert 1 <= found["chosen"] <= min(1.02, found["greedy (1 trace) over tlsf"])
    assert found["chosen"] < min(found["tlsf"], found["best_fit"])


# ---- second_runs.py: what is learned from the pairs of examples/second-runs holds elsewhere


@pytest.fixture(scope="module")
def second_runs() -> str:
    """What it prints of the verdict from one run, and then of the designs."""
    return run("second_runs").stdout


def test_the_heap_that_fit_says_serves_the_run_it_has_not_seen(second_runs: str) -> None:
    verdicts = re.findall(r"^run out: (\d+) of (\d+)", second_runs, re.MULTILINE)
    assert verdicts == [("0", "2"), ("0", "2")]  # two programs at each alignment
    assert "RAN OUT" not in second_runs


def test_what_is_learned_from_one_run_needs_less_for_both(second_runs: str) -> None:
    lines = [re.split(" {2,}", line.strip()) for line in second_runs.splitlines() if "  " in line]
    start = next(i for i, line in enumerate(lines) if "best rival" in line)
    head, *rows = lines[start:]
    found = {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}
    assert set(found) == {"device", "nginx"}
    numbers = {
        program: {name: float(cell) for name, cell in row.items() if cell[0].isdigit()}
        for program, row in found.items()
    }
    for row in numbers.values():
        assert 1 < row["two ends"] < row["best rival"]
    device = numbers["device"]
    assert device["by site"] - 1 < 2 / 3 * (device["two ends"] - 1)


# ---- scale.py: memory of commands does not grow with a recording that comes through a pipe

# HEAPFIT_SCALE_EVENTS asks for a longer one, of which fit is measured, too (`make test-long`).
EVENTS = int(float(os.environ.get("HEAPFIT_SCALE_EVENTS", "4.5e6")))
FEWER = 2_500_000  # more than two row groups: that many are held whole
COMMANDS = "profile,fit" if "HEAPFIT_SCALE_EVENTS" in os.environ else "profile"


@cache
def resident(events: int, commands: str) -> dict[str, int]:
    """The most bytes resident in each command's process."""
    printed = run("scale", "--events", events, "--commands", commands).stdout
    lines = [line.split("\t") for line in printed.splitlines() if line.count("\t") == 4]
    return {name: int(size.replace(",", "")) for name, size, *_ in lines}


def test_import_and_profile_hold_no_events() -> None:
    fewer, long = resident(FEWER, "profile"), resident(EVENTS, COMMANDS)
    for name in ("import", "profile"):
        growth = (long[name] - fewer[name]) / (EVENTS - FEWER)
        assert growth < 8, f"{name}: {growth:.1f} B an event more, as if columns were kept"
    assert max(long.values()) < 1 << 30, long
