# SPDX-License-Identifier: Apache-2.0
"""A dump that GDB makes of a stopped board has the heaps as their own walks tell them."""

import json
import os
import re
import subprocess
import sys
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
RECORDS = ("one_heap_of_tlsf_8", "two_heap_of_good_fit_8", "three_heap_of_first_fit_8_4")
ANY_PLAN = ("-DHFIT_ANY_PLAN",)


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


def gdb(program: Path, script: Path, *commands: str) -> str:
    # A busy machine may take longer to start the emulator than the two seconds that gdb waits.
    given = ("set remotetimeout 60", f"source {script}", *commands)
    words = [word for one in given for word in ("-ex", one)]
    done = subprocess.run(
        ["gdb-multiarch", "-nx", "-batch", *words, str(program)],
        capture_output=True,
        check=False,
        text=True,
        timeout=100,
        cwd=program.parent,
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )
    return done.stdout + done.stderr


def walked(text: str) -> list[list[str]]:
    """What the heaps' own walks printed, each sorted."""
    heaps = re.split(r"^(?:one|two|three)\n", text, flags=re.MULTILINE)[1:]
    return [sorted(heap.split("\n")[:-1]) for heap in heaps]


def listed(told: str) -> list[list[str]]:
    """What heapfit listed, in the same form."""
    heaps = json.JSONDecoder().raw_decode(told, told.index("\n{") + 1)[0]["heaps"]
    states = {"live": "used", "free": "free"}
    rows = {
        heap["name"]: sorted(
            f"{one['address']} {one['size']} {states[one['state']]}" for one in heap["blocks"]
        )
        for heap in heaps
    }
    return [rows[name] for name in RECORDS]


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
        code / "one" / "heap_gdb.py",
        *(f"target remote | exec {emulator}", "break stopped", "continue", "one_heap", "continue"),
        *("one_heap --json", "kill"),
    )
    of_heaps = walked((folder / "printed").read_text())
    assert [len(one) for one in of_heaps] == [40, 40, 40], "26 blocks and 14 holes, one to the end"
    assert listed(told) == of_heaps
    assert "(one_heap_of_tlsf_8): was not used yet" in " ".join(told.split())
