# SPDX-License-Identifier: Apache-2.0
"""The contract suite of tests/contract on a board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness import sources
from harness.board import Board
from harness.emulator import emulate
from harness.image import Image, link_image
from harness.workbench import Build, Workbench
from heapfit.errors import HeapfitError


@dataclass(frozen=True, slots=True)
class Room:
    """Memory of a contract image, in bytes."""

    memory: int  # behind its malloc
    line: int  # the longest it prints
    options: tuple[str, ...] = ()


# For boards of megabytes and for 16 KB; target/contract/board_limits.h says what these are spared.
LARGE = Room(256 * 1024, 512)
SMALL = Room(8704, 160, ("-DCONTRACT_SMALL",))


def contract_image(
    workbench: Workbench, board: Board, build: Build, allocators: Sequence[str], room: Room
) -> Image:
    """An image of the suite over these allocators alone."""
    here = sources.root()
    folder = workbench.image_folder()
    listed = "".join(f"HFIT_ALLOCATOR({allocator})\n" for allocator in allocators)
    (folder / "allocators.def").write_text(listed, encoding="utf-8")
    for empty in ("baselines.def", "papers.def"):
        (folder / empty).touch()
    options = (
        *('-DHFIT_CONFIG_FILE="contract_config.h"', '-DCONTRACT_LIMITS="contract/board_limits.h"'),
        *(f"-DHOSTED_MEMORY={room.memory}", f"-DHOSTED_LINE={room.line}", *room.options),
        *(f"-I{here / 'target/contract/hosted'}", f"-I{here / 'tests/contract'}"),
        *(f"-I{here / 'tests'}", f"-I{here / 'baselines/include'}", f"-I{here / 'papers/include'}"),
    )
    core = (sources.allocator_source(allocator) for allocator in allocators)
    suite = (f"tests/contract/{name}.c" for name in ("contract", "model", "plans", "hooks"))
    own = ("target/contract/part.c", "target/contract/hosted.c", "core/src/pools/pools.c")
    shared = [
        workbench.build_shared_object(board, build, source, options)
        for source in (*core, *suite, *own)
    ]
    registries = [folder / f"{layer}.o" for layer in ("core", "baselines", "papers")]
    for made in registries:
        workbench.compile(board, build, f"{made.stem}/src/registry.c", made, options)
    return link_image(workbench, board, build, folder, [*registries, *shared])


def run_contract(image: Image, steps: int, share: int = 1, number: int = 0) -> list[str]:
    """What the suite prints, in as many runs as its plans need; HeapfitError if one fails.

    Of these runs the first, and of the others every `share`-th from run `number` on.
    """
    parts = 1
    while (first := _largest_part(image, steps, parts)) is None:
        parts *= 2
    others = range(number or share, parts, share)
    return [first, *(run_part(image, steps, part, parts) for part in others)]


def _largest_part(image: Image, steps: int, parts: int) -> str | None:
    """The first part of so many; None if it has more plans than the image has room for."""
    try:
        return run_part(image, steps, 0, parts)
    except HeapfitError as error:
        if "< MOST_PLANS" not in str(error):
            raise
        return None


def run_part(image: Image, steps: int, part: int, parts: int) -> str:
    """What the suite prints of every plan whose number is `part` modulo `parts`."""
    return emulate(image, ("all", str(steps), str(part), str(parts)))
