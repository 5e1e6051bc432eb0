# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C: status 130, one line of what is kept, and a folder that is absent or complete."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from small_scenarios import SMALL
from small_traces import table2

from heapfit.cli.printing import progress
from heapfit.fitting.fit import fit
from heapfit.outputs import ours
from program import call_heapfit

pytestmark = pytest.mark.usefixtures("unmeasured")


def test_a_fit_that_is_interrupted_anywhere_leaves_no_folder(tmp_path):
    source = table2(tmp_path / "small.heap", events=60)

    for tenth in range(10):

        def tell(_step: str, share: float, until: float = tenth / 10) -> None:
            if share >= until:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fit([source], tmp_path / "a" / "out", progress=tell)
        assert list(tmp_path.iterdir()) == [source]


TEN = {  # what each leaves when it ends
    "fit": "fit small.heap -o out",
    "plans": "fit small.heap -o out --plans plans",
    "compare": "compare small.heap tlsf --workers 1 --report page.html",
    "check": "check small.heap --plan plan.toml --report page.html --report page.md",
    "reproduce": "reproduce 000-2 --small --workers 1 --report page.html",
    "record": "record -o out.parquet -- ls",
    "size": "size small.heap --report page.html",
    "simulate": "simulate small.toml --workers 1 -o out.csv --report page.html",
}
PLACES = 5 if os.environ.get("HEAPFIT_ALL_INTERRUPTS") == "1" else 2  # of each kind


class Events:
    """What a command does one after the other: it tells how far it is, or touches its output.

    How often it tells may differ by much, as exact budgets are told by time: its first third is
    taken.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.counts: dict[str, int] = {}
        self.last: tuple[str, int] | None = None
        tell = self._before("told", lambda *_: None)

        @contextmanager
        def bar(**_: object) -> Iterator[Callable[[str, float], None]]:
            yield tell

        monkeypatch.setattr(progress, "_bar", bar)
        for owner, name in ((Path, "replace"), (Path, "rename"), (ours, "mark_ours")):
            written = self._before("written", getattr(owner, name))
            monkeypatch.setattr(owner, name, written)

    def _before(self, kind: str, act: Callable) -> Callable:
        def counted(*arguments: object) -> object:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if self.last == (kind, self.counts[kind]):
                raise KeyboardInterrupt
            return act(*arguments)

        return counted

    def places(self) -> list[tuple[str, int]]:
        """Where to interrupt a command that was just run whole: both ends of what it writes."""
        told, written = self.counts.get("told", 0), self.counts["written"]
        tells = {1 + told * i // (3 * (PLACES - 1)) for i in range(PLACES)} if told else ()
        writes = {1 + (written - 1) * i // (PLACES - 1) for i in range(PLACES)}
        return [*(("told", one) for one in tells), *(("written", one) for one in writes)]


def files_in(folder: Path) -> set[str]:
    return {str(one.relative_to(folder)) for one in folder.rglob("*")}


def folder_with_sources(folder: Path) -> Path:
    plan = Path(__file__).parents[2] / "examples/check/plan.toml"
    folder.mkdir()
    table2(folder / "small.heap", events=60)
    (folder / "small.toml").write_text(SMALL)
    (folder / "plan.toml").write_text(plan.read_text().replace("pointer_bits = 64", ""))
    return folder


@pytest.mark.parametrize("name", TEN)
def test_what_an_interrupt_leaves_of_an_output_is_all_or_nothing(name, tmp_path, monkeypatch):
    events = Events(monkeypatch)
    sources = files_in(folder_with_sources(tmp_path / "whole"))
    monkeypatch.chdir(tmp_path / "whole")
    done = call_heapfit(*TEN[name].split())
    assert done.returncode == 0, done.stderr
    whole = files_in(tmp_path / "whole") - sources
    for number, place in enumerate(events.places()):
        folder = folder_with_sources(tmp_path / str(number))
        monkeypatch.chdir(folder)
        events.counts, events.last = {}, place
        done = call_heapfit(*TEN[name].split())
        assert done.returncode == 130, place
        told = done.stderr.splitlines()[-1]
        made = files_in(folder) - sources
        raw = {one for one in made if name == "record" and one.startswith(".out-")}
        assert made - raw <= whole, f"left over before {place}"
        assert not raw or "out.parquet" in made or ".out-" in told
        for output in {one.split("/")[0] for one in whole}:
            its = {one for one in whole if one.split("/")[0] == output}
            assert made & its in (set(), its), f"in parts before {place}"
        assert told.startswith("heapfit: interrupted; ")
        assert ("nothing was written" in told) == (not made), place
