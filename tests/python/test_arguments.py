# SPDX-License-Identifier: Apache-2.0
"""A user's slip in the Python API is one line that names it, never an error from the depths."""

import os
from inspect import signature
from pathlib import Path

import pytest

import heapfit
from heapfit.errors import HeapfitError

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / "examples/check/traces/base.parquet"
PLAN = ROOT / "examples/check/plan.toml"
SLIPS = (123, None, 3.5, b"x", object(), {}, [5], [None])
FUNCTIONS = sorted(
    name
    for name in dir(heapfit)
    if not name.startswith("_") and type(getattr(heapfit, name)).__name__ == "function"
)


class AnyPath:
    """A PathLike that is no Path."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return os.fspath(self.path)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_first_argument_of_another_type_is_refused_by_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, *others = signature(getattr(heapfit, name)).parameters.values()
    needed = {one.name for one in others if one.default is one.empty and one.name != "choices"}
    known = {"memories": ["a=1K"], "command": ["true"], "rate": 1, "seconds": 1.0}
    given = {one: known.get(one, "x") for one in needed}
    for slip in SLIPS:
        with pytest.raises(HeapfitError, match=rf"{first.name}|event 0|no event$") as error:
            getattr(heapfit, name)(slip, **given)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: heapfit.fit(RUN, now=5), "fit: now=5: give text or None"),
        (lambda: heapfit.fit(RUN, worker=2), "worker: no such option"),
        (lambda: heapfit.fit([RUN, 5]), "fit: source[1]=5: give Trace or a path"),
        (lambda: heapfit.check(RUN, PLAN, 5), "check: options=5: give CheckOptions or None"),
        (
            lambda: heapfit.check(RUN, PLAN, heapfit.CheckOptions(growth="5")),
            "check: options.growth='5': give a number or None",
        ),
        (
            lambda: heapfit.check(RUN, PLAN, heapfit.CheckOptions(base=str(RUN))),
            "check: options.base=",
        ),
        (lambda: heapfit.compare(RUN, "tlsf"), "compare: plans='tlsf': give a list"),
        (
            lambda: heapfit.compare(RUN, [5]),
            "compare: plans[0]=5: give a path or PlanFile",
        ),
        (lambda: heapfit.open(RUN, importing="x"), "open: importing='x': give ImportOptions"),
        (lambda: heapfit.record([], "o.parquet"), "no program is named"),
        (lambda: heapfit.generate_workload("t2_w1", "o", -1), "seed=-1: must be from 0"),
    ],
)
def test_a_slip_names_function_argument_and_what_to_give(call, told):
    with pytest.raises(HeapfitError) as error:
        call()
    assert str(error.value).startswith(told)


def test_a_path_may_be_text_or_any_path_like(tmp_path):
    events = heapfit.Trace.open(RUN).info.events
    for path in (str(RUN), AnyPath(RUN)):
        assert heapfit.Trace.open(path).info.events == events
        assert heapfit.profile_trace(path).events == events
        assert heapfit.check([path], AnyPath(PLAN), heapfit.CheckOptions(base=[path])).holds
    (tmp_path / "a.heap").write_text("a 0 16\nf 0\n")
    made = heapfit.import_file(AnyPath(tmp_path / "a.heap"), str(tmp_path / "a.parquet"))
    assert made.info.events == 2


def test_a_missing_argument_is_said_by_python_itself():
    with pytest.raises(TypeError, match=r"check\(\) missing 1 required positional argument"):
        heapfit.check()
