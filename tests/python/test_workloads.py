# SPDX-License-Identifier: Apache-2.0
"""Synthetic workloads from Python and from the command line; their laws are tested in C++."""

import json

import pytest
from small_traces import heapfit, heapfit_json

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.trace.origin import WorkloadSpec
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import generate_workload, is_workload, parse_workload


def test_a_workload_is_a_trace_that_tells_what_it_is(tmp_path):
    trace = generate_workload(WorkloadSpec("queue_fill", 3, {"packets": 2000}), tmp_path / "a")
    info = Trace.open(trace.path).info
    assert info.events == 4000
    assert info.program == "queue_fill:packets=2000"
    assert info.source.startswith("synthetic workload queue_fill, seed 3: ack_percent=43 ")
    assert "packets=2000" in info.source


def test_a_workload_is_known_by_its_name_and_written_as_it_was_read():
    one = parse_workload("t2_w1:limit=3,events=9", seed=4)
    assert one == WorkloadSpec("t2_w1", 4, {"limit": 3, "events": 9})
    assert one.label == "t2_w1:limit=3,events=9"
    assert is_workload(one.label) and not is_workload("t2_w1.parquet")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t2_w6", "none is named 't2_w6' (did you mean 't2_w"),
        ("t2_w1:limit", "t2_w1:limit: limit is not PARAMETER=NUMBER"),
        ("t2_w1:limit=-3", "limit=-3 is not PARAMETER=NUMBER"),
        ("t2_w1:limit=0", "limit 0 is out of range (1 to 1000000)"),
        ("t2_w1:depth=3", "no parameter is named 'depth' (one of events, limit, "),
        (f"t2_w1:limit={'9' * 30}", "is not PARAMETER=NUMBER"),
    ],
)
def test_what_is_no_workload_is_told_in_one_line(text, message):
    with pytest.raises(HeapfitError) as raised:
        parse_workload(text)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_command_writes_a_trace_named_after_the_workload(tmp_path):
    done = heapfit("workload", "t2_w2:events=500", "--seed", 9, folder=tmp_path)
    assert done.stdout == "t2_w2.parquet: 500 events of t2_w2:events=500, seed 9\n"
    assert Trace.open(tmp_path / "t2_w2.parquet").info.events == 500


def test_the_command_tells_all_values_as_json(tmp_path):
    content = heapfit_json("workload", "djgpp_test:events=50", "-o", "x.parquet", folder=tmp_path)
    assert content["trace"] == "x.parquet"
    assert (content["workload"], content["seed"]) == ("djgpp_test", 1)
    assert content["parameters"] == {"events": 50, "slots": 400}


def test_the_command_lists_every_workload_within_100_columns(tmp_path):
    shown = heapfit("workload", folder=tmp_path).stdout
    for info in _engine.workloads():
        assert f"{info.name} " in shown
        for parameter in info.parameters:
            assert f"{parameter.name}={parameter.standard}" in shown
    assert max(map(len, shown.splitlines())) <= 100
    listed = heapfit_json("workload", folder=tmp_path)["workloads"]
    assert [one["name"] for one in listed] == [info.name for info in _engine.workloads()]
    assert json.dumps(listed)
