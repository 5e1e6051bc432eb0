# SPDX-License-Identifier: Apache-2.0
"""Paths in the Python API: text and anything like a path; and slips that are told in one line."""

import os
from pathlib import Path

import pytest

import heapfit
from heapfit.errors import HeapfitError

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / "examples/check/traces/base.parquet"
PLAN = ROOT / "examples/check/plan.toml"


class AnyPath:
    """A PathLike that is no Path."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return os.fspath(self.path)


def test_a_path_may_be_text_or_any_path_like(tmp_path):
    events = heapfit.Trace.open(RUN).info.events
    for path in (str(RUN), AnyPath(RUN)):
        assert heapfit.Trace.open(path).info.events == events
        assert heapfit.profile_trace(path).events == events
        assert heapfit.check([path], AnyPath(PLAN)).holds
    (tmp_path / "a.heap").write_text("a 0 16\nf 0\n")
    made = heapfit.import_file(AnyPath(tmp_path / "a.heap"), str(tmp_path / "a.parquet"))
    assert made.info.events == 2


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: heapfit.record([], "o.parquet"), "no program is named"),
        (lambda: heapfit.generate_workload("t2_w1", "o", -1), "seed=-1: must be from 0"),
        (
            lambda: heapfit.from_events([5], "o.parquet"),
            "event 0: is 5 (give operation, block, bytes)",
        ),
        (lambda: heapfit.from_pandas(5, "o.parquet"), "frame=5: is no DataFrame"),
    ],
)
def test_a_slip_is_told_in_one_line(call, told):
    with pytest.raises(HeapfitError) as error:
        call()
    assert str(error.value).startswith(told)
