# SPDX-License-Identifier: Apache-2.0
"""A heap generated with --record records itself: each call, as the program made it."""

import subprocess
from pathlib import Path

import pytest
from generated_code import NO_MEMSET, PLANS, plan_file

from heapfit.generate import GenerateOptions, generate
from heapfit.importers import import_file
from heapfit.plan.plan import Plan

pytestmark = pytest.mark.usefixtures("unmeasured")

STRICT = ("gcc", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", NO_MEMSET)
PROGRAM = """
#include "app_heap.h"
#ifdef APP_HEAP_RECORDS
#include "record.h"
#endif
#include "sinks/sinks.h"
#include <stdio.h>

int main(void) {
    hfit_character_sink out = {.put = putchar};
    unsigned char outside = 0;
    if (app_malloc(7) != NULL || !app_heap_init()) {
        return 1; /* the first was asked of no heap */
    }
    void *first = app_malloc(100);
    void *second = app_calloc(3, 10);
    void *third = app_aligned_alloc(64, 24);
    FREE(&outside);
    first = RESIZE(first, 100, 500);
    if (first == NULL || third == NULL || app_malloc(70000) != NULL) {
        return 1;
    }
    FREE_OF(second, 30);
    FREE_OF(NULL, 0);
    hfit_record_close_frame(&app_heap_recorder);
    return hfit_record_drain(&app_heap_recorder, hfit_record_to_characters, &out) ? 0 : 1;
}
"""
PLAIN = (
    *("-DFREE(block)=app_free(block)", "-DFREE_OF(block,size)=app_free(block)"),
    "-DRESIZE(block,old,size)=app_realloc(block,size)",
)
SIZED = (
    *("-DFREE(block)=(void)(block)", "-DFREE_OF(block,size)=app_free_sized(block,size)"),
    "-DRESIZE(block,old,size)=app_realloc_sized(block,old,size)",
)
COLUMNS = {  # of what was served: malloc, calloc, aligned_alloc, realloc of the first, free
    "op": [0, 0, 2, 3, 4],
    "object": [0, 1, 2, 0, 1],
    "size": [100, 30, 24, 500, 0],
    "alignment": [0, 0, 64, 0, 0],
}
REFUSED = ("2 requests that the heap refused left out, the largest of 70000 bytes.",)


@pytest.mark.parametrize("name", ["tlsf", "budgeted", "sized", "one file"])
def test_a_heap_records_what_its_program_asks(name: str, tmp_path: Path) -> None:
    options = GenerateOptions(("one-file",) if name == "one file" else (), records=True)
    plan = PLANS.get(name, Plan("sized" if name == "sized" else "tlsf"))
    generate(plan_file(plan, 16_384), tmp_path / "code", options=options)
    (tmp_path / "main.c").write_text(PROGRAM)
    sources = [*tmp_path.glob("code/*.c"), *tmp_path.glob("code/src/*/*.c")]
    sources += [tmp_path / "code/sinks/characters.c", tmp_path / "main.c"]
    forms = SIZED if name == "sized" else PLAIN
    command = [*STRICT, *forms, "-Icode", *map(str, sources), "-o", "program"]
    subprocess.run(command, cwd=tmp_path, check=True)
    log = subprocess.run([tmp_path / "program"], check=True, capture_output=True).stdout
    (tmp_path / "heapfit.frames").write_bytes(log)
    trace = import_file(tmp_path / "heapfit.frames", tmp_path / "trace.parquet")
    columns = next(trace.batches(tuple(COLUMNS)))
    assert {name: column.tolist() for name, column in columns.items()} == COLUMNS
    assert trace.info.notes == REFUSED
