# SPDX-License-Identifier: Apache-2.0
"""Where the members of structs lie, by the DWARF of a program; those of heaps by name.

DWARF is not to be trusted: it is read forwards, and no more than a bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from math import prod
from typing import TypeVar

from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile

from heapfit.programs.executable import DAMAGED

T = TypeVar("T")

MOST_ENTRIES, _MOST_ELEMENTS = 1 << 22, 256  # of DWARF that are looked at; of an array
_FUNCTIONS = (  # of each source of a heap one
    *("pvPortMalloc", "mem_malloc", "sys_heap_alloc", "heap_caps_init", "tlsf_create"),
    *("multi_heap_malloc", "multi_heap_malloc_impl", "multi_heap_get_first_block"),
)
_STRUCTS = {f"DW_TAG_{one}_type": one[:6] for one in ("structure", "class", "union")}
_ARRAY, POINTER, _TYPEDEF, VARIABLE = (
    f"DW_TAG_{one}" for one in ("array_type", "pointer_type", "typedef", "variable")
)
_PASSED = {
    *(f"DW_TAG_{one}_type" for one in ("const", "volatile", "atomic", "restrict")),
    *(_TYPEDEF, VARIABLE, "DW_TAG_member"),
}
_LINKS = [f"DW_AT_{one}" for one in ("specification", "abstract_origin", "type")]


def read_types(elf: ELFFile, symbols: Mapping[str, tuple[int, int]]) -> dict[str, int]:
    """The bytes of each struct, the place of each member and constants: "mem", "mem.used".

    Of the sources of heaps alone, as a program has many; as far as DWARF is there and whole.
    """
    found: dict[str, int] = {}
    with suppress(*DAMAGED):
        info, left = elf.get_dwarf_info(), iter(range(1, MOST_ENTRIES))
        units = info.get_aranges()
        for name in _FUNCTIONS:
            unit = units.cu_offset_at_addr(symbols[name][0]) if units and name in symbols else None
            top = None if unit is None else info.get_CU_at(unit).get_top_DIE()
            for die in find_children(top, left) if top else ():
                _note(die, left, found)
    return found


def _note(die: DIE, left: Iterator[int], found: dict[str, int]) -> None:
    """A constant, or the bytes of a struct and the places of its members."""
    kind, title = find_type(die)
    name = title.rpartition(" ")[2]
    if "DW_AT_const_value" in die.attributes:
        found.setdefault(name_of(die), value_of(die, "const_value", 0))
    if name:
        found.setdefault(name, value_of(kind, "byte_size", 0))
        for one, place in find_parts(kind, 0, left):
            found.setdefault(f"{name}.{name_of(one)}", place)


def find_type(die: DIE, alias: str = "") -> tuple[DIE, str]:
    """The type of a variable, a pointer or an array; its name, if it is a struct."""
    link = next((one for one in _LINKS if one in die.attributes), None)
    kind = die.get_DIE_from_attribute(link) if link else die
    alias = name_of(die) if die.tag == _TYPEDEF else alias
    if link and kind.tag in _PASSED:
        return find_type(kind, alias)
    own, word = name_of(kind), _STRUCTS.get(str(kind.tag))
    return kind, (f"{word} {own}" if own else alias) if word else ""


def find_parts(kind: DIE, at: int, left: Iterator[int]) -> Iterator[tuple[DIE, int]]:
    """The members of a struct that lies at a place, or an array for each of its elements there."""
    inner = [*find_children(kind, left)] if kind.tag in (_ARRAY, *_STRUCTS) else []
    if kind.tag == _ARRAY and find_type(kind)[0].tag in (POINTER, *_STRUCTS):
        size = value_of(find_type(kind)[0], "byte_size", kind.cu["address_size"])
        count = prod(value_of(one, "count", value_of(one, "upper_bound", -1) + 1) for one in inner)
        return ((kind, at + i * size) for i in range(min(count, _MOST_ELEMENTS)))
    return (
        (one, at + _place(one))
        for one in inner
        if one.tag in ("DW_TAG_member", "DW_TAG_inheritance")
        if "DW_AT_external" not in one.attributes
    )


def find_children(die: DIE, left: Iterator[int]) -> Iterator[DIE]:
    """Those directly below. Forwards alone: links of hostile DWARF may lead in a circle."""
    at, depth = die.offset + die.size, int(bool(die.has_children))
    while depth and next(left, 0):
        child = die.cu.get_DIE_from_refaddr(at)
        if depth == 1 and not child.is_null():
            yield child
        behind = die.cu.cu_offset + value_of(child, "sibling", 0)
        depth += (behind <= at and bool(child.has_children)) - child.is_null()
        at = max(at + child.size, behind)


def _place(member: DIE) -> int:
    """Bytes from a struct's start: a number, before DWARF 4 behind the operation that adds it."""
    added = value_of(member, "data_member_location", list[int]())[1:]
    return value_of(
        member, "data_member_location", sum((byte & 127) << 7 * i for i, byte in enumerate(added))
    )


def name_of(die: DIE) -> str:
    return value_of(die, "name", b"").decode(errors="replace")


def value_of(die: DIE, what: str, otherwise: T) -> T:
    """An attribute, if it is there and of the type of `otherwise`."""
    found = die.attributes.get(f"DW_AT_{what}")
    return found.value if found and isinstance(found.value, type(otherwise)) else otherwise
