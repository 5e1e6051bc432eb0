# SPDX-License-Identifier: Apache-2.0
"""Every function of the generated header keeps its promise, whatever the arguments."""

from pathlib import Path

import pytest
from generated_code import HERE, PLANS, plan_file, run_with_heap

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
    config += [f"-I{HERE}", *options]
    run_with_heap(tmp_path / "code", HERE / "generated_calls.c", tmp_path / "made", *config)
