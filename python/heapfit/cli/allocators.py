# SPDX-License-Identifier: Apache-2.0
"""`heapfit allocators`: every allocator there is, and what each costs."""

from __future__ import annotations

import textwrap
from typing import Annotated, Any

import typer

from heapfit import _engine
from heapfit.cli.arguments import AsJson
from heapfit.cli.printing import console
from heapfit.plan.allocators import ALIGNMENTS, SMALL_REQUEST, find_allocators, serving_region

_LABELS = 17  # columns before a figure's text


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Tell these in full, their layout drawn; without any, list all."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the allocators: origin, tunables, worst case, bytes a block, smallest region."""
    infos = find_allocators(names or ())
    if as_json:
        console.out_json({"allocators": [_json(info) for info in infos]})
    elif names:
        _print_in_full(infos)
    else:
        _print_list(infos)


def _print_list(infos: list[_engine.AllocatorInfo]) -> None:
    console.out("core: may ship to firmware")
    _print_all([info for info in infos if info.ships])
    baselines = [info for info in infos if not info.ships]
    if baselines:
        console.out("")
        console.out("baselines: to compare with, on the host only")
        _print_all(baselines)


def _print_all(infos: list[_engine.AllocatorInfo]) -> None:
    for info in infos:
        console.out("")
        _print_account(info)


def _print_in_full(infos: list[_engine.AllocatorInfo]) -> None:
    for i, info in enumerate(infos):
        if i > 0:
            console.out("")
        _print_account(info)
        console.out("  layout")
        for line in info.layout.splitlines():
            console.out(f"    {line}")
        console.out("  tunables in words")
        for tunable in info.tunables:
            _print_labelled(f"  {tunable.name}", _meaning(tunable))


def _print_account(info: _engine.AllocatorInfo) -> None:
    console.out(f"{info.name}: {info.title}")
    _print_labelled("origin", info.origin)
    _print_labelled("tunables", " ".join(map(_standard, info.tunables)))
    _print_labelled("worst case", info.worst_case)
    _print_labelled("bytes a block", info.block_bytes)
    _print_labelled("fragmentation", info.fragmentation)
    _print_labelled("smallest region", _smallest(info))


def _print_labelled(label: str, text: str) -> None:
    """The text beside its label, wrapped."""
    gap = " " * (2 + _LABELS)
    first = f"  {label:{_LABELS}}" if len(label) < _LABELS else f"  {label}: "
    wrapped = textwrap.wrap(
        text, console.WIDTH, initial_indent=first, subsequent_indent=gap, break_on_hyphens=False
    )
    for line in wrapped:
        console.out(line)


def _smallest(info: _engine.AllocatorInfo) -> str:
    regions = {alignment: serving_region(info.name, alignment) for alignment in ALIGNMENTS}
    told = ", ".join(
        f"{'none up to 1 MiB' if size is None else f'{size:,} B'} at alignment {alignment}"
        for alignment, size in regions.items()
    )
    return f"{told}: for one block of {SMALL_REQUEST} B"


def _standard(tunable: _engine.Tunable) -> str:
    return f"{tunable.name}={tunable.standard if tunable.kind == 'scalar' else 'none'}"


def _meaning(tunable: _engine.Tunable) -> str:
    if tunable.kind != "scalar":
        return tunable.meaning
    extent = f"{tunable.lowest} to {tunable.highest}, standard {tunable.standard}"
    return f"{tunable.meaning} [{extent}]"


def _json(info: _engine.AllocatorInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "title": info.title,
        "origin": info.origin,
        "ships": info.ships,
        "ignores_region_end": info.ignores_region_end,
        "worst_case": info.worst_case,
        "block_bytes": info.block_bytes,
        "fragmentation": info.fragmentation,
        "layout": info.layout,
        "smallest_region": {str(one): serving_region(info.name, one) for one in ALIGNMENTS},
        "tunables": [
            {
                "name": tunable.name,
                "meaning": tunable.meaning,
                "kind": tunable.kind,
                "lowest": tunable.lowest,
                "highest": tunable.highest,
                "standard": tunable.standard,
            }
            for tunable in info.tunables
        ],
    }
