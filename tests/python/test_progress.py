# SPDX-License-Identifier: Apache-2.0
"""One bar for a whole command: it never falls and ends near its end."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from small_scenarios import SMALL
from small_traces import table2

from heapfit.cli.main import run
from heapfit.cli.printing import progress
from heapfit.fitting.fit import fit_in_memory, foretell, watch_fit
from heapfit.fitting.options import FitOptions
from heapfit.fitting.workload import Place, Request
from heapfit.progress import WeightedProgress, ignore_progress

COMMANDS = {
    "import": "import small.heap -o a.parquet",
    "check": "check small.heap --plan plan.toml --measure",
    "compare": "compare small.heap tlsf best_fit --workers 1",
    "compare several": "compare small.heap t2_w1:events=300 tlsf --workers 1",
    "fit, plans": "fit small.heap -o out --plans plans",
    "fit several, plans": "fit small.heap other.heap --workers 1 -o out --plans plans",
    "fit, some": "fit small.heap --allocators tlsf,best_fit --prefer time -o out",
    "reproduce": "reproduce 000-2 --small --workers 1",
    "simulate": "simulate small.toml --workers 1",
    "size": "size small.heap",
    "size of traffic": "size small.toml --admission 0.9 --times 2 --workers 1",
    "settings": "settings lwip small.heap",
}


@pytest.fixture
def shares(tmp_path, monkeypatch, request) -> list[float]:
    """What the bar is told, from which it draws; None: a bar that pulses."""
    told: list[float] = []
    monkeypatch.chdir(tmp_path)
    request.getfixturevalue("unmeasured")

    @contextmanager
    def bar(total: float | None) -> Iterator[Callable[[str, float], None]]:
        assert total == 1.0, "a bar that pulses"
        yield lambda _, share: told.append(share)

    monkeypatch.setattr(progress, "_bar", bar)
    return told


def run_through(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["heapfit", *words.split()])
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code in (0, None, 3)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_bar_of_a_long_command_goes_up_to_its_end(name, tmp_path, shares, monkeypatch):
    plan = Path(__file__).parents[2] / "examples/check/plan.toml"
    table2(tmp_path / "small.heap", events=80)
    table2(tmp_path / "other.heap", events=80, seed=2)
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "plan.toml").write_text(plan.read_text().replace("pointer_bits = 64", ""))
    run_through(COMMANDS[name], monkeypatch)
    assert shares == sorted(shares), "it falls"
    assert shares[0] < 0.5
    assert 0.7 <= shares[-1] <= 1.0 + 1e-9


def shares_of(foretold: dict[str, float], takes: dict[str, float]) -> list[tuple[float, float]]:
    """Seconds and share at each of fifty reports of parts that take other times than foretold."""
    now, told = [0.0], []
    whole = WeightedProgress(
        lambda _, share: told.append((now[0], share)), foretold, clock=lambda: now[0]
    )
    for name, seconds in takes.items():
        report = whole.part(name)
        for done in range(1, 51):
            now[0] += seconds / 50
            report(name, done / 50)
    return told


@pytest.mark.parametrize(
    "takes",
    [
        {"now": 1, "choose": 6, "write": 3},
        {"now": 3, "choose": 18, "write": 9},  # a machine that is slower
        {"now": 0.5, "choose": 3, "write": 1.5},  # and one that is faster
        {"now": 8, "choose": 24, "write": 6},  # a program with long free lists
        {"now": 1, "choose": 4, "write": 4},
        {"now": 1, "choose": 6},  # without what is left out
    ],
)
def test_the_bar_foretells_the_end_at_a_third_and_never_stands(takes):
    told = shares_of({"now": 1, "choose": 6, "write": 3}, takes)
    end, shares = told[-1][0], [share for _, share in told]
    at_a_third = max(share for when, share in told if when <= end / 3)
    assert 1 / 1.5 <= 1 / 3 / at_a_third <= 1.5
    assert shares == sorted(set(shares)), "it falls or stands"
    assert shares[-1] == 1.0 or "write" not in takes


def test_a_part_that_begins_anew_is_not_done():
    told: list[float] = []
    seconds = iter(range(9))
    whole = WeightedProgress(
        lambda _, share: told.append(share), {"a": 1, "b": 1}, lambda: next(seconds)
    )
    for name in ("a", "b", "a", "b"):
        whole.part(name)(name, 1.0)
    assert told[1] == 1.0 == told[-1]


def test_a_part_beside_counts_by_the_seconds_that_it_delays():
    told: list[float] = []
    seconds = iter([0, 1, 2, 4])
    foretold = {"search": 2, "compile": 2}
    whole = WeightedProgress(lambda _, share: told.append(share), foretold, lambda: next(seconds))
    compiled, searched = whole.part_beside("compile"), whole.part("search")
    compiled("a file", 0.5)
    searched("all", 1.0)
    compiled("another", 1.0)
    assert told == [0.25, pytest.approx(0.68, abs=0.01), 1.0]


def test_a_fit_has_the_stages_that_are_foretold(tmp_path):
    source = table2(tmp_path / "small.heap", events=80)
    stages = watch_fit([source], ignore_progress)
    fit_in_memory([source], Request(Place(tmp_path, tmp_path), FitOptions(), stages=stages))
    assert list(stages._parts) == list(foretell([80]))
