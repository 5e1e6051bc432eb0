# SPDX-License-Identifier: Apache-2.0
"""Where the members of a heap's structs lie, by the DWARF of the program that has the heap."""

from __future__ import annotations

import re
from contextlib import suppress

from elftools.common.exceptions import DWARFError
from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile

from heapfit.importers.elf_file import DAMAGED

_SOURCES = re.compile(r"(^|[/\\])(mem|heap|heap_[45]|multi_heap\w*|heap_caps\w*|tlsf)\.c$")


def read_types(elf: ELFFile) -> dict[str, int]:
    """The bytes of each struct, the place of each member and constants: "mem", "mem.used".

    Of the sources of heaps alone, as a program has many; as far as DWARF is there and whole.
    """
    found: dict[str, int] = {}
    with suppress(DWARFError, *DAMAGED):
        units = elf.get_dwarf_info().iter_CUs() if elf.has_dwarf_info() else ()
        tops = (unit.get_top_DIE() for unit in units)
        for die in (
            die for top in tops if _SOURCES.search(_name(top)) for die in top.iter_children()
        ):
            _note(die, found)
    return found


def _note(die: DIE, found: dict[str, int]) -> None:
    name = _name(die)
    if die.tag == "DW_TAG_typedef" and "DW_AT_type" in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_type")
        name = "" if _name(die) else name
    if die.tag == "DW_TAG_variable" and "DW_AT_const_value" in die.attributes:
        found.setdefault(name, _number(die, "const_value"))
    if name and die.tag == "DW_TAG_structure_type":
        found.setdefault(name, _number(die, "byte_size"))
        for one in die.iter_children():
            found.setdefault(f"{name}.{_name(one)}", _number(one, "data_member_location"))


def _name(die: DIE) -> str:
    found = die.attributes.get("DW_AT_name")
    return found.value.decode(errors="replace") if found else ""


def _number(die: DIE, what: str) -> int:
    found = die.attributes.get(f"DW_AT_{what}")
    return found.value if found and isinstance(found.value, int) else 0
