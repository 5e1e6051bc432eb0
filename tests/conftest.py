# SPDX-License-Identifier: Apache-2.0
"""What all tests start from, however the run was started."""

import os
import signal
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

import program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heapfit_papers.reproduce.laboratory import Laboratory
    from heapfit_papers.slotbuf.measures import ReportRuns

# A shell starts background jobs with SIGINT ignored, and what a process ignores its children ignore
# too: a program under test could then never be interrupted.
signal.signal(signal.SIGINT, signal.default_int_handler)

# That a machine is busy is no finding.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


_TESTS = Path(__file__).parent
_LONGEST_FIRST = ("target", "papers", "repository")  # so that no core waits at the end


# Dear files and tests in three parts: `make test-more` runs one part a day, so that what they share
# is made on that day alone; `make test-long` runs all, as any run without HEAPFIT_TURNS does.
_TURNS = [part.split() for part in (_TESTS / "turns.txt").read_text().split("\n\n")]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("HEAPFIT_TURNS") == "1":
        _leave_out_other_turns(config, items)

    def place(item: pytest.Item) -> int:
        folder = item.path.relative_to(_TESTS).parts[0]
        known = _LONGEST_FIRST
        return known.index(folder) if folder in known else len(known)

    items.sort(key=place)


def _leave_out_other_turns(config: pytest.Config, items: list[pytest.Item]) -> None:
    today = date.today().toordinal() % len(_TURNS)
    left_out = {name for day, names in enumerate(_TURNS) if day != today for name in names}
    others = [
        item
        for item in items
        if left_out & {item.nodeid.partition("::")[0], item.nodeid.partition("[")[0]}
    ]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


def _leave_unmeasured() -> "Iterator[None]":
    """The README's code sizes, which cost compilations, are test_generate's business."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "measures", False)
        program.leave_unmeasured(patch.setattr)
        yield


unmeasured = pytest.fixture(_leave_unmeasured)
unmeasured_module = pytest.fixture(_leave_unmeasured, scope="module")  # where its fixtures fit, too


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> "Callable[..., None]":
    """Sets what limits stored traces, by name: a million events reach the real limits, or more."""
    from heapfit.trace import stored, table_file

    def lower(**limits: int) -> None:
        for module in (stored, table_file):
            for name in limits.keys() & vars(module).keys():
                monkeypatch.setattr(module, name, limits[name])

    return lower


@pytest.fixture(scope="session")
def report_runs() -> "ReportRuns":
    """The runs that the claims of Cebeci 2019 are judged by."""
    from heapfit_papers.slotbuf.measures import measure_report

    return measure_report()


@pytest.fixture(scope="session")
def laboratory(report_runs: "ReportRuns") -> "Laboratory":
    """Where the rows of the papers are measured in their small form, what they share only once."""
    from heapfit_papers.reproduce.laboratory import Laboratory
    from heapfit_papers.reproduce.paper_000_first import report_runs as measure

    made = Laboratory(is_small=True)
    made.provide(measure, report_runs)
    return made
