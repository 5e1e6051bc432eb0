# SPDX-License-Identifier: Apache-2.0
"""GDB draws the heaps of a stopped board as their own walks tell them."""

import re
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest
from test_generated_malloc import PLAN

from grid import ALL
from harness.board import BOARDS
from harness.image import link_image
from harness.workbench import Build, Workbench
from heapfit.generate import GenerateOptions, generate
from heapfit.plan.plan_file import load_plan

HERE = Path(__file__).parent
HEAPS = {
    "one": "",
    "two": PLAN.replace('allocator = "tlsf"', 'allocator = "good_fit"'),
    "three": PLAN.replace('allocator = "tlsf"', 'allocator = "first_fit"'),
}
ANY_PLAN = ("-DHFIT_ANY_PLAN",)
LOOK = ("one_heap list", "two_heap list", "three_heap list")


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of three heaps."""
    folder = tmp_path_factory.mktemp("heaps")
    options = GenerateOptions(platforms=("gdb",))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("heapfit.generate.link_images", lambda *_: nullcontext({}))
        patch.setattr("heapfit.generate.call_bounds", lambda *_: None)
        for name, plan in HEAPS.items():
            (folder / "plan.toml").write_text(plan or PLAN)
            generate(load_plan(folder / "plan.toml"), folder / name, name, options=options)
    return folder


def gdb(program: Path, code: Path, *commands: str) -> str:
    scripts = [f"source {code / name / 'heap_gdb.py'}" for name in HEAPS]
    # A busy machine may take longer to start the emulator than the two seconds that gdb waits.
    given = ("set remotetimeout 60", *scripts, *commands)
    words = [word for one in given for word in ("-ex", one)]
    started = ["gdb-multiarch", "-nx", "-batch", *words, str(program)]
    done = subprocess.run(started, capture_output=True, check=False, text=True, timeout=100)
    return done.stdout + done.stderr


def walked(text: str) -> list[list[str]]:
    """What the heaps' own walks printed, each sorted."""
    heaps = re.split(r"^(?:one|two|three)\n", text, flags=re.MULTILINE)[1:]
    return [sorted(heap.split("\n")[:-1]) for heap in heaps]


def listed(text: str) -> list[list[str]]:
    """What GDB listed, in the same form."""
    heaps = re.split(r"^(?:one|two|three)_heap: .*\n", text, flags=re.MULTILINE)[1:]
    rows = re.compile(r"^0x([0-9a-f]+) (\d+) (used|free)$", re.MULTILINE)
    return [
        sorted(
            f"{int(at, 16) & 0xFFFFFFFF} {size} {state}" for at, size, state in rows.findall(heap)
        )
        for heap in heaps
    ]


@pytest.mark.parametrize("board", ["cortex-m4", "rv32imac"] if ALL else ["cortex-m4"])
def test_gdb_draws_the_heaps_of_a_board(board: str, code: Path, workbench: Workbench) -> None:
    chosen, build = BOARDS[board], Build(optimisation="Og", checks_words=False)
    folder = workbench.image_folder()
    objects = []
    for name in HEAPS:
        paths = [code / name / f"{name}_heap.c", *sorted(code.glob(f"{name}/src/*/*.c"))]
        for source in paths:
            objects.append(folder / f"{name}-{source.stem}.o")
            options = (*ANY_PLAN, f"-I{code / name}")
            workbench.compile(chosen, build, str(source), objects[-1], options)
    main = folder / "main.o"
    includes = tuple(f"-I{code / name}" for name in HEAPS)
    workbench.compile(chosen, build, str(HERE / "drawn_heaps.c"), main, includes)
    image = link_image(workbench, chosen, build, folder, [main, *objects])
    semihosting = "enable=on,target=native,chardev=host"
    emulator = " ".join(
        [
            *(chosen.emulator, *chosen.machine, "-S", "-gdb", "stdio"),
            *(
                "-chardev",
                f"file,id=host,path={folder}/printed",
                "-semihosting-config",
                semihosting,
            ),
            *("-kernel", str(image.path)),
        ]
    )
    told = gdb(
        image.path,
        code,
        *(f"target remote | exec {emulator}", "break stopped", "continue", "one_heap", "continue"),
        *(*LOOK, "kill"),
    )
    of_heaps = walked((folder / "printed").read_text())
    assert [len(one) for one in of_heaps] == [40, 40, 40], "26 blocks and 14 holes, one to the end"
    assert listed(told) == of_heaps
    assert "one_heap_init() was not called yet" in told
    assert told.count("its check holds") == 3
