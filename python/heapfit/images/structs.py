# SPDX-License-Identifier: Apache-2.0
"""Which struct a block is, by the types of the pointers that lead to it from variables on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile

from heapfit.images.memory import DumpedMemory
from heapfit.images.types import (
    MOST_ENTRIES,
    POINTER,
    VARIABLE,
    find_children,
    find_parts,
    find_type,
    name_of,
    value_of,
)
from heapfit.images.walk import LIVE, DumpedHeap
from heapfit.outputs.printable import printable
from heapfit.programs.executable import DAMAGED, explain_elf_errors

_MOST_PARTS, _LONGEST = 1 << 18, 48  # variables with all their members; signs of a name
_ADDRESS = 3  # the operation of DWARF


def name_structs(
    program: Path, memory: DumpedMemory, heaps: Sequence[DumpedHeap]
) -> dict[int, str]:
    """The struct that a live block is, by its address (the lower 32 bits).

    As far as DWARF is there and whole. A block that is too small for a struct is none.
    """
    found, unnamed = (
        dict[int, str](),
        {one.address: one.size for heap in heaps for one in heap.pieces(LIVE)},
    )
    with explain_elf_errors(program), program.open("rb") as file, suppress(*DAMAGED):
        info, left = ELFFile(file).get_dwarf_info(), iter(range(1, MOST_ENTRIES))
        parts = [
            (one, at)
            for unit in info.iter_CUs()
            for one in find_children(unit.get_top_DIE(), left)
            if one.tag == VARIABLE and (at := _address(one, memory.symbols))
        ]
        for die, at in parts:
            (kind, _), place = find_type(die), at
            target, name = find_type(kind)
            word = memory.words(at, at + memory.pointer) if name and kind.tag == POINTER else ()
            if 0 < value_of(target, "byte_size", 1) <= unnamed.get(block := sum(map(int, word)), 0):
                kind, place, found[block & 0xFFFFFFFF] = target, block, printable(name)[:_LONGEST]
                del unnamed[block]
            parts.extend(islice(find_parts(kind, place, left), max(_MOST_PARTS - len(parts), 0)))
    return found


def _address(variable: DIE, symbols: Mapping[str, tuple[int, int]]) -> int:
    """Where a variable lies; 0 if it is only declared."""
    location = value_of(variable, "location", list[int]())
    if location[:1] != [_ADDRESS]:
        return symbols.get(name_of(variable), (0, 0))[0] if location else 0
    return int.from_bytes(location[1:], "little" if variable.cu.structs.little_endian else "big")
