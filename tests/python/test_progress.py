# SPDX-License-Identifier: Apache-2.0
"""One bar for a whole command: it never falls and ends near its end."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from small_scenarios import SMALL
from small_traces import table2

from heapfit.cli.main import run
from heapfit.cli.printing import progress
from heapfit.generate.images import Images

COMMANDS = {
    "import": "import small.heap -o a.parquet",
    "check": "check small.heap --plan plan.toml --measure",
    "compare": "compare small.heap tlsf best_fit --workers 1",
    "compare several": "compare small.heap t2_w1:events=300 tlsf --workers 1",
    "fit, plans": "fit small.heap -o out --plans plans",
    "fit several, plans": "fit small.heap other.heap --folds 2 --workers 1 -o out --plans plans",
    "fit, front": "fit small.heap --allocators tlsf,best_fit --workers 1 -o out --front front",
    "compare, a league": "compare small.heap --allocators tlsf --no-designs --workers 1 -o out",
    "reproduce": "reproduce 000-2 --small --workers 1",
    "simulate": "simulate small.toml --workers 1",
    "size": "size small.heap",
    "size of traffic": "size small.toml --admission 0.9 --closed-form --workers 1",
    "settings": "settings lwip small.heap",
}


@pytest.fixture
def shares(tmp_path, monkeypatch) -> list[float]:
    """What the bar is told, from which it draws; None: a bar that pulses."""
    told: list[float] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("heapfit.generate.link_images", lambda *_: nullcontext(Images()))

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
