# SPDX-License-Identifier: Apache-2.0
"""Every code of the table is linked again: the label is the key to its bytes, and they are fresh.

A run links a tenth of the labels, another tenth each day; HEAPFIT_ALL_CODES=1 links all.
"""

import datetime
import functools
import os
import re
import zlib
from importlib.resources import files

import pytest

from grid import of_the_day
from harness.code_size import measure_shipped_sizes
from harness.codes import plan_of_code, save_codes
from harness.image import plan_file_of
from heapfit import _engine
from heapfit.comparison.costs.code_table import code_label, read_codes
from heapfit.external_tool import run
from heapfit.generate import GenerateOptions, generate
from heapfit.generate.code_size import weigh
from heapfit.generate.linked_folder import TARGET, TOOLS
from heapfit.plan.plan import Plan

LABELS = sorted(read_codes())
PARTS = 10
INSTRUCTION = re.compile(r"^ +[0-9a-f]+:\t", re.MULTILINE)  # of a disassembly
OTHER_COMPILER = 0.02  # of the bytes
SAME_CODE = (32, 0.05)  # bytes, or of the bytes, that another amount may add

PLANS = [
    Plan("tailored", {"alignment": 4, "layout": 1, "ends": 2, "high_0": 4096}),
    Plan("tlsf", {"alignment": 8, "probes": 2}),
    Plan("first_fit", {"alignment": 4, "list": 1, "least_split": 40}),
]
TODAY = datetime.datetime.now(datetime.UTC).date().toordinal() % PARTS
ALL = os.environ.get("HEAPFIT_ALL_CODES") == "1"
CHOSEN = [label for label in LABELS if ALL or zlib.crc32(label.encode()) % PARTS == TODAY]
# Not those that need sizes: `python -m harness count TRACE sized` counts them, and no model does.
MODELLED = {info.name for info in _engine.allocators() if info.ships and not info.needs_size}
AMOUNTS = [
    (info.name, tunable)
    for info in _engine.allocators()
    for tunable in info.tunables
    if info.name in MODELLED and tunable.kind == "scalar" and tunable.effect == "amount"
]


@pytest.mark.parametrize("label", LABELS)
def test_a_label_says_all_that_chooses_code(label: str) -> None:
    assert code_label(plan_of_code(label)) == label


@pytest.mark.parametrize("label", CHOSEN)
def test_a_code_linked_again_has_the_bytes_of_the_table(label: str) -> None:
    linked, code = measure_shipped_sizes(plan_of_code(label)), read_codes()[label]
    known = {} if code.size is None else {"bytes": code.size, "stack": code.stack} | code.adds
    assert known == pytest.approx(linked, rel=OTHER_COMPILER, abs=4)


@functools.cache
def link_standard(allocator: str) -> dict[str, int]:
    return measure_shipped_sizes(plan_of_code(allocator))


@pytest.mark.parametrize(
    ("allocator", "tunable"),
    of_the_day(4, AMOUNTS, ALL),
    ids=lambda one: one if isinstance(one, str) else one.name,
)
def test_an_amount_is_the_same_code(allocator: str, tunable: _engine.Tunable) -> None:
    pools, first = plan_of_code(allocator).pools, link_standard(allocator)
    for value in {tunable.lowest, min(tunable.highest, 4096) // 4 * 4} - {tunable.standard}:
        sizes = measure_shipped_sizes(Plan(allocator, {tunable.name: value}, pools))
        assert sizes.keys() == first.keys()
        for name, size in sizes.items():
            assert abs(size - first[name]) <= max(SAME_CODE[0], SAME_CODE[1] * first[name])


@pytest.mark.parametrize("plan", of_the_day(2, PLANS, ALL), ids=lambda plan: plan.allocator)
def test_a_readme_has_what_the_screen_prints_and_a_compiler_here_agrees(tmp_path, plan) -> None:
    generate(plan_file_of(plan, 65_536), tmp_path / "heap", options=GenerateOptions(counts=True))
    page = (tmp_path / "heap/README.md").read_text()
    rows = re.findall(r"ROM, code .*\| ([\d,]+) bytes .* ([\d,]+) with .*-mcpu=cortex-m4", page)
    printed, linked = ([int(one.replace(",", "")) for one in row] for row in rows)
    code = read_codes()[code_label(plan)]
    assert code.size is not None
    assert printed == [code.size, code.size + code.adds["all"]]
    for here, told in zip(linked, printed, strict=True):
        assert abs(here - told) <= max(SAME_CODE[0], SAME_CODE[1] * told)


def test_a_caller_that_passes_its_site_takes_one_more_instruction_of_two_bytes(tmp_path) -> None:
    generate(plan_file_of(plan_of_code("tailored:ends=2,tags>0"), 65_536), tmp_path / "heap")
    sizes = []
    for site in ("", "#define APP_HEAP_SITE 7\n"):
        text = f'{site}#include "app_heap.h"\nvoid *ask(void) {{ return app_malloc(24); }}\n'
        (tmp_path / "heap/caller.c").write_text(text)
        run([f"{TOOLS}gcc", *TARGET, "-Os", "-c", "caller.c"], tmp_path / "heap")
        listing = run([f"{TOOLS}objdump", "-d", "caller.o"], tmp_path / "heap")
        sizes.append((weigh(tmp_path / "heap/caller.o"), len(INSTRUCTION.findall(listing))))
    (bytes_without, without), (bytes_passed, passed) = sizes
    assert (bytes_passed, passed) == (bytes_without + 2, without + 1)


def test_every_allocator_that_ships_was_measured() -> None:
    assert {label.split(":")[0].split(" ")[0] for label in LABELS} == MODELLED


def test_as_many_blocks_as_a_region_holds_is_code_of_its_own() -> None:
    some, any_number = (read_codes()[f"fixed_pool{end}"].size for end in (":blocks>0", ""))
    assert some is not None and any_number is not None
    assert any_number > 1.1 * some


def test_the_tables_are_what_the_generator_writes(tmp_path):
    save_codes(tmp_path, read_codes())
    for written in tmp_path.iterdir():
        assert (
            written.read_text()
            == (files("heapfit") / "comparison" / "costs" / written.name).read_text()
        )
    assert len(list(tmp_path.iterdir())) == 2
