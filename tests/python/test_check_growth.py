# SPDX-License-Identifier: Apache-2.0
"""What sizes and call sites hold, counted by hand; and results as Markdown, whatever the names."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from small_traces import load_lines

from heapfit.checks.growth import MOST, Holdings, LiveBytes, changes, holdings_of
from heapfit.results.markdown import markdown_of
from heapfit.results.parts import Column, Fields, Line, Table

#           event:   0                  1                  2            3      4
LINES = ["a 0 100 0 1 aa", "a 1 30 0 1 bb", "r 0 300 0 1 cc", "f 1 0 1", "f 0 0 1"]


def holdings(tmp_path: Path, lines: Sequence[str]) -> Holdings:
    return holdings_of(load_lines(tmp_path / "trace.heap", lines))


def test_a_resized_block_ends_and_one_of_the_new_size_begins(tmp_path: Path) -> None:
    found = holdings(tmp_path, LINES)
    assert found.sizes == {
        112: LiveBytes(0, pytest.approx(100 * 2 / 5)),
        32: LiveBytes(30, pytest.approx(30 * 2 / 5)),
        320: LiveBytes(300, pytest.approx(300 * 2 / 5)),
    }
    assert found.sites == {
        "000000aa": LiveBytes(0, pytest.approx(100 * 2 / 5)),
        "000000bb": LiveBytes(30, pytest.approx(30 * 2 / 5)),
        "000000cc": LiveBytes(300, pytest.approx(300 * 2 / 5)),
    }


def test_a_block_that_is_never_freed_is_held_to_the_end(tmp_path: Path) -> None:
    found = holdings(tmp_path, ["a 0 64", "a 1 8", "f 1", "a 2 8", "f 2"])
    assert found.sizes == {
        64: LiveBytes(64, pytest.approx(64)),
        8: LiveBytes(8, pytest.approx(16 / 5)),
    }
    assert found.sites == {}


def test_tasks_are_told_apart_where_there_are_several(tmp_path: Path) -> None:
    found = holdings(tmp_path, ["a 0 100 0 1", "a 1 30 0 2", "f 1 0 1"])
    assert found.tasks == {1: LiveBytes(100, pytest.approx(100)), 2: LiveBytes(30, 30 / 3)}
    grown = changes(found, Holdings({}, {}, {1: LiveBytes(90, 95), 2: LiveBytes(30, 12)}))
    assert [(one.name, one.growth) for one in grown.tasks] == [(1, 10)]
    assert holdings(tmp_path, LINES).tasks == {}


def test_what_grew_comes_first_and_what_shrank_not_at_all() -> None:
    before = Holdings({8: LiveBytes(80, 80), 16: LiveBytes(160, 10), 32: LiveBytes(0, 0)}, {})
    now = Holdings(
        {8: LiveBytes(60, 70), 16: LiveBytes(160, 50), 32: LiveBytes(30, 1), 64: LiveBytes(128, 2)},
        {},
    )
    found = changes(now, before)
    assert [(one.name, one.growth) for one in found.sizes] == [(64, 128), (16, 40), (32, 30)]
    assert found.sizes[0].before == LiveBytes(0, 0)
    assert not found.are_builds_different


def test_without_a_base_the_largest_are_told_and_no_more_than_a_few() -> None:
    now = Holdings({size: LiveBytes(size, 0) for size in range(8, 8 + 2 * MOST)}, {})
    found = changes(now, None)
    assert [one.name for one in found.sizes] == list(range(8 + 2 * MOST - 1, 8 + MOST - 1, -1))
    assert all(one.before is None for one in found.sizes)


@pytest.mark.parametrize(("known", "are_different"), [("0000000a", False), ("0000000c", True)])
def test_call_sites_of_another_build_are_told(known: str, are_different: bool) -> None:
    now = Holdings({}, {"0000000a": LiveBytes(60, 1), "0000000b": LiveBytes(40, 1)})
    before = Holdings({}, {known: LiveBytes(50, 1)})
    assert changes(now, before).are_builds_different is are_different


def test_names_in_markdown_are_no_markup() -> None:
    columns: list[Column[str]] = [
        Column(heading="call site", shown=lambda name: name),
        Column(heading="bytes", shown=len),
    ]
    parts = [Fields({"no": 1}), Line("<b> & *c*"), Line(""), Table(columns, ["a|b`\x1b[2J"])]
    assert markdown_of("x [y]", parts) == (
        "### x \\[y\\]\n\n\\<b\\> \\& \\*c\\*\n\n"
        "| call site | bytes |\n| --- | ---: |\n| a\\|b\\`\\[2J | 8 |\n"
    )


def test_a_table_without_rows_is_left_out_of_markdown() -> None:
    assert markdown_of("x", [Table([Column(heading="a", shown=str)], [])]) == "### x\n"
