# SPDX-License-Identifier: Apache-2.0
"""A generated heap takes the place of a C library's, on an emulated board."""

from pathlib import Path

import pytest

from harness import sources
from harness.board import CORTEX_M3
from harness.emulator import emulate
from harness.image import Image
from heapfit.external_tool import run
from heapfit.generate import GenerateOptions, generate
from heapfit.plan.plan_file import load_plan

HERE = Path(__file__).parent
FLAGS = ("-std=gnu11", "-Os", "-Wall", "-Wextra", "-Werror", "-ffunction-sections")
LIBRARIES = {
    "newlib": ("--specs=nosys.specs",),
    "newlib-nano": ("--specs=nano.specs",),
    "picolibc": ("--specs=picolibc.specs",),
}
PLAN = """region = 32768
base_alignment = 64
pointer_bits = 32
[plan]
allocator = "tlsf"
alignment = 8
"""


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.usefixtures("unmeasured")
def test_all_blocks_of_a_c_library_are_the_generated_heaps(library: str, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    options = GenerateOptions(platforms=("malloc",))
    generate(load_plan(tmp_path / "plan.toml"), tmp_path / "code", options=options)
    board = ("start_arm", "start", "semihost")
    made = tmp_path / "malloc.elf"
    run(
        [
            *("arm-none-eabi-gcc", *CORTEX_M3.flags, *FLAGS, *LIBRARIES[library]),
            *(f"-I{sources.root() / 'target'}", f"-I{tmp_path / 'code'}"),
            HERE / "platform_malloc.c",
            *(sources.root() / f"target/board/{name}.c" for name in board),
            *(*(tmp_path / "code").glob("*.c"), *(tmp_path / "code").glob("src/*/*.c")),
            *("-nostartfiles", f"-L{sources.root()}/target/board", f"-T{CORTEX_M3.memories}"),
            *("-Wl,--no-warn-rwx-segments", "-Wl,--gc-sections", "-o", made),
        ],
        tmp_path,
    )
    assert emulate(Image(made, CORTEX_M3)) == "all blocks are its own\n"
