# SPDX-License-Identifier: Apache-2.0
"""Heaps of C libraries on an emulated board, and what a league takes of them."""

from pathlib import Path

import pytest

from harness.board import BOARDS
from harness.league import board_of
from harness.library import LIBRARIES, run_library
from harness.plugin import Target
from harness.workbench import Build, Workbench
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.league import OpeningOptions, open_recordings
from heapfit.league.board import read_board
from heapfit.league.stamps import sources_stamp
from heapfit.plugin import plugin_of
from heapfit.trace.stored import Trace

ROOT = Path(__file__).parents[2]
NEWLIB, NANO, PICOLIBC = LIBRARIES


def trace_of(lines: list[str], folder: Path) -> Trace:
    (folder / "events.txt").write_text("\n".join(["# heap-events 1", *lines]) + "\n")
    return open_any(folder / "events.txt", ImportOptions(), folder)


def test_newlib_nano_takes_a_header_and_a_padding_of_four_bytes(tmp_path: Path) -> None:
    trace = trace_of([f"a {i} 20" for i in range(10)], tmp_path)

    found = run_library(Workbench(tmp_path), NANO, trace)

    assert found.variables == 8  # its free list and where its region began
    assert found.region == 10 * (4 + 4 + 20) + found.variables
    assert 300 < found.code < 800
    assert 20 < found.instructions < 200
    assert 8 < found.stack < 200


def test_newlib_takes_pages_and_picolibc_what_it_needs(tmp_path: Path) -> None:
    trace = trace_of([f"a {i} 20" for i in range(10)], tmp_path)
    newlib, picolibc = (
        run_library(Workbench(tmp_path / one.name), one, trace) for one in (NEWLIB, PICOLIBC)
    )
    assert (newlib.region - newlib.variables) % 4096 == 0
    assert newlib.variables > 1024  # its bins
    assert picolibc.region == 10 * 32 + 8 + picolibc.variables  # blocks lie 32 B apart


def test_a_recording_that_no_board_holds_is_left_out(tmp_path: Path) -> None:
    trace = trace_of(["a 1 20000000"], tmp_path)
    with pytest.raises(HeapfitError, match=r"not served in the board's 16,777,216 B"):
        run_library(Workbench(tmp_path), NANO, trace)


def test_a_league_reads_what_the_board_told(tmp_path: Path) -> None:
    recordings = open_recordings(
        [ROOT / "examples/lwip-echo/lwip-echo.parquet"],
        tmp_path / "traces",
        OpeningOptions(events=300),
    )
    target = Target(BOARDS["cortex-m4"], Build("Os"), 8)
    bump = plugin_of(ROOT / "examples/plugins/bump.c")
    board = board_of(tmp_path / "work", recordings, [bump], target)
    board.save(tmp_path / "board.json")

    assert read_board(tmp_path / "board.json") == board
    assert [row.entrant for row in board.rows] == ["newlib", "newlib-nano", "picolibc"]
    assert all(row.r_safe is not None and row.r_safe > row.u_max for row in board.rows)
    (figures,) = board.figures
    assert (figures.entrant, figures.content) == ("bump", recordings[0].content)
    assert figures.sources == sources_stamp(bump)
    assert 0 < figures.instructions < 100 and figures.code > 100
