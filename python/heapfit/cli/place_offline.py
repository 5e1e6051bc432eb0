# SPDX-License-Identifier: Apache-2.0
"""`heapfit place` without a rule: known lifetimes in banks, and two programs in one memory."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from heapfit.cli.commands.memories import PlaceCommand
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.comparison.incumbents.heaps import MEMORY_HEAPS, find_heap
from heapfit.errors import HeapfitError
from heapfit.importers import has_known_lifetimes
from heapfit.memories.banks import Bank, BankedBuffers, place_in_banks
from heapfit.memories.joining import Joining, Meeting, join_programs
from heapfit.plan.memories import Memory, parse_memory
from heapfit.plan.quantities import format_share
from heapfit.plan.values import expand_names
from heapfit.results.parts import Column, Fields, Line, Part, Table, paragraph
from heapfit.trace.loaded import STANDARD_ALIGNMENT

TOO_SMALL = 3  # exit status
_WORK = {"import": 20, "read events": 10, "profile": 10, "place": 60}


def is_offline(command: PlaceCommand) -> bool:
    """True if no rule is asked for: there is one memory, or lifetimes are known."""
    return len(command.memories) == 1 or any(map(has_known_lifetimes, command.sources))


def run_offline(command: PlaceCommand) -> None:
    """Places buffers in banks, or two programs in one memory, and prints where."""
    allocators = expand_names(command.allocators or MEMORY_HEAPS[:1], MEMORY_HEAPS)
    given = (command.needs, command.report, command.horizon)
    if any(given) or len(allocators) > 1:
        raise HeapfitError(
            "--needs, --report, --horizon and several --allocators are for recordings in "
            "two memories"
        )
    if len(command.memories) > 1:
        print_result([*_divide(command)], command.as_json)
    else:
        _join(command, allocators[0])


def _divide(command: PlaceCommand) -> Iterator[Part]:
    """Known lifetimes in banks."""
    if len(command.sources) > 1:
        raise HeapfitError("give one network for banks, or two programs and one --memory")
    with progress_bar(_WORK) as progress:
        divided = place_in_banks(command.sources[0], command.memories, None, progress)
    if command.output is not None:
        divided.save(command.output)
    yield from _banks_parts(divided)
    if command.output is not None:
        count = len(divided.lifetimes)
        yield Line(f"{command.output}: {count:,} buffers and their places", is_copied=True)


def _banks_parts(divided: BankedBuffers) -> Iterator[Part]:
    columns: list[Column[Bank]] = [
        Column("name", "bank"),
        Column("size", "bytes"),
        Column("height", "used"),
        Column("is_least", "proven least", shown=lambda one: "yes" if one.is_least else "no"),
        Column("buffers", "buffers"),
        Column("moved", "of all bytes", shown=lambda one: _share(divided, one, "moved")),
        Column(
            "byte_events", "bytes x life", shown=lambda one: _share(divided, one, "byte_events")
        ),
    ]
    yield Table(columns, divided.banks, "banks")
    yield Line("")
    yield from paragraph(
        "The first bank has as many bytes as "
        + ("any division gives it (proven)" if divided.is_most else "was found (not proven)")
        + ": each buffer is written and read at least once. Lifetimes are those of the file."
    )
    yield Fields({"is_most": divided.is_most})


def _share(divided: BankedBuffers, bank: Bank, amount: str) -> str:
    return format_share(round(divided.share(bank, lambda one: int(getattr(one, amount))), 4))


def _join(command: PlaceCommand, allocator: str) -> None:
    """Two programs in one memory."""
    memory = parse_memory(command.memories[0], find_heap(allocator, STANDARD_ALIGNMENT).plan)
    if len(command.sources) != 2 or command.output is not None:
        raise HeapfitError(
            "one --memory is for two programs: give two recordings, or one and a network, and no "
            "-o; or give two memories"
        )
    first, second = command.sources
    with progress_bar(_WORK) as progress:
        joining = join_programs(first, second, allocator, progress=progress)
    print_result(_joining_parts(joining, memory), command.as_json)
    if joining.least > memory.size:
        raise typer.Exit(TOO_SMALL)


def _joining_parts(joining: Joining, memory: Memory) -> Iterator[Part]:
    first, second = joining.programs
    apart, most, least = joining.apart, joining.most, joining.least
    better = "one heap for both" if most < apart else "each its own"
    yield Fields({"memory": memory.name, "apart": apart, "together": most, "better": better})
    yield Fields({"fits": least <= memory.size})
    yield Fields({"alone": {one.name: one.alone for one in joining.programs}})
    yield from paragraph(
        f"Better: {better}. Apart they need {apart:,} B ({first.name} {first.alone:,}, "
        f"{second.name} {second.alone:,}), in one heap {most:,} B in the worst meeting tried."
    )
    columns: list[Column[Meeting]] = [
        Column("name", "in one heap"),
        Column("region", "bytes"),
        Column("over_apart", "over apart", lambda one: one.region / max(apart, 1)),
    ]
    yield Table(columns, joining.meetings, "meetings")
    missing = least - memory.size
    fits = "they fit" if missing <= 0 else f"they do not fit, {missing:,} B are missing in"
    yield from paragraph(
        f"With {least:,} B {fits} {memory.name} ({memory.size:,} B). Sizes are of these "
        "recordings, without the margin of another run."
    )
