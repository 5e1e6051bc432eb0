# SPDX-License-Identifier: Apache-2.0
"""A plug-in of pytest: which statements each test executes, and how long it takes.

The name of the test that runs stands in a file, so that it is known of one that ends the process,
too. Where the sources mark their statements (`reached.py`), a file has those of each test that
passes, one a line. What a fixture executes that several tests share counts for all that use it.
"""

import builtins
import json
import os
from collections.abc import Iterator
from functools import reduce
from operator import or_
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

MARKS = "HEAPFIT_MARKS"  # the environment's name of the file of bytes, one of each statement
BYTES = "marks_of_reach"  # and the name of those that all modules see
STARTED = "HEAPFIT_STARTED"  # the environment's name of the file that has the test's name
_DIGITS = b"01".ljust(256)

_failing: set[str] = set()
_shared: dict[object, int] = {}  # of fixtures: a bit of each statement executed
_own: list[tuple[float, int]] = []  # of the test that runs: seconds, and such bits
_last = [0.0]  # when what is noted now began


def pytest_runtest_logstart(nodeid: str) -> None:
    """Names the test that begins."""
    Path(os.environ[STARTED]).write_text(nodeid)


def pytest_runtest_logreport(report: Any) -> None:  # noqa: ANN401
    """Names a test that fails."""
    if report.failed:
        _failing.add(report.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Iterator[None]:  # noqa: ANN401
    """One test with its fixtures."""
    _take()
    _own.clear()
    done = yield
    named = item._fixtureinfo.name2fixturedefs.values()
    shared = [_shared[one] for fixtures in named for one in fixtures if one in _shared]
    _own.append(_take())
    statements = reduce(or_, (one for _, one in _own), 0) | reduce(or_, shared, 0)
    seconds = round(sum(one for one, _ in _own), 2)
    if item.nodeid not in _failing and _marks() is not None:
        noted = [item.nodeid, {"seconds": seconds, "statements": hex(statements)}]
        with Path(os.environ[MARKS]).with_suffix(".jsonl").open("a") as file:
            print(json.dumps(noted), file=file)
    return done


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Iterator[None]:  # noqa: ANN401
    """A fixture for several tests."""
    if fixturedef.scope == "function":
        return (yield)
    _own.append(_take())
    done = yield
    _shared[fixturedef] = _take()[1]
    return done


def _take() -> tuple[float, int]:
    """What was spent and executed since this was asked last."""
    now = perf_counter()
    seconds, _last[0] = now - _last[0], now
    marks = _marks()
    if marks is None:
        return seconds, 0
    bits = int(marks[:][::-1].translate(_DIGITS), 2)
    marks[:] = bytes(len(marks))
    return seconds, bits


def _marks() -> Any:  # noqa: ANN401
    return getattr(builtins, BYTES, None)
