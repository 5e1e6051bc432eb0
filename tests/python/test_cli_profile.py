# SPDX-License-Identifier: Apache-2.0
"""`heapfit profile`, as typed."""

import json

import pyarrow.parquet as pq
import pytest
from small_traces import bimodal, diverse, heapfit, heapfit_json


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    bimodal(folder / "packets.heap")
    diverse(folder / "diverse.heap")
    (folder / "small.heap").write_text("# heap-events 1\na 0 40\na 1 40\nc 2 8\nf 0\nr 1 100\n")
    return folder


def test_figures_of_a_trace_counted_by_hand(folder):
    shown = heapfit("profile", "small.heap", folder=folder).stdout
    assert "5 events (heap, unknown pointer size)" in shown
    assert "2 alloc, 1 zeroed, 1 resize, 1 free" in shown
    assert "U_max 108 B at event 5; at most 3 blocks live; 2 never freed (108 B)" in shown
    rows = [line.split() for line in shown.splitlines()]
    assert ["40", "2", "66.7", "%", "2", "80"] in rows
    assert ["100", "0", "0", "%", "1", "100"] in rows
    assert ["2", "3", "1", "40"] in rows


def test_the_peak_has_its_time_where_the_recording_has_a_clock(tmp_path):
    (tmp_path / "run.heap").write_text("a 0 40 0\na 1 40 12300000\nf 0 46700000\nf 1 1000000\n")
    shown = heapfit("profile", "run.heap", folder=tmp_path).stdout
    assert "U_max 80 B at event 2, 12.3 s of 60 s; at most 2 blocks live" in shown


def test_json_holds_the_series(folder):
    content = heapfit_json("profile", "small.heap", folder=folder)
    assert content["u_max"] == 108
    assert content["sizes"] == [8, 40, 100]
    assert content["live"]["highest"] == [40, 80, 88, 88, 108]
    blocks = {one["size"]: one["highest"] for one in content["live_blocks"]}
    assert blocks == {8: [0, 0, 1, 1, 1], 40: [1, 2, 2, 2, 1], 100: [0, 0, 0, 0, 1]}


def test_series_hold_what_each_event_changes(folder):
    shown = heapfit("profile", "small.heap", "-o", "s.parquet", folder=folder).stdout
    assert "s.parquet: U(t) and P_i(t) after every event, 3 sizes, 6 rows" in shown
    table = pq.read_table(folder / "s.parquet").to_pydict()
    assert table == {
        "event": [0, 1, 2, 3, 4, 4],
        "time": [0, 0, 0, 0, 0, 0],
        "live_bytes": [40, 80, 88, 48, 108, 108],
        "size": [40, 40, 8, 40, 40, 100],
        "live_blocks": [1, 2, 1, 1, 0, 1],
    }
    metadata = json.loads(pq.read_metadata(folder / "s.parquet").metadata[b"heapfit_series"])
    assert (metadata["schema"], metadata["events"], metadata["is_coarse"]) == (1, 5, False)


def test_series_agree_with_the_profile_and_have_the_traces_times(folder):
    heapfit("workload", "campus:packets=3000", "-o", "c.parquet", folder=folder)
    content = heapfit_json("profile", "c.parquet", "-o", "s.parquet", folder=folder)
    table = pq.read_table(folder / "s.parquet").to_pydict()
    assert max(table["live_bytes"]) == content["u_max"]
    assert table["live_bytes"].index(content["u_max"]) == content["u_max_event"]
    at = table["event"].index(content["u_max_event"])
    assert content["u_max_seconds"] == table["time"][at] / 1e6
    assert content["seconds"] == table["time"][-1] / 1e6
    peaks = {}
    for size, blocks in zip(table["size"], table["live_blocks"], strict=True):
        peaks[size] = max(peaks.get(size, 0), blocks)
    assert peaks == dict(zip(content["sizes"], content["peaks"], strict=True))
    times = pq.read_table(folder / "c.parquet", columns=["time"])["time"].to_pylist()
    assert table["time"] == times  # no resizes: a row for each event
