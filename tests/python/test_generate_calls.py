# SPDX-License-Identifier: Apache-2.0
"""Every function of the generated header keeps its promise, whatever the arguments."""

import subprocess
from pathlib import Path

import pytest
from generated_code import HERE, PLANS, compile_objects, plan_file

from grid import thin
from heapfit.generate import generate

pytestmark = pytest.mark.usefixtures("unmeasured")


OPTIONS = (
    ("-m32", "-O2"),
    ("-m64", "-fsanitize=undefined,address", "-g"),
    ("-m32", "-O2", "-DHFIT_SAFETY=3"),
    ("-m64", "-fsanitize=undefined,address", "-DHFIT_SAFETY=3"),
)


@pytest.mark.parametrize(("name", "options"), thin(4, PLANS, OPTIONS))
def test_a_generated_heap_survives_every_call(
    tmp_path: Path, name: str, options: tuple[str, ...]
) -> None:
    generate(plan_file(PLANS[name]), tmp_path / "code")
    config = ['-DAPP_HEAP_LOCK_FILE="generated_calls.h"', "-DHFIT_ON_MISUSE=misuse_told"]
    objects = compile_objects(tmp_path / "code", tmp_path, *options, *config, f"-I{HERE}")
    program = [str(HERE / "generated_calls.c"), *map(str, objects), "-o", str(tmp_path / "calls")]
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", *options]
    subprocess.run([*command, f"-I{tmp_path / 'code'}", f"-I{HERE}", *program], check=True)
    subprocess.run([tmp_path / "calls"], check=True, timeout=120)
