# SPDX-License-Identifier: Apache-2.0
"""The counting plug-in against assembly whose instructions and accesses are counted by hand."""

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness import sources
from harness.board import BOARDS, CORTEX_M3, Board
from harness.calls import Calls, Spread, read_calls
from harness.emulator import Watch, emulate
from harness.image import Image, link_image
from harness.workbench import Build, Workbench
from heapfit.errors import HeapfitError
from heapfit.external_tool import run

FUNCTIONS = ("nothing", "one_word", "calls_another", "loops", "one_push", "image_copy")
COUNTED = ("instructions", "loads", "stores", "heap_loads", "heap_stores", "payload")
BY_HAND = {
    "arm": {
        "nothing": (1, 0, 0, 0, 0, 0),
        "one_word": (5, 2, 1, 1, 1, 0),
        "calls_another": (15, 8, 6, 3, 3, 0),
        "loops": (24, 6, 0, 5, 0, 0),
        "one_push": (2, 1, 1, 0, 0, 0),
        "image_copy": (5, 2, 1, 0, 0, 4),
    },
    "riscv": {
        "nothing": (1, 0, 0, 0, 0, 0),
        "one_word": (6, 1, 1, 1, 1, 0),
        "calls_another": (19, 4, 4, 3, 3, 0),
        "loops": (24, 5, 0, 5, 0, 0),
        "one_push": (5, 1, 1, 0, 0, 0),
        "image_copy": (5, 1, 1, 0, 0, 4),
    },
}


def kind_of(board: Board) -> str:
    return "riscv" if board.name.startswith("rv") else "arm"


def image_of(board: Board, workbench: Workbench) -> Image:
    source = f"tests/target/counted_{kind_of(board)}.S"
    program = workbench.build_shared_object(board, Build(), source)
    return link_image(workbench, board, Build(), workbench.image_folder(), [program])


def counted(image: Image, workbench: Workbench) -> Calls:
    output = image.path.parent / "calls"
    emulate(image, (), Watch(workbench.plugin, FUNCTIONS, output))
    return read_calls(output, FUNCTIONS)


@pytest.mark.parametrize("board", BOARDS.values(), ids=lambda board: board.name)
def test_counts_equal_those_made_by_hand(board: Board, workbench: Workbench) -> None:
    calls = counted(image_of(board, workbench), workbench)
    for function, expected in BY_HAND[kind_of(board)].items():
        rows = [tuple(int(row[field]) for field in COUNTED) for row in calls.of(function)]
        times = 2 if function == "nothing" else 1
        # The call of one_word inside calls_another belongs to that one.
        assert rows == times * [expected], function


@pytest.mark.parametrize("board", BOARDS.values(), ids=lambda board: board.name)
def test_the_deepest_touched_byte_of_the_stack_is_found(board: Board, workbench: Workbench) -> None:
    calls = counted(image_of(board, workbench), workbench)
    top = int(calls.of("one_push")["lowest_stack"][0]) + 4
    assert calls.deepest_stack(top, "calls_another") == 12
    assert calls.deepest_stack(top, "nothing", "loops") == 0


def preempted_image(folder: Path) -> Image:
    """tests/target/preempted.c over the kernel of examples/firmware."""
    root = sources.root()
    firmware = root / "examples/firmware"
    parts = ("heap/own.c", "kernel/kernel.c", "kernel/timers.c", "kernel/cortex_m.c")
    board = [
        root / "target/board" / name
        for name in ("start.c", "start_arm.c", "semihost.c", "memory.c")
    ]
    made = folder / "preempted.elf"
    run(
        [
            *("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-std=c11", "-ffreestanding"),
            *("-Os", "-Wall", "-Wextra", "-Werror", "-DHEAP_BYTES=8192", "-nostdlib"),
            *(f"-I{firmware}", f"-I{firmware / 'freertos'}", f"-I{root / 'target'}"),
            root / "tests/target/preempted.c",
            *(firmware / part for part in parts),
            *board,
            *(f"-L{root / 'target/board'}", "-Tmps2.ld", "-lgcc", "-o", made),
        ],
        folder,
    )
    machine = (*CORTEX_M3.machine, "-icount", "shift=6,sleep=off")  # ticks by instructions
    return Image(made, replace(CORTEX_M3, machine=machine))


def heap_calls(image: Image, workbench: Workbench, how: str, code: tuple[str, ...]) -> list[int]:
    """Instructions of each call of heap_call."""
    output = image.path.parent / how
    emulate(image, (how,), Watch(workbench.plugin, ("heap_call",), output, code))
    return [int(one) for one in read_calls(output, ("heap_call",)).of("heap_call")["instructions"]]


def test_a_call_counts_the_same_whether_tasks_interrupt_it_or_not(
    tmp_path: Path, workbench: Workbench
) -> None:
    image = preempted_image(tmp_path)
    code = ("heap_call", "heap_part", "heap_step")
    third, second, *first = heap_calls(image, workbench, "alone", code)
    assert len(first) == 300 and len(set(first)) == 1
    counted = heap_calls(image, workbench, "tasks", code)
    assert set(counted) == {first[0], second, third}
    assert min(counted.count(second), counted.count(third)) > 20
    # Counted by entry and return alone, a call has what the others do in it, too.
    misled = heap_calls(image, workbench, "tasks", ())
    assert sum(misled) / len(misled) > 1.05 * sum(counted) / len(counted)


def test_two_runs_give_the_same_records(workbench: Workbench) -> None:
    image = image_of(BOARDS["cortex-m4"], workbench)
    first, second = (counted(image, workbench).records.tobytes() for _ in range(2))
    assert first == second


def test_a_spread_tells_mean_percentile_and_worst() -> None:
    rows = np.zeros(2000, [("function", "<u4"), ("instructions", "<u4")])
    rows["instructions"] = np.arange(2000)[::-1]
    calls = Calls(("alloc", "free"), rows)
    assert calls.spread("alloc") == Spread(2000, 999.5, 1997, 1999)
    assert calls.spread("free") is None


def test_a_watched_function_that_is_not_there_is_told(workbench: Workbench) -> None:
    image = image_of(BOARDS["cortex-m4"], workbench)
    with pytest.raises(HeapfitError, match="has no missing to watch"):
        emulate(image, (), Watch(workbench.plugin, ("nothing", "missing"), image.path))


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("loader") / "loader"
    root = sources.root()
    files = [root / "tests/target/plugin_loader.c", root / "target/counting/calls.c"]
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{root / 'target'}"]
    subprocess.run([*command, *files, "-o", program], check=True)
    return program


def install(loader: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([loader, *words], capture_output=True, text=True, check=True)


def test_another_version_of_the_plugin_interface_is_refused_and_told(
    loader: Path, tmp_path: Path
) -> None:
    output = f"out={tmp_path / 'calls'}"
    assert install(loader, "0", "1", output).stdout == "0\n"
    refused = install(loader, "2", "4", output)
    assert refused.stdout == "1\n"
    assert "made for API version 1, but this QEMU offers 2 to 4" in refused.stderr


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ("watch", "cannot take watch"),
        ("cpu=1", "cannot take cpu=1"),
        ("out=/nowhere/at/all", "cannot take out=/nowhere/at/all"),
        ("watch=10", "no out=FILE"),
    ],
)
def test_an_argument_it_cannot_take_is_told(loader: Path, argument: str, told: str) -> None:
    refused = install(loader, "0", "1", argument)
    assert refused.stdout == "1\n"
    assert told in refused.stderr
