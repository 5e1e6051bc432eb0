# SPDX-License-Identifier: Apache-2.0
"""A trace replayed on a board, with what it printed and what its calls did."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.calls import Calls, read_calls
from harness.emulator import Watch, emulate
from harness.image import Image
from harness.packed_trace import PackedTrace
from heapfit.errors import HeapfitError

OPERATIONS = ("init", "alloc", "free", "free_sized", "resize", "resize_sized", "alloc_aligned")
# The functions of a generated header, by the operations of core that they make.
SHIPPED = {
    "alloc": "malloc",
    "free": "free",
    "resize": "realloc",
    "alloc_aligned": "aligned_alloc",
}
TAGGED = "alloc_at"  # of allocators that place by call site
_CLEARING = "image_clear"


@dataclass(frozen=True, slots=True)
class TargetReplay:
    """What an image printed of a replay, refusals counted."""

    placement_hash: int
    refusals: int
    footprint: int  # bytes
    stack: int  # address of the stack's end at every call


def replay(image: Image, trace: PackedTrace, frees_by_size: bool = False) -> TargetReplay:
    """Replays without counting."""
    trace.save(image.path.parent / "trace", frees_by_size)
    return _parse_output(emulate(image, ("trace",)))


def count_replay(
    image: Image, allocator: str, trace: PackedTrace, plugin: Path, frees_by_size: bool = False
) -> tuple[TargetReplay, Calls]:
    """Replays and counts every call of the allocator's functions."""
    trace.save(image.path.parent / "trace", frees_by_size)
    output = image.path.parent / "calls"
    has_tags = _name(allocator, TAGGED) in image.symbols
    operations = (*OPERATIONS, TAGGED) if has_tags else OPERATIONS
    functions = tuple(_name(allocator, one) for one in operations)
    watch = Watch(plugin, (*functions, _CLEARING), output)
    printed = _parse_output(emulate(image, ("trace",), watch))
    return printed, read_calls(output, (*operations, "clear"))


def count_shipped(image: Image, trace: PackedTrace, plugin: Path) -> Calls:
    """Counts every call of the generated header's functions; HeapfitError if one is refused."""
    trace.save(image.path.parent / "trace")
    output = image.path.parent / "calls"
    functions = tuple(f"replay_{name}" for name in SHIPPED.values())
    if "replay_malloc_at" in image.symbols:
        functions = ("replay_malloc_at", *functions[1:])
    printed = emulate(image, ("trace",), Watch(plugin, functions, output))
    if printed.split() != ["refusals", "0"]:
        raise HeapfitError(f"the image printed {printed[:200]!r}")
    return read_calls(output, tuple(SHIPPED))


def _name(allocator: str, operation: str) -> str:
    return f"hfit_{allocator}_{operation}"


def _parse_output(text: str) -> TargetReplay:
    words = dict(line.split() for line in text.splitlines())
    try:
        return TargetReplay(
            int(words["placements"], 16),
            int(words["refusals"]),
            int(words["footprint"]),
            int(words["stack"]),
        )
    except (KeyError, ValueError) as error:
        raise HeapfitError(f"the image printed {text[:200]!r}") from error
