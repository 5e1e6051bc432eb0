# SPDX-License-Identifier: Apache-2.0
"""An allocator that is not heapfit's on an emulated board."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.__main__ import main
from harness.board import BOARDS
from harness.plugin import Target, count_plugin, plugin_lines
from harness.workbench import Build, Workbench
from heapfit.errors import HeapfitError
from heapfit.plugin import plugin_of
from heapfit.trace.stored import Trace

ROOT = Path(__file__).parents[2]
ECHO = ROOT / "examples/lwip-echo/lwip-echo.parquet"
TARGET = Target(BOARDS["cortex-m4"], Build("Os"), 8)


def test_calls_of_a_plug_in_are_counted_and_its_code_is_weighed(tmp_path: Path) -> None:
    plugin = plugin_of(ROOT / "examples/plugins/bump.c")

    found = count_plugin(Workbench(tmp_path), plugin, Trace.open(ECHO), TARGET)

    alloc, free = (found.calls.spread(name) for name in ("alloc", "free"))
    assert alloc is not None and free is not None
    assert (alloc.calls, free.calls) == (6343, 6305)
    assert 10 < alloc.mean < 30
    assert free.worst < 12  # a load, a list, two stores
    assert 100 < found.size.total < 300
    assert found.size.memory == 0
    assert len(list(plugin_lines(plugin, TARGET, found))) == 5


NOISY = f"""#include <assert.h>
#include <stdio.h>
#include <string.h>
#define plugin_alloc bump_alloc
#include "{ROOT / "examples/plugins/bump.c"}"
#undef plugin_alloc
__attribute__((weak)) void hook_that_nobody_defines(void);
void *plugin_alloc(void *heap, size_t size) {{
    assert(heap != NULL);
    if (hook_that_nobody_defines != NULL) hook_that_nobody_defines();
    if (size == 7654321) printf("%u", (unsigned)size);
    char *block = bump_alloc(heap, size > OVERFLOWS ? 8 : size);
    if (block != NULL) memmove(block, block + 1, size & 1);
    return block;
}}
"""


def test_faults_and_calls_of_a_c_library_keep_no_plug_in_from_being_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("broken.c", "int nothing = none;\n"), ("noisy.c", NOISY)):
        (tmp_path / name).write_text(text)
    sources = (str(tmp_path / "broken.c"), str(tmp_path / "noisy.c"))
    flags = ("--cflags", "-DUNUSED", "--cflags", "noisy: -DOVERFLOWS=0x80000000")
    monkeypatch.setattr(sys, "argv", ["harness", "plugin", str(ECHO), *sources, *flags])

    with pytest.raises(
        SystemExit, match=r"^error: gcc: .*broken\.c:1:15: error: .none. undeclared"
    ):
        main()

    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "faults: impossible served"
    assert lines[3].split()[:2] == ["alloc", "6,343"]


def test_a_crate_is_counted_where_rust_has_the_board_s_library(tmp_path: Path) -> None:
    crate = plugin_of(ROOT / "examples/plugins/buddy")
    sysroot = subprocess.check_output(["rustc", "--print", "sysroot"], text=True).strip()
    missing = [
        target
        for target in ("i686-unknown-linux-gnu", TARGET.board.rust)
        if not (Path(sysroot) / "lib/rustlib" / target / "lib").is_dir()
    ]
    if missing:  # rustup alone has them: no package of a system
        with pytest.raises(HeapfitError, match=f"rustup target add {missing[0]}"):
            count_plugin(Workbench(tmp_path), crate, Trace.open(ECHO), TARGET)
        return

    found = count_plugin(Workbench(tmp_path), crate, Trace.open(ECHO), TARGET)

    alloc, free = (found.calls.spread(name) for name in ("alloc_aligned", "free_sized"))
    assert alloc is not None and free is not None
    assert (alloc.calls, free.calls) == (6343, 6305)
    assert 20 < free.mean < alloc.mean < 200
    assert 300 < found.size.total < 2000
    assert found.size.memory > 0  # the heap's own struct is a static


def test_boards_are_built_for_c_and_crates_alone(tmp_path: Path) -> None:
    source = tmp_path / "mine.cpp"
    source.write_text("int nothing;\n")
    with pytest.raises(HeapfitError, match="mine: boards are built for C and crates"):
        count_plugin(Workbench(tmp_path), plugin_of(source), Trace.open(ECHO), TARGET)
