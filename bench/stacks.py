# SPDX-License-Identifier: Apache-2.0
"""The stack that a call of each drop-in takes: by the linked code, and by painting it on a board.

    python bench/stacks.py [--only WORD] [--write]

Each heap that ships is built with its drop-ins for FreeRTOS, the C library and Zephyr around it,
for three processors at -Os; kernels' and libraries' locks are empty calls, since those bring their
own. The program paints the stack below it, calls, and looks how far the paint is gone: in 3,000
calls of each drop-in and of the recorder. A figure of the code below that is an error; one more
than 32 B above it is told.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from page_tables import add_option, write_result

from harness import sources
from harness.board import BOARDS, Board
from harness.codes import plan_of_code
from harness.emulator import emulate
from harness.image import Image, link_image, plan_file_of
from harness.workbench import Build, Workbench
from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.generate.core_files import recorder_texts
from heapfit.generate.folder import write_texts
from heapfit.generate.names import Text
from heapfit.generate.options import GenerateOptions
from heapfit.generate.tables import HeapDesign, design_from_plan_file
from heapfit.generate.texts import fill_added_texts, source_texts
from heapfit.generate.worst_case.bound import WorstCases
from heapfit.generate.worst_case.instruction import UnboundedError
from heapfit.generate.worst_case.linked_code import LinkedCode
from heapfit.plan.plan import Plan, Pool

ABOVE = 32  # bytes that a figure may lie above what was seen
IN_PIECES = "chained_pool"  # which no malloc gives
BY_SITE = "tailored by site"  # malloc takes a tag; drop-ins, which pass none, are left out
POOL_SIZES = (32, 64, 128, 256, 512, 1024)
TAKES_POOLS = {"class_pools", "budgeted"}
FORMS = ("freertos", "malloc", "zephyr")
LIBRARY = ("errno", "malloc", "stdlib", "string")  # headers of a C library, where there is none
DECLARED = """#pragma once
#include <stddef.h>
extern int errno;
#define ENOMEM 12
#define EINVAL 22
void *malloc(size_t size);
void free(void *block);
void *memset(void *to, int value, size_t size);
"""
CALLED = {  # the functions of each drop-in
    "bare": ("app_malloc", "app_free"),
    "freertos": ("pvPortMalloc", "vPortFree"),
    "malloc": ("_malloc_r", "_free_r"),
    "zephyr": ("__wrap_k_malloc", "__wrap_k_free"),
    "recorder": ("hfit_record_alloc", "hfit_record_free"),
}


def plan_of(name: str) -> Plan:
    """A plan of the allocator, with pools where it takes some, with call sites for BY_SITE."""
    if name == BY_SITE:
        return plan_of_code("tailored:ends=2,tags>0")
    shared = Plan("tlsf") if name == "budgeted" else None
    pools = tuple(Pool(size, 8, name == "budgeted") for size in POOL_SIZES)
    return Plan(name, pools=pools if name in TAKES_POOLS else (), shared=shared)


def write_code(design: HeapDesign, folder: Path) -> list[Path]:
    """Writes the heap, its drop-ins and the recorder; the C files."""
    forms = () if design.needs_size else FORMS
    texts = source_texts(design) | fill_added_texts(replace(design, platforms=forms))
    texts |= recorder_texts(("record.c", "record.h", "adapters/one_heap.c", "adapters/one_heap.h"))
    texts |= dict.fromkeys((f"library/{one}.h" for one in LIBRARY), DECLARED)
    write_texts(folder, texts)
    return sorted(folder.rglob("*.c"))


def build(workbench: Workbench, board: Board, name: str) -> Image:
    """The image of a heap with all its drop-ins."""
    folder = workbench.image_folder()
    options = GenerateOptions(counts=True)
    design = design_from_plan_file(plan_file_of(plan_of(name), 1 << 15), Text("app"), options)
    headers = sources.root() / "tests/target/platforms"
    library = "/usr/lib/arm-none-eabi/include" if is_arm(board) else f"{folder}/library"
    how = (
        *("-DSP=" + ('"mov %0, sp"' if is_arm(board) else '"mv %0, sp"'), "-w", "-std=gnu11"),
        *("-DCONFIG_APP_HEAP_K_MALLOC", *(("-DSIZED",) * design.needs_size)),
        *(f"-I{headers}", f"-I{headers.parent}", f"-I{folder}", f"-isystem{library}"),
    )
    objects: list[Path] = []
    for source in (*write_code(design, folder), Path("target/counting/painted.c")):
        objects.append(folder / f"{len(objects)}.o")
        workbench.compile(board, Build("Os", checks_words=False), str(source), objects[-1], how)
    return link_image(workbench, board, Build("Os"), folder, objects)


def is_arm(board: Board) -> bool:
    """True for a processor whose compiler has newlib's headers here."""
    return board.tools.startswith("arm")


def functions_of(form: str, name: str, board: Board) -> tuple[str, str]:
    """The two functions of a drop-in."""
    if form == "malloc" and not is_arm(board):
        return ("malloc", "free")
    if form == "bare":
        free = "app_free_sized" if name == "sized" else "app_free"
        return ("app_malloc_at" if name == BY_SITE else "app_malloc", free)
    return CALLED[form]


def find_stack(cases: WorstCases, function: str) -> int | None:
    """By the code; None where it calls what is no function of C, such as libgcc's on an M0."""
    try:
        return cases.find_stack(function)
    except UnboundedError as error:
        print(f"{function}: {error}", file=sys.stderr)
        return None


def measure(workbench: Workbench, board: Board, name: str) -> Iterator[tuple[str, str]]:
    """Each drop-in with the stack of its functions by the code; HeapfitError if it is too low."""
    image = build(workbench, board, name)
    seen = [int(word) for word in emulate(image).split() if word.isdigit()]
    cases = WorstCases(LinkedCode(image.path, board.tools))
    for form, depths in zip(CALLED, zip(seen[::2], seen[1::2], strict=True), strict=True):
        functions = functions_of(form, name, board)
        told = [find_stack(cases, one) for one in functions] if any(depths) else []
        for stack, depth, function in zip(told, depths, functions, strict=False):
            if stack is None:
                continue
            if stack < depth:
                raise HeapfitError(f"{name}, {board.name}: {function} took {depth} B, not {stack}")
            if stack > depth + ABOVE:
                print(f"{name} {board.name} {function}: {stack}, {depth} seen", file=sys.stderr)
        pairs = zip(told, depths, strict=False)
        yield form, ", ".join(f"{seen} seen" if one is None else str(one) for one, seen in pairs)


def main() -> None:
    """Prints, or writes, a row for each heap and drop-in."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", default="", help="heaps in whose name this is")
    add_option(arguments)
    wish = arguments.parse_args()
    shipped = [one.name for one in _engine.allocators() if one.ships and one.name != IN_PIECES]
    rows: list[list[str]] = []
    for name in (one for one in [*shipped, BY_SITE] if wish.only in one):
        with tempfile.TemporaryDirectory() as scratch:
            workbench = Workbench(Path(scratch))
            told = [dict(measure(workbench, board, name)) for board in BOARDS.values()]
        forms = ["bare", "recorder"] if name == BY_SITE else CALLED
        found = [[name, form, *(one[form] for one in told)] for form in forms]
        rows += [row for row in found if row[2]]
        print(*rows[-len(forms) :], sep="\n", flush=True)
    recorders = [row for row in rows if row[1] == "recorder"]
    rows = [*(row for row in rows if row not in recorders), ["the recorder", *recorders[0][1:]]]
    if wish.write:
        write_result("stacks", ["heap", "calls", *BOARDS], rows, keys=2)


if __name__ == "__main__":
    main()
