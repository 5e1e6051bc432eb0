# SPDX-License-Identifier: Apache-2.0
"""Requests that no heap below 4 GiB serves stay in a stored trace, and out of what is fitted."""

import numpy as np
import pytest
from small_traces import heapfit

from heapfit.importers import import_file, open_trace
from heapfit.trace.oversized import leave_out_oversized

FAILED = (1 << 32) - 1
LOG = (
    f"# pointer_bits 32\na 0 100\na 1 {FAILED} 0 1 1234abcd\nr 0 {FAILED}\n"
    "a 2 60\nr 0 120\nf 1\na 3 7\nf 2\nf 0\n"
)


@pytest.fixture
def trace(tmp_path):
    source = tmp_path / "run.heap"
    source.write_text(LOG)
    return import_file(source, tmp_path / "run.parquet")


def test_they_stay_in_the_stored_trace_and_are_left_out_of_what_is_served(trace):
    assert trace.info.events == 9
    with open_trace(trace) as served:
        (batch,) = served.batches(("op", "object", "size"))
        assert list(zip(*(batch[name].tolist() for name in batch), strict=True)) == [
            *((0, 0, 100), (0, 1, 60), (3, 0, 120), (0, 2, 7), (4, 1, 0), (4, 0, 0)),
        ]
        assert served.info.notes == (
            "Event 1 asks for 4,294,967,295 B at call site 1234abcd (-1 as a size?): left out, "
            "since no heap below 4 GiB serves it.",
            "Event 2 asks for 4,294,967,295 B (-1 as a size?): left out, since no heap below 4 GiB "
            "serves it.",
        )
    with open_trace(trace, keep_oversized=True) as whole:
        assert whole is trace


def test_a_trace_without_them_is_taken_as_it_is(tmp_path):
    source = tmp_path / "run.heap"
    source.write_text("a 0 100\nf 0\n")
    trace = import_file(source, tmp_path / "run.parquet")
    assert leave_out_oversized(trace, tmp_path) is trace


def test_more_than_three_are_counted(tmp_path):
    source = tmp_path / "run.heap"
    source.write_text("a 9 8\n" + "".join(f"a {i} {FAILED}\nf {i}\n" for i in range(5)))
    with open_trace(source) as served:
        assert served.info.events == 1
        assert len(served.info.notes) == 4
        assert served.info.notes[3] == "2 more requests of such sizes are left out."
        assert np.concatenate([one["size"] for one in served.batches(["size"])]).tolist() == [8]


@pytest.mark.parametrize("rest", [("bounds",), ("place", "--memory=a=4K", "--memory=b=4K")])
def test_bounds_and_place_name_them(trace, rest):
    command, *options = rest
    done = heapfit(command, trace.path, *options, folder=trace.path.parent)
    assert done.returncode == 0
    assert "Event 1 asks for 4,294,967,295 B at call site 1234abcd" in " ".join(done.stderr.split())
