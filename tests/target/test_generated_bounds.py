# SPDX-License-Identifier: Apache-2.0
"""What a generated header says of the worst case holds for its functions on a Cortex-M4."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from test_worst_case import PLANS

from harness.board import BOARDS
from harness.calls import Calls, read_calls
from harness.emulator import Watch, emulate
from harness.image import link_image
from harness.workbench import Build, Workbench
from heapfit import _engine
from heapfit.generate import GenerateOptions, generate
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile, TrainingRecord

ROOT = Path(__file__).parents[2]
M4 = BOARDS["cortex-m4"]
# Each allocator that ships, with pools where it takes some.
IN_PIECES = "chained_pool"  # which no malloc gives
SHIPPED = [info.name for info in _engine.allocators() if info.ships and info.name != IN_PIECES]
HEAPS = {name: Plan(name) for name in SHIPPED} | {
    name: PLANS[name] for name in ("fixed_pool", "class_pools", "budgeted")
}
STACK = re.compile(r"^ \*   (app_\w+) .* (\d+)$", re.MULTILINE)
LINE = re.compile(r"^ \*   (app_\w+) +([\d,]+) +(\d+) +(\d+)$", re.MULTILINE)
WATCHED = ("app_malloc", "app_free")
PROGRAM = """
#include "app_heap.h"
#include "board/semihost.h"
#include <stdint.h>
static void *blocks[256];
static uint32_t sizes[256];
#ifdef SIZED
#define FREE(i) app_free_sized(blocks[i], sizes[i])
#else
#define FREE(i) app_free(blocks[i])
#endif
int main(void) {
    uint32_t state = 1, stack;
    __asm__ volatile("mov %0, sp" : "=r"(stack));
    semihost_print_count("stack", stack);
    if (!app_heap_init()) {
        return 1;
    }
    for (int i = 0; i < 20000; i++) {
        state = state * 1664525u + 1013904223u;
        const uint32_t block = state >> 24;
        const uint32_t size = 1u << (state >> 8 & 7);
        if (blocks[block] != NULL) {
            FREE(block);
            blocks[block] = NULL;
        } else {
            sizes[block] = size * 4 + (state >> 12 & 15);
            blocks[block] = app_malloc(sizes[block]);
        }
    }
    return app_heap_check() ? 0 : 1;
}
"""


def bounds_in(folder: Path) -> dict[str, tuple[int, int]]:
    """Instructions and bytes of stack by function."""
    rows = LINE.findall((folder / "app_heap.h").read_text())
    return {name: (int(fixed.replace(",", "")), int(stack)) for name, fixed, _, stack in rows}


def generated(name: str, folder: Path, has_counts: bool = False) -> Path:
    about = TrainingRecord("none", "sha256:" + 64 * "0", 0)
    plan = PlanFile(
        "test", (HEAPS | PLANS)[name], 1 << 14, 1 << 14, 16, 0, 32, about, _engine.version
    )
    generate(plan, folder, options=GenerateOptions(counts=has_counts))
    return folder


def counted(workbench: Workbench, folder: Path) -> tuple[Calls, int]:
    """The calls of a random program on a board, and the stack's end at each."""
    is_sized = "app_free_sized(" in (folder / "app_heap.h").read_text()
    watched = ("app_malloc", "app_free_sized") if is_sized else WATCHED
    build = Build("Os", checks_words=False)
    (folder / "main.c").write_text(PROGRAM)
    objects = []
    for source in sorted(folder.rglob("*.c")):
        objects.append(folder / f"{source.stem}.o")
        workbench.compile(M4, build, str(source), objects[-1], ("-DSIZED",) * is_sized)
    image = link_image(workbench, M4, build, folder, objects)
    output = folder / "calls"
    told = emulate(image, (), Watch(workbench.plugin, watched, output))
    return read_calls(output, watched), int(told.split()[-1])


@pytest.mark.parametrize("name", ["tlsf", "fixed_pool", "budgeted"])
def test_calls_of_a_generated_heap_stay_below_what_its_header_says(
    workbench: Workbench, tmp_path: Path, name: str
) -> None:
    bounds = bounds_in(generated(name, tmp_path / "code"))
    calls, _ = counted(workbench, tmp_path / "code")
    for function in WATCHED:
        spread = calls.spread(function)
        assert spread is not None
        instructions, _ = bounds[function]
        assert instructions / 1.25 <= spread.worst <= instructions


@pytest.mark.parametrize("name", HEAPS)
def test_the_stack_of_a_call_is_told_whether_or_not_it_has_a_bound(
    workbench: Workbench, tmp_path: Path, name: str
) -> None:
    """Never below what a walk on the board touches, and at most 32 B above."""
    folder = generated(name, tmp_path / "code")
    told = {one: int(size) for one, size in STACK.findall((folder / "app_heap.h").read_text())}
    calls, top = counted(workbench, folder)
    seen = {function: calls.deepest_stack(top, function) for function in calls.functions}
    assert all(told[one] - 32 <= seen[one] <= told[one] for one in seen)


def test_without_the_cross_compiler_the_header_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = generated("tlsf", tmp_path / "code")
    assert bounds_in(folder) == {}
    assert "worst" not in (folder / "app_heap.h").read_text()


def test_the_header_says_which_call_has_no_bound(tmp_path: Path) -> None:
    by_address = replace(PLANS["class_pools"], scalars={"search": 0, "overflow": 2})
    folder = tmp_path / "code"
    about = TrainingRecord("none", "sha256:" + 64 * "0", 0)
    generate(PlanFile("t", by_address, 1 << 14, 1 << 14, 16, 0, 32, about, _engine.version), folder)
    assert "app_malloc" not in bounds_in(folder)
    assert "app_free" in bounds_in(folder)
    header = (folder / "app_heap.h").read_text()
    assert re.findall(r"^ \*   (app_\w+) +no bound +\d+$", header, re.MULTILINE)[0] == "app_malloc"
    assert " * No bound: a loop's length depends on what the heap holds" in header


def test_the_header_is_silent_where_every_call_has_a_bound(tmp_path: Path) -> None:
    header = (generated("tlsf", tmp_path / "code") / "app_heap.h").read_text()
    assert "app_malloc" in header and "no bound" not in header


def test_the_page_says_what_counts_cost_a_call(tmp_path: Path) -> None:
    plain, counted = (
        bounds_in(generated("tlsf", tmp_path / str(one), has_counts=one)) for one in (False, True)
    )
    alloc, free = (counted[name][0] - plain[name][0] for name in WATCHED)
    page = " ".join((ROOT / "docs/generate.md").read_text().split())
    assert f"{alloc} instructions more for `app_malloc` at worst, {free} for `app_free`" in page
