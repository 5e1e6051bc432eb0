# SPDX-License-Identifier: Apache-2.0
"""`heapfit profile`, as typed."""

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
    assert "U_max 108 B at event 4; at most 3 blocks live; 2 never freed (108 B)" in shown
    rows = [line.split() for line in shown.splitlines()]
    assert ["40", "2", "66.667", "2", "80"] in rows
    assert ["100", "0", "0.000", "1", "100"] in rows
    assert ["2", "3", "1", "40"] in rows


def test_special_sizes_are_suggested(folder):
    shown = heapfit("profile", "packets.heap", folder=folder).stdout
    assert "Sizes with 10% of the allocations: 40, 1,500 B" in shown


def test_sizes_without_a_mode_are_told_so(folder):
    shown = heapfit("profile", "diverse.heap", folder=folder).stdout
    assert "No size has 10% of the allocations" in shown


def test_json_holds_the_series(folder):
    content = heapfit_json("profile", "small.heap", folder=folder)
    assert content["u_max"] == 108
    assert content["sizes"] == [8, 40, 100]
    assert content["live"]["highest"] == [40, 80, 88, 88, 108]
    blocks = {one["size"]: one["highest"] for one in content["live_blocks"]}
    assert blocks == {8: [0, 0, 1, 1, 1], 40: [1, 2, 2, 2, 1], 100: [0, 0, 0, 0, 1]}


def test_a_foreign_file_is_one_line(folder):
    (folder / "foreign").write_bytes(b"\x7fELF\0\0\0")
    done = heapfit("profile", "foreign", folder=folder)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("heapfit: foreign: ")
