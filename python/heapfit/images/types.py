# SPDX-License-Identifier: Apache-2.0
"""Where the members of a heap's structs lie, by the DWARF of the program that has the heap."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TypeVar

from elftools.common.exceptions import DWARFError
from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile

from heapfit.programs.executable import DAMAGED

T = TypeVar("T")

_FUNCTIONS = (  # of each source of a heap one
    *("pvPortMalloc", "mem_malloc", "sys_heap_alloc", "heap_caps_init", "tlsf_create"),
    *("multi_heap_malloc", "multi_heap_malloc_impl", "multi_heap_get_first_block"),
)


def read_types(elf: ELFFile, symbols: Mapping[str, tuple[int, int]]) -> dict[str, int]:
    """The bytes of each struct, the place of each member and constants: "mem", "mem.used".

    Of the sources of heaps alone, as a program has many; as far as DWARF is there and whole.
    """
    found: dict[str, int] = {}
    with suppress(DWARFError, NotImplementedError, *DAMAGED):
        info = elf.get_dwarf_info()
        units = info.get_aranges()
        for name in _FUNCTIONS:
            unit = units.cu_offset_at_addr(symbols[name][0]) if units and name in symbols else None
            for die in (
                info.get_CU_at(unit).get_top_DIE().iter_children() if unit is not None else ()
            ):
                _note(die, found)
    return found


def _note(die: DIE, found: dict[str, int]) -> None:
    name = _name(die)
    if die.tag == "DW_TAG_typedef" and "DW_AT_type" in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_type")
        name = "" if _name(die) else name
    if die.tag == "DW_TAG_variable" and "DW_AT_const_value" in die.attributes:
        found.setdefault(name, _value(die, "const_value", 0))
    if name and die.tag == "DW_TAG_structure_type":
        found.setdefault(name, _value(die, "byte_size", 0))
        for one in die.iter_children():
            found.setdefault(f"{name}.{_name(one)}", _value(one, "data_member_location", 0))


def _name(die: DIE) -> str:
    return _value(die, "name", b"").decode(errors="replace")


def _value(die: DIE, what: str, otherwise: T) -> T:
    """An attribute, if it is there and of the type of `otherwise`."""
    found = die.attributes.get(f"DW_AT_{what}")
    return found.value if found and isinstance(found.value, type(otherwise)) else otherwise
