# SPDX-License-Identifier: Apache-2.0
"""Runs an image, with or without the plug-in that counts its calls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.image import Image
from heapfit.errors import HeapfitError
from heapfit.external_tool import run

_PAYLOAD_CODE = ("image_copy", "image_clear")
_REGIONS = ("replay_heap_region", "region")  # of a generated heap, of a plug-in


@dataclass(frozen=True, slots=True)
class Watch:
    """What the plug-in shall count."""

    plugin: Path
    functions: tuple[str, ...]  # records tell them by their number here
    output: Path
    code: tuple[str, ...] = ()  # the heap's functions, where others interrupt it; none: all code


def emulate(image: Image, arguments: tuple[str, ...] = (), watch: Watch | None = None) -> str:
    """What the image prints; HeapfitError if it does not end with 0."""
    words = ",".join(f"arg={word}" for word in (image.path.name, *arguments))
    counting = () if watch is None else ("-plugin", _plugin_options(image, watch))
    return run(
        [
            *(image.board.emulator, *image.board.machine, *counting),
            *("-chardev", "stdio,id=host"),
            *("-semihosting-config", f"enable=on,target=native,chardev=host,{words}"),
            *("-kernel", image.path.name),
        ],
        image.path.parent,
    )


def _plugin_options(image: Image, watch: Watch) -> str:
    symbols = image.symbols
    missing = [name for name in (*watch.functions, *watch.code) if name not in symbols]
    if missing:
        raise HeapfitError(f"{image.path.name}: has no {', '.join(missing)} to watch")

    def whole(name: str) -> str:
        address, size = symbols[name]
        return f"{address & ~1:x}:{(address & ~1) + size:x}"

    stack = f"{symbols['bss_end'][0]:x}:{symbols['stack_end'][0]:x}"
    options = [f"file={watch.plugin}", f"out={watch.output}", f"stack={stack}"]
    options += [f"watch={symbols[name][0] & ~1:x}" for name in watch.functions]
    options += [f"code={whole(name)}" for name in watch.code]
    options += [f"payload={whole(name)}" for name in _PAYLOAD_CODE if name in symbols]
    options += [f"region={whole(name)}" for name in _REGIONS if name in symbols]
    return ",".join(options)
