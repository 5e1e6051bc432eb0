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
from heapfit.plan.plan_file import PlanFile, TrainingRecord

ROOT = Path(__file__).parents[2]
M4 = BOARDS["cortex-m4"]
LINE = re.compile(r"^ \*   (app_\w+) +([\d,]+) +(\d+) +(\d+)$", re.MULTILINE)
WATCHED = ("app_malloc", "app_free")
PROGRAM = """
#include "app_heap.h"
#include <stdint.h>
static void *blocks[256];
int main(void) {
    uint32_t state = 1;
    if (!app_heap_init()) {
        return 1;
    }
    for (int i = 0; i < 20000; i++) {
        state = state * 1664525u + 1013904223u;
        void **block = &blocks[state >> 24];
        const uint32_t size = 1u << (state >> 8 & 7);
        if (*block != NULL) {
            app_free(*block);
            *block = NULL;
        } else {
            *block = app_malloc(size * 4 + (state >> 12 & 15));
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
    plan = PlanFile("test", PLANS[name], 1 << 14, 1 << 14, 16, 0, 32, about, _engine.version)
    generate(plan, folder, options=GenerateOptions(counts=has_counts))
    return folder


def counted(workbench: Workbench, folder: Path) -> Calls:
    """The calls of a random program on a board."""
    build = Build("Os", checks_words=False)
    (folder / "main.c").write_text(PROGRAM)
    objects = []
    for source in sorted(folder.rglob("*.c")):
        objects.append(folder / f"{source.stem}.o")
        workbench.compile(M4, build, str(source), objects[-1], ())
    image = link_image(workbench, M4, build, folder, objects)
    output = folder / "calls"
    emulate(image, (), Watch(workbench.plugin, WATCHED, output))
    return read_calls(output, WATCHED)


@pytest.mark.parametrize("name", ["tlsf", "fixed_pool", "budgeted"])
def test_calls_of_a_generated_heap_stay_below_what_its_header_says(
    workbench: Workbench, tmp_path: Path, name: str
) -> None:
    bounds = bounds_in(generated(name, tmp_path / "code"))
    calls = counted(workbench, tmp_path / "code")
    for function in WATCHED:
        spread = calls.spread(function)
        assert spread is not None
        instructions, _ = bounds[function]
        assert instructions / 1.25 <= spread.worst <= instructions


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
    assert re.findall(r"^ \*   (app_\w+) +no bound$", header, re.MULTILINE)[0] == "app_malloc"
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
