# SPDX-License-Identifier: Apache-2.0
"""`heapfit allocators`: the allocators, and what each costs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from heapfit import _engine
from heapfit.cli.commands.comparisons import AllocatorsCommand
from heapfit.cli.printing.console import print_result
from heapfit.comparison.incumbents.heap import Heap, find_heap
from heapfit.comparison.incumbents.heaps import (
    SYSTEM_HEAPS,
    find_heap_name,
    list_offered_allocators,
)
from heapfit.importers.file_kind import is_path, require_kind
from heapfit.plan.allocators import ALIGNMENTS, UNKNOWN, find_allocators, list_aliases
from heapfit.plan.plan import Plan, plan_table
from heapfit.plan.serving_region import SMALL_REQUEST, serving_region
from heapfit.results.parts import Column, Fields, Line, Part, Table, columns, object_of
from heapfit.results.text import WIDTH

_LABELS = 17  # columns before a figure's text


def run(command: AllocatorsCommand) -> None:
    for name in filter(is_path, command.names or ()):
        require_kind(Path(name))
    names = [find_heap_name(name) for name in command.names or ()]
    named = [name for name in names if name not in SYSTEM_HEAPS]
    infos = find_allocators(named) if named else [] if names else list_offered_allocators()
    heaps = [find_heap(name, 8) for name in SYSTEM_HEAPS if not names or name in names]
    print_result(_parts(infos, heaps, is_in_full=bool(command.names)), command.as_json)


def _parts(
    infos: list[_engine.AllocatorInfo], systems: list[Heap], is_in_full: bool
) -> Iterator[Part]:
    yield Table(_COLUMNS, infos, "allocators")
    yield Table(_SYSTEM, systems, "systems_heaps")
    yield Fields({"aliases": list_aliases()})
    yield from map(Line, _describe_in_full(infos) if is_in_full else _list(infos))
    if systems:
        yield from map(Line, _describe_systems(systems, is_first=not infos, is_in_full=is_in_full))


def _describe_systems(heaps: list[Heap], *, is_first: bool, is_in_full: bool) -> Iterator[str]:
    if not is_first:
        yield ""
    yield "systems' heaps: simulated from their algorithms (docs/now.md)"
    for heap in heaps:
        yield ""
        yield f"{heap.name}: {heap.title}"
        yield from _wrap_labelled("checked against", f"{heap.version}: R {_format_tolerance(heap)}")
        yield from _wrap_labelled("what users set", heap.setting)
        yield from _wrap_labelled("places as", _format_plan(heap.plan))
        if is_in_full:
            (algorithm,) = find_allocators([heap.plan.allocator])
            yield ""
            yield from _describe_whole(algorithm)


def _format_tolerance(heap: Heap) -> str:
    return f"within {heap.tolerance:g} %" if heap.tolerance else "equal"


def _format_plan(plan: Plan) -> str:
    values = ",".join(f"{name}={value}" for name, value in plan.scalars.items())
    return f"{plan.allocator}:{values}"


def _list(infos: list[_engine.AllocatorInfo]) -> Iterator[str]:
    yield "core: may ship to firmware"
    yield from _describe_all([info for info in infos if info.ships])
    baselines = [info for info in infos if not info.ships]
    if baselines:
        yield ""
        yield "baselines: for comparison, on the host only"
        yield from _describe_all(baselines)


def _describe_all(infos: list[_engine.AllocatorInfo]) -> Iterator[str]:
    for info in infos:
        yield ""
        yield from _describe_allocator(info)


def _describe_in_full(infos: list[_engine.AllocatorInfo]) -> Iterator[str]:
    for i, info in enumerate(infos):
        if i > 0:
            yield ""
        yield from _describe_whole(info)


def _describe_whole(info: _engine.AllocatorInfo) -> Iterator[str]:
    """An allocator with its layout and what its tunables mean."""
    yield from _describe_allocator(info)
    yield "  layout"
    for line in (info.layout or UNKNOWN).splitlines():
        yield f"    {line}"
    yield "  tunables in words"
    for tunable in info.tunables:
        yield from _wrap_labelled(f"  {tunable.name}", _describe_tunable(tunable))


def _describe_allocator(info: _engine.AllocatorInfo) -> Iterator[str]:
    aliases = [alias for alias, name in list_aliases().items() if name == info.name]
    yield f"{info.name}: {info.title}"
    if aliases:
        yield from _wrap_labelled("also called", ", ".join(aliases))
    yield from _wrap_labelled("origin", info.origin)
    yield from _wrap_labelled("tunables", " ".join(map(_format_standard, info.tunables)))
    yield from _wrap_labelled("worst case", info.worst_case)
    yield from _wrap_labelled("bytes a block", info.block_bytes)
    yield from _wrap_labelled("fragmentation", info.fragmentation)
    yield from _wrap_labelled("smallest region", _describe_smallest_region(info))


def _wrap_labelled(label: str, text: str | None) -> Iterator[str]:
    """A text after its label, wrapped; None is a figure that the descriptor does not give."""
    gap = " " * (2 + _LABELS)
    first = f"  {label:{_LABELS}}" if len(label) < _LABELS else f"  {label}: "
    yield from textwrap.wrap(
        text or UNKNOWN,
        WIDTH,
        initial_indent=first,
        subsequent_indent=gap,
        break_on_hyphens=False,
    )


def _describe_smallest_region(info: _engine.AllocatorInfo) -> str:
    regions = {alignment: serving_region(info.name, alignment) for alignment in ALIGNMENTS}
    tunables = ", ".join(
        f"{'none up to 1 MiB' if size is None else f'{size:,} B'} at alignment {alignment}"
        for alignment, size in regions.items()
    )
    return f"{tunables}: for one block of {SMALL_REQUEST} B"


def _format_standard(tunable: _engine.Tunable) -> str:
    return f"{tunable.name}={tunable.standard if tunable.kind == 'scalar' else 'none'}"


def _describe_tunable(tunable: _engine.Tunable) -> str:
    if tunable.kind != "scalar":
        return tunable.meaning
    extent = f"{tunable.lowest} to {tunable.highest}, standard {tunable.standard}"
    return f"{tunable.meaning} [{extent}]"


_TUNABLE: tuple[Column[_engine.Tunable], ...] = columns(
    "name", "meaning", "kind", "lowest", "highest", "standard"
)
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
