# SPDX-License-Identifier: Apache-2.0
"""All the C of a heap in one file is the same heap."""

import subprocess
from pathlib import Path

import pytest
from core_names import write_platform
from generated_code import HERE, NO_MEMSET, PLANS, STRICT, plan_file, run_with_heap

from grid import thin
from heapfit import _engine
from heapfit.generate import GenerateOptions, generate
from heapfit.plan.plan import Plan, Pool

pytestmark = pytest.mark.usefixtures("unmeasured")

ONE = GenerateOptions(("one-file",), counts=True)
POOLS = (Pool(40, 16, True), Pool(100, 8, True))


def plan_of(info: _engine.AllocatorInfo) -> Plan:
    kinds = {tunable.kind for tunable in info.tunables}
    shared = Plan("best_fit") if "shared" in kinds else None
    return Plan(info.name, pools=POOLS if "pools" in kinds else (), shared=shared)


WHOLE = {
    info.name: plan_of(info)
    for info in _engine.allocators()
    if info.ships and not info.in_pieces and info.name != "fixed_pool"
}


OPTIONS = (("-Os",), ("-DHFIT_SAFETY=3", "-m32"), ("-DHFIT_SAFETY=0",))


@pytest.mark.parametrize(("name", "options"), thin(3, WHOLE, OPTIONS))
def test_one_file_of_any_allocator_compiles_without_a_warning(
    tmp_path: Path, name: str, options: tuple[str, ...]
) -> None:
    generate(plan_file(WHOLE[name]), tmp_path / "code", options=ONE)
    assert [path.name for path in (tmp_path / "code").rglob("*.c")] == ["app_heap.c"]
    assert {path.name for path in (tmp_path / "code").rglob("*.h")} == {"app_heap.h"}
    platform = write_platform(tmp_path / "platform")  # whose names are core's
    lock = (f"-I{platform}", '-DAPP_HEAP_LOCK_FILE="user_lock.h"')
    command = ["gcc", *STRICT, NO_MEMSET, *lock, *options, "-fsyntax-only", "app_heap.c"]
    subprocess.run(command, cwd=tmp_path / "code", check=True)


@pytest.mark.parametrize("name", ["tlsf", "budgeted"])
def test_one_file_serves_every_call_as_many_do(tmp_path: Path, name: str) -> None:
    generate(plan_file(PLANS[name]), tmp_path / "code", options=GenerateOptions(("one-file",)))
    config = ['-DAPP_HEAP_LOCK_FILE="generated_calls.h"', "-DHFIT_ON_MISUSE=misuse_told"]
    config += [f"-I{HERE}", "-O1"]
    run_with_heap(tmp_path / "code", HERE / "generated_calls.c", tmp_path / "made", *config)


def test_two_heaps_in_one_file_each_cannot_be_one(tmp_path: Path) -> None:
    generate(plan_file(PLANS["tlsf"]), tmp_path / "code", options=ONE)
    command = ["gcc", *STRICT, "-DHFIT_ANY_PLAN", "-fsyntax-only", "app_heap.c"]
    done = subprocess.run(
        command, cwd=tmp_path / "code", capture_output=True, text=True, check=False
    )
    assert "one file is the heap of one plan" in done.stderr


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("first_fit", set()),
        ("tlsf", {"__clzsi2", "__ctzsi2"}),
        ("budgeted", {"__clzsi2", "__ctzsi2", "__aeabi_lmul"}),
    ],
)
def test_on_a_cortex_m0_gcc_calls_what_its_own_library_has(
    tmp_path: Path, name: str, needed: set[str]
) -> None:
    """docs/generate.md tells which."""
    generate(plan_file(PLANS[name]), tmp_path / "code", options=ONE)
    target = ("-mcpu=cortex-m0", "-mthumb", "-Os")
    command = ["arm-none-eabi-gcc", *target, *STRICT, NO_MEMSET, "-c", "app_heap.c", "-o", "x.o"]
    subprocess.run(command, cwd=tmp_path / "code", check=True)
    listing = subprocess.run(
        ["arm-none-eabi-nm", "--undefined-only", "--format=just-symbols", "x.o"],
        cwd=tmp_path / "code", check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert set(listing.split()) == needed


def test_a_region_lies_in_the_section_that_a_build_names(tmp_path: Path) -> None:
    generate(plan_file(PLANS["tlsf"]), tmp_path / "code", options=ONE)
    define = '-DAPP_HEAP_SECTION=".psram_bss"'
    command = ["gcc", *STRICT, NO_MEMSET, define, "-c", "app_heap.c", "-o", "x.o"]
    subprocess.run(command, cwd=tmp_path / "code", check=True)
    listing = subprocess.run(
        ["objdump", "-h", "x.o"], cwd=tmp_path / "code", check=True, capture_output=True, text=True
    ).stdout
    (row,) = [line.split() for line in listing.splitlines() if ".psram_bss" in line]
    assert int(row[2], 16) == 65_536
