# SPDX-License-Identifier: Apache-2.0
"""What is generated for a platform does there what the platform's own heap does."""

import subprocess
from pathlib import Path

import pytest
from generated_code import HERE, NO_MEMSET, PLANS, ROOT, plan_file

from heapfit.errors import HeapfitError
from heapfit.generate import GenerateOptions, generate
from heapfit.plan.plan import Plan

pytestmark = pytest.mark.usefixtures("unmeasured")

STAND_INS = ROOT / "tests/target/platforms"
STRICT = ("gcc", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", NO_MEMSET)


def generated(folder: Path, platform: str, plan: Plan, region: int = 16_384) -> Path:
    options = GenerateOptions(platforms=(platform,))
    generate(plan_file(plan, region), folder / "code", options=options)
    return folder / "code"


def compiled(code: Path, program: Path, *options: str) -> Path:
    """A program of the whole folder and one source more."""
    sources = [program, *sorted(code.glob("*.c")), *sorted(code.glob("src/*/*.c"))]
    made = code.parent / "program"
    command = [*STRICT, *options, f"-I{code}", f"-I{STAND_INS}", *map(str, sources)]
    subprocess.run([*command, "-o", str(made)], check=True)
    return made


@pytest.mark.parametrize("name", ["first_fit", "tlsf", "budgeted"])
def test_a_heap_for_freertos_does_what_heap_4_does(tmp_path: Path, name: str) -> None:
    code = generated(tmp_path, "freertos", PLANS[name])
    subprocess.run(
        [compiled(code, HERE / "platform_freertos.c", "-fsanitize=undefined")], check=True
    )


def test_a_plan_of_less_alignment_than_freertos_has_is_not_compiled(tmp_path: Path) -> None:
    code = generated(tmp_path, "freertos", Plan("tlsf", {"alignment": 4}))
    command = ["gcc", "-fsyntax-only", f"-I{code}", f"-I{STAND_INS}", str(code / "heap_hfit.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "portBYTE_ALIGNMENT is larger than the plan's alignment" in done.stderr


def test_a_platform_that_frees_without_sizes_takes_no_plan_that_needs_them(tmp_path: Path) -> None:
    with pytest.raises(HeapfitError, match="sized must be told each size at free, and FreeRTOS's"):
        generated(tmp_path, "freertos", Plan("sized"))


def test_an_unknown_platform_is_told(tmp_path: Path) -> None:
    with pytest.raises(HeapfitError, match="platform 'vxworks': is none of freertos"):
        generated(tmp_path, "vxworks", PLANS["tlsf"])
