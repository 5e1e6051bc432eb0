# SPDX-License-Identifier: Apache-2.0
"""`heapfit allocators`: the allocators, and what each costs."""

from __future__ import annotations

import textwrap
from importlib import import_module
from itertools import filterfalse
from pathlib import Path

from heapfit import _engine
from heapfit.cli.commands.comparisons import AllocatorsCommand
from heapfit.cli.printing.console import print_result
from heapfit.comparison.incumbents.heap import Heap, find_heap
from heapfit.comparison.incumbents.heap_names import (
    SYSTEM_HEAPS,
    find_heap_name,
    is_heap,
    list_offered_allocators,
)
from heapfit.drawing.parts import Column, Fields, Line, Part, Table, columns, object_of
from heapfit.drawing.text import WIDTH
from heapfit.plan.allocators import ALIGNMENTS, UNKNOWN, find_allocators, list_aliases
from heapfit.plan.plan import plan_table
from heapfit.plan.serving_region import SMALL_REQUEST, serving_region

_LABELS = 17  # columns before a figure's text


def run(command: AllocatorsCommand) -> None:
    for name in filterfalse(is_heap, command.names or ()):
        files = import_module("heapfit.importers.file_kind")  # which loads pyarrow
        if files.is_path(name):
            files.require_kind(Path(name))
    names = [find_heap_name(name) for name in command.names or ()]
    named = [name for name in names if name not in SYSTEM_HEAPS]
    infos = find_allocators(named) if named else [] if names else list_offered_allocators()
    heaps = [find_heap(name, 8) for name in SYSTEM_HEAPS if not names or name in names]
    print_result(_parts(infos, heaps, is_in_full=bool(command.names)), command.as_json)


def _parts(
    infos: list[_engine.AllocatorInfo], systems: list[Heap], *, is_in_full: bool
) -> list[Part]:
    blocks = [*map(_describe_whole, infos)] if is_in_full else _list(infos)
    if systems:
        blocks.append(["systems' heaps: simulated from their algorithms (docs/now.md)"])
    for heap in systems:
        blocks.append(_describe_system(heap))
        blocks += map(_describe_whole, find_allocators([heap.plan.allocator]) if is_in_full else [])
    return [
        Table(_COLUMNS, infos, "allocators"),
        Table(_SYSTEM, systems, "systems_heaps"),
        Fields({"aliases": list_aliases()}),
        *(Line(line) for line in "\n\n".join(map("\n".join, blocks)).split("\n")),
    ]


def _list(infos: list[_engine.AllocatorInfo]) -> list[list[str]]:
    """The allocators that may ship, then the others, each under a title."""
    core = [_describe(info) for info in infos if info.ships]
    baselines = [_describe(info) for info in infos if not info.ships]
    others = [["baselines: for comparison, on the host only"], *baselines] if baselines else []
    return [["core: may ship to firmware"], *core, *others]


def _describe_system(heap: Heap) -> list[str]:
    tolerance = f"within {heap.tolerance:g} %" if heap.tolerance else "equal"
    values = ",".join(f"{name}={value}" for name, value in heap.plan.scalars.items())
    return [
        f"{heap.name}: {heap.title}",
        *_wrap_labelled("checked against", f"{heap.version}: R {tolerance}"),
        *_wrap_labelled("what users set", heap.setting),
        *_wrap_labelled("places as", f"{heap.plan.allocator}:{values}"),
    ]


def _describe_whole(info: _engine.AllocatorInfo) -> list[str]:
    """An allocator with its layout and what its tunables mean."""
    tunables = {f"  {one.name}": _describe_tunable(one) for one in info.tunables}
    return [
        *_describe(info),
        "  layout",
        *(f"    {line}" for line in (info.layout or UNKNOWN).splitlines()),
        "  tunables in words",
        *(line for label, text in tunables.items() for line in _wrap_labelled(label, text)),
    ]


def _describe(info: _engine.AllocatorInfo) -> list[str]:
    aliases = ", ".join(alias for alias, name in list_aliases().items() if name == info.name)
    regions = (_describe_smallest(info, alignment) for alignment in ALIGNMENTS)
    standards = (
        f"{one.name}={one.standard if one.kind == 'scalar' else 'none'}" for one in info.tunables
    )
    labelled = {
        **({"also called": aliases} if aliases else {}),
        "origin": info.origin,
        "tunables": " ".join(standards),
        "worst case": info.worst_case,
        "bytes a block": info.block_bytes,
        "fragmentation": info.fragmentation,
        "smallest region": f"{', '.join(regions)}: for one block of {SMALL_REQUEST} B",
    }
    lines = (line for label, text in labelled.items() for line in _wrap_labelled(label, text))
    return [f"{info.name}: {info.title}", *lines]


def _wrap_labelled(label: str, text: str | None) -> list[str]:
    """A text after its label, wrapped; None is a figure that the descriptor does not give."""
    return textwrap.wrap(
        text or UNKNOWN,
        WIDTH,
        initial_indent=f"  {label:{_LABELS}}" if len(label) < _LABELS else f"  {label}: ",
        subsequent_indent=" " * (2 + _LABELS),
        break_on_hyphens=False,
    )


def _describe_smallest(info: _engine.AllocatorInfo, alignment: int) -> str:
    region = serving_region(info.name, alignment)
    told = "none up to 1 MiB" if region is None else f"{region:,} B"
    return f"{told} at alignment {alignment}"


def _describe_tunable(tunable: _engine.Tunable) -> str:
    if tunable.kind != "scalar":
        return tunable.meaning
    extent = f"{tunable.lowest} to {tunable.highest}, standard {tunable.standard}"
    return f"{tunable.meaning} [{extent}]"


_TUNABLE = columns("name", "meaning", "kind", "lowest", "highest", "standard")
_SYSTEM: tuple[Column[Heap], ...] = (
    *columns("name", "title", "version", "tolerance", "setting"),
    Column("plan", value=lambda heap: plan_table(heap.plan)),
)
_COLUMNS: tuple[Column[_engine.AllocatorInfo], ...] = (
    *columns("name", "title", "origin", "ships", "ignores_region_end"),
    *columns("worst_case", "block_bytes", "fragmentation", "layout"),
    Column(
        "smallest_region",
        value=lambda info: {str(one): serving_region(info.name, one) for one in ALIGNMENTS},
    ),
    Column("tunables", value=lambda info: [object_of(_TUNABLE, one) for one in info.tunables]),
)
