# SPDX-License-Identifier: Apache-2.0
"""Generated heaps in two memories place every block on the board where the joint replay has it."""

import random
from pathlib import Path

import numpy as np
import pytest

from harness.board import BOARDS, CORTEX_M3, Board
from harness.emulator import emulate
from harness.image import link_image
from harness.workbench import Build, Workbench
from heapfit import _engine
from heapfit.generate.memories import memories_texts
from heapfit.generate.names import Text
from heapfit.plan.memories import MemoriesPlan, Memory, MemoryRule
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import BY_HAND, PlanFile

REQUESTS = 20_000
DMA = 2
INTERNAL, PSRAM = ("internal", "psram"), ("psram", "internal")
PLAN = MemoriesPlan(
    (
        Memory("internal", 16_384, ("internal", "dma"), Plan("tlsf"), ".bss.internal_part"),
        Memory("psram", 131_072, (), Plan("best_fit"), ".bss.psram_region"),
    ),
    MemoryRule(INTERNAL, ((100, INTERNAL), (2**63 - 1, PSRAM)), (INTERNAL,), {1: 1}),
)
COLUMNS = ("op", "slot", "size", "alignment", "needs", "tag", "memory", "offset")


def drawn() -> dict[str, list[int]]:
    """Requests until 20,000 are served: DMA packets, tagged, small, large, aligned and resized."""
    draw = random.Random(7)
    events: dict[str, list[int]] = {name: [] for name in ("op", "object", "size", *COLUMNS[3:6])}
    live: dict[int, int] = {}
    born = served = 0
    while served < REQUESTS:
        if live and draw.random() < len(live) / 80:
            number = draw.choice(list(live))
            del live[number]
            row = (4, number, 0, 0, 0, 0)
        elif live and draw.random() < 0.1:
            number = draw.choice(list(live))
            row = (3, number, draw.randrange(1, 400), 0, live[number], 0)
        else:
            op = draw.choice([0, 0, 0, 1, 2])
            needs, tag = draw.choice([(DMA, 0), (0, 1), (0, 0), (0, 0)])
            size = 400 if needs else draw.randrange(1, 700)
            row = (op, born, size, 32 * (op == 2), needs, tag)
            live[born] = needs
            born += 1
        served += row[0] < 4
        for values, value in zip(events.values(), row, strict=True):
            values.append(value)
    return events


@pytest.fixture(scope="module")
def steps() -> str:
    """The requests and the places that the joint replay gives them, as C."""
    events = drawn()
    column = {name: np.array(values) for name, values in events.items()}
    array = _engine.EventArray()
    array.append(
        column["op"].astype(np.uint8),
        column["object"].astype(np.uint32),
        column["size"].astype(np.uint64),
        column["alignment"].astype(np.uint32),
    )
    replay = PLAN.replay(32, keeps_places=True)
    assert replay.feed(array, (column["needs"] << 8 | column["tag"]).astype(np.uint16))
    places = iter(zip(replay.numbers.tolist(), replay.offsets.tolist(), strict=True))
    assert set(replay.numbers.tolist()) == {0, 1}
    rows = []
    for row in zip(*events.values(), strict=True):
        memory, offset = next(places) if row[0] < 4 else (0, 0)
        rows.append(f"{{{', '.join(map(str, (*row, memory, offset)))}}},")
    fields = "".join(f"uint32_t {name}; " for name in COLUMNS)
    slots = max(events["object"]) + 1
    return "\n".join(
        [
            f"enum {{ SLOTS = {slots} }};",
            f"typedef struct step {{ {fields}}} step;",
            "extern unsigned char internal_region[16384], psram_region[131072];",
            "static const step steps[] = {",
            *rows,
            "};",
        ]
    )


@pytest.mark.parametrize("board", [CORTEX_M3, BOARDS["rv32imac"]], ids=lambda one: one.name)
def test_every_block_lies_as_in_the_replay(workbench: Workbench, board: Board, steps: str) -> None:
    folder, build = workbench.image_folder(), Build()
    file = PlanFile("two", PLAN.memories[0].plan, None, None, 32, 0, 32, BY_HAND, "")
    texts, _ = memories_texts(file, PLAN, Text("app"))
    regions = "".join(
        f'__attribute__((section("{one.section}"), aligned(32))) '
        f"unsigned char {one.name}_region[{one.size}];\n"
        for one in PLAN.memories
    )
    for name, text in (texts | {"steps.h": steps, "regions.c": regions}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    given = [f"-DAPP_{one.name.upper()}_REGION={one.name}_region" for one in PLAN.memories]
    externs = "extern unsigned char internal_region[], psram_region[];\n"
    wrapper = folder / "app_memories.c"
    wrapper.write_text(externs + wrapper.read_text())
    objects = []
    own = [str(folder / name) for name in texts if name.endswith(".c")]
    for source in [*own, str(folder / "regions.c"), "tests/target/memories_board.c"]:
        objects.append(folder / f"{Path(source).stem}.o")
        workbench.compile(board, build, source, objects[-1], given)
    printed = emulate(link_image(workbench, board, build, folder, objects)).split()
    assert printed == ["requests", str(REQUESTS), "alike", str(REQUESTS)]
