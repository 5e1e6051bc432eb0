# SPDX-License-Identifier: Apache-2.0
"""bench/second_runs.py on the pairs of examples/second-runs: what is learned holds elsewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench/second_runs.py"


@pytest.fixture(scope="module")
def printed() -> str:
    """What it prints of the verdict from one run, and then of the designs."""
    done = subprocess.run(
        [sys.executable, str(BENCH)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def rows(printed: str) -> dict[str, dict[str, float]]:
    """R over U_max of both runs, by program and column."""
    lines = [line for line in printed.splitlines() if "  " in line]
    start = next(i for i, line in enumerate(lines) if "best rival" in line)
    head, *lines = lines[start:]
    names = [name for name in head.split("  ") if name.strip()]
    found = {}
    for line in lines:
        cells = [cell.strip() for cell in line.split("  ") if cell.strip()]
        told = dict(zip((name.strip() for name in names), cells, strict=True))
        found[told.pop("program")] = {
            name: float(value) for name, value in told.items() if value[0].isdigit()
        }
    return found


def test_the_heap_that_fit_says_serves_the_run_it_has_not_seen(printed: str) -> None:
    verdicts = re.findall(r"^run out: (\d+) of (\d+)", printed, re.MULTILINE)
    assert verdicts == [("0", "2"), ("0", "2")]  # two programs at each alignment
    assert "RAN OUT" not in printed


def test_a_plan_from_one_run_needs_less_for_both_than_rivals_chosen_for_each(
    rows: dict[str, dict[str, float]],
) -> None:
    assert set(rows) == {"device", "nginx"}
    for row in rows.values():
        assert 1 < row["two ends"] < row["best rival"]


def test_call_sites_take_a_third_of_what_size_classes_lose_on_the_device(
    rows: dict[str, dict[str, float]],
) -> None:
    device = rows["device"]
    assert device["by site"] - 1 < 2 / 3 * (device["two ends"] - 1)


def test_stacks_of_what_both_runs_need_take_less_than_two_ends_of_both(
    rows: dict[str, dict[str, float]],
) -> None:
    assert rows["device"]["stacks"] < rows["device"]["from both"] - 0.01
    assert all(row["stacks"] <= row["from both"] + 0.002 for row in rows.values())
