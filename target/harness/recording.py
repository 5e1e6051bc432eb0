# SPDX-License-Identifier: Apache-2.0
"""recorder/target on a board: what it writes, and what it costs there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness import sources
from harness.board import CORTEX_M3, Board
from harness.calls import Calls, read_calls
from harness.emulator import Watch, emulate
from harness.image import Image, core_objects, link_image, replay_design, write_plan
from harness.packed_trace import PackedTrace
from harness.workbench import Build, Workbench
from heapfit.plan.plan import Plan

_CONFIG = '-DHFIT_RECORD_CONFIG_FILE="adapters/freertos_config.h"'
_WRAPPED = ("pvPortMalloc", "pvPortCalloc", "vPortFree")
# What a user compiles; the image has what of it is called.
_RECORDER = (
    *("record", "adapters/one_heap", "adapters/freertos"),
    *("sinks/semihosting", "sinks/characters"),
)
FRAMES = "heapfit.frames"
_MAP = "image.map"
_BUILD = Build(
    "Os",
    safety=0,
    linked_with=(f"-Wl,-Map={_MAP}", *(f"-Wl,--wrap={name}" for name in _WRAPPED)),
)
_HEAP_4 = Plan("first_fit", {"list": 1, "header_size": 8, "least_split": 17})
EVENTS = ("hfit_record_alloc", "hfit_record_free")  # what an event of most programs is


@dataclass(frozen=True, slots=True)
class Setting:
    """How an image records; the defaults are those of the published figures."""

    tick_rate: int = 1000  # a second
    events_a_second: int = 3700
    drain_each: int = 5  # ms
    ring: int = 1024  # bytes
    has_uart: bool = False  # frames go there, not to a file
    has_call_sites: bool = False


@dataclass(frozen=True, slots=True)
class Recorded:
    """A trace as the board recorded it."""

    frames: Path
    calls: Calls | None


def recording_image(workbench: Workbench, region: int, setting: Setting) -> Image:
    """An application that is recorded, on a heap that places blocks as FreeRTOS's heap_4 does."""
    folder = workbench.image_folder()
    written = write_plan(replay_design(_HEAP_4, region), folder)
    options = _options(setting)
    objects = []
    for name in ("recording", "heap"):
        objects.append(folder / f"{name}.o")
        workbench.compile(CORTEX_M3, _BUILD, f"target/recording/{name}.c", objects[-1], options)
    for name in _RECORDER:
        objects.append(folder / f"{Path(name).name}.o")
        workbench.compile(CORTEX_M3, _BUILD, f"recorder/target/{name}.c", objects[-1], options)
    objects += core_objects(workbench, CORTEX_M3, _BUILD, written)
    image = link_image(workbench, CORTEX_M3, _BUILD, folder, objects)
    return replace(image, board=_with_uart(CORTEX_M3)) if setting.has_uart else image


def _with_uart(board: Board) -> Board:
    """The same board, whose first UART writes to a file."""
    at = board.machine.index("-serial")
    machine = (*board.machine[:at], "-serial", f"file:{FRAMES}", *board.machine[at + 2 :])
    return replace(board, machine=machine)


def _options(setting: Setting) -> Sequence[str]:
    here = sources.root()
    return (
        _CONFIG,
        f"-DIMAGE_TICK_RATE={setting.tick_rate}",
        f"-DIMAGE_EVENTS_A_SECOND={setting.events_a_second}",
        f"-DIMAGE_DRAIN_EACH={setting.drain_each}",
        f"-DHFIT_RECORD_RING_SIZE={setting.ring}",
        *(f"-I{here / folder}" for folder in ("", "recorder/target", "target/recording/freertos")),
        *(["-DIMAGE_HAS_UART"] if setting.has_uart else []),
        f"-DHFIT_RECORD_CALL_SITES={int(setting.has_call_sites)}",
    )


def record_on_board(
    image: Image, trace: PackedTrace, plugin: Path | None = None, watched: Sequence[str] = EVENTS
) -> Recorded:
    """Runs the image on the trace; counts calls of the watched functions if there is a plug-in."""
    folder = image.path.parent
    trace.save(folder / "trace")
    functions, output = tuple(watched), folder / "calls"
    watch = None if plugin is None else Watch(plugin, functions, output)
    emulate(image, ("trace",), watch)
    return Recorded(folder / FRAMES, None if watch is None else read_calls(output, functions))


def text_bytes(image: Image) -> dict[str, int]:
    """Bytes of each function and constant of the recorder that the linker kept, by section."""
    units = "|".join(Path(name).name for name in _RECORDER)
    kept = re.compile(
        rf"^ \.(?:text|rodata)\.(\S+)\s+0x[0-9a-f]{{8,}}\s+0x([0-9a-f]+) \S*/(?:{units})\.o$",
        re.MULTILINE,
    )
    linked = (image.path.parent / _MAP).read_text().partition("\nLinker script and memory map\n")[2]
    sizes: dict[str, int] = {}
    for name, size in kept.findall(linked):
        sizes[name] = sizes.get(name, 0) + int(size, 16)
    return sizes
