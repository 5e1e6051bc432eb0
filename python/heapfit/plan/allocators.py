# SPDX-License-Identifier: Apache-2.0
"""The registered allocators and their descriptors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from heapfit import _engine
from heapfit.errors import HeapfitError, did_you_mean
from heapfit.plan.plan import Plan

ALIGNMENTS: Final = (4, 8)
UNKNOWN: Final = "unknown"  # printed for what a descriptor leaves out
_COUNTED: Final = ("blocks", "pools")  # limits of heaps of so many blocks of a size


def list_aliases() -> dict[str, str]:
    """The other names that allocators are known by, each with the allocator's own name.

    >>> list_aliases()
    {'dlmalloc': 'lea'}
    """
    return {info.alias: info.name for info in _engine.allocators() if info.alias}


def find_allocators(names: Sequence[str] = ()) -> list[_engine.AllocatorInfo]:
    """The allocators of these names, in this order; without names all, core's first.

    Allocators that only a paper is reproduced with are found by name alone.

    >>> [info.name for info in find_allocators(["tlsf", "dlmalloc"])]
    ['tlsf', 'lea']
    """
    known = {info.name: info for info in _engine.allocators()}
    aliases = list_aliases()
    unknown = [name for name in names if aliases.get(name, name) not in known]
    offered = [name for name, info in known.items() if not info.is_of_papers]
    if unknown:
        raise HeapfitError(f"{unknown[0]}: no such allocator ({did_you_mean(unknown[0], offered)})")
    return [known[aliases.get(name, name)] for name in names or offered]


def info_of(plan: Plan) -> _engine.AllocatorInfo:
    """The allocator of a plan."""
    return find_allocators([plan.allocator])[0]


def takes(info: _engine.AllocatorInfo, kind: str) -> bool:
    """True if a plan of this allocator has a tunable of a kind.

    "pools" are made for a trace; "shared" is another allocator for what the pools do not serve.
    """
    return any(tunable.kind == kind for tunable in info.tunables)


def is_for_any_program(info: _engine.AllocatorInfo) -> bool:
    """True if the allocator ships and can serve any program.

    Not if blocks lie in pieces, which callers must follow, or if callers must know sizes.
    """
    return info.ships and not info.in_pieces and not info.needs_size


def scalars_of(plan: Plan) -> dict[str, int]:
    """The value of each scalar tunable of a plan, standard where the plan says nothing.

    >>> scalars_of(Plan("tlsf", {"probes": 8}))
    {'alignment': 8, 'second_level': 0, 'probes': 8}
    """
    tunables = (one for one in info_of(plan).tunables if one.kind == "scalar")
    return {one.name: plan.scalars.get(one.name, one.standard) for one in tunables}


def limit_of(plan: Plan) -> str:
    """What runs out first in a heap of this plan (hfit/descriptor.h lists the limits)."""
    return info_of(plan).limit


def counts_blocks(plan: Plan) -> bool:
    """True if a plan sets how many blocks of a size there are: pools, budgets, zones, stacks."""
    return limit_of(plan) in _COUNTED


def splits_blocks(plan: Plan) -> bool:
    """True if a plan's blocks may lie in pieces; R is for callers that follow them."""
    return info_of(plan).in_pieces
