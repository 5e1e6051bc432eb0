# SPDX-License-Identifier: Apache-2.0
"""Heaps of C libraries on an emulated board."""

from pathlib import Path

import pytest

from harness.library import LIBRARIES, run_library
from harness.workbench import Workbench
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.trace.stored import Trace

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
