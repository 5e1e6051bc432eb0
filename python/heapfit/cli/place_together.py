# SPDX-License-Identifier: Apache-2.0
"""`heapfit place` with one memory: two programs in one heap, or apart."""

from __future__ import annotations

from heapfit.cli.commands.memories import PlaceCommand
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.heaps import MEMORY_HEAPS
from heapfit.errors import HeapfitError
from heapfit.memories.joining import Joining, join_programs
from heapfit.plan.memories import Memory, parse_memory
from heapfit.plan.values import expand_names
from heapfit.results.parts import Column, Fields, Line, Part, Table
from heapfit.trace.loaded import STANDARD_ALIGNMENT

TOO_SMALL = 3  # exit status
_WORK = {"import": 20, "read events": 10, "profile": 10, "place": 60}


def join(command: PlaceCommand) -> None:
    """Two programs in one memory; exit status 3 if it has no room for them."""
    allocators = expand_names(command.allocators or MEMORY_HEAPS[:1], MEMORY_HEAPS)
    if command.needs or command.report or command.horizon or len(allocators) > 1:
        raise HeapfitError(
            "--needs, --report, --horizon and several --allocators are for recordings in two "
            "memories"
        )
    memory = parse_memory(command.memories[0], find_heap(allocators[0], STANDARD_ALIGNMENT).plan)
    if len(command.sources) != 2 or command.output is not None:
        raise HeapfitError(
            "one --memory is for two programs: give two recordings, or one and a network, and no "
            "-o; or give two memories"
        )
    first, second = command.sources
    with progress_bar(_WORK) as progress:
        joining = join_programs(first, second, allocators[0], progress=progress)
    print_result(_joining_parts(joining, memory), command.as_json)
    if joining.least > memory.size:
        raise SystemExit(TOO_SMALL)


def _joining_parts(joining: Joining, memory: Memory) -> list[Part]:
    first, second = joining.programs
    apart, most, least = joining.apart, joining.most, joining.least
    better = "one heap for both" if most < apart else "each its own"
    missing = least - memory.size
    fits = "they fit" if missing <= 0 else f"they do not fit, {missing:,} B are missing in"
    columns: list[Column[tuple[str, int]]] = [
        Column("name", "in one heap", lambda one: one[0]),
        Column("region", "bytes", lambda one: one[1]),
        Column("over_apart", "over apart", lambda one: one[1] / max(apart, 1)),
    ]
    fields = {
        "memory": memory.name,
        "apart": apart,
        "together": most,
        "better": better,
        "fits": missing <= 0,
        "alone": {one.name: one.alone for one in joining.programs},
    }
    return [
        Fields(fields),
        Line(
            f"Better: {better}. Apart they need {apart:,} B ({first.name} {first.alone:,}, "
            f"{second.name} {second.alone:,}), in one heap {most:,} B in the worst meeting tried."
        ),
        Table(columns, joining.meetings, "meetings"),
        Line(
            f"With {least:,} B {fits} {memory.name} ({memory.size:,} B). Sizes are of these "
            "recordings, without the margin of another run."
        ),
    ]
