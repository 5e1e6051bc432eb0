# SPDX-License-Identifier: Apache-2.0
"""Reads the marks of loops (loop_marks.h) in the debug information of a linked program.

A mark is an unused constant in the body of a loop. Its value was computed by the compiler from the
plan, and the instructions of its scope are those that came from the body, wherever they were put.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE, AttributeValue
from elftools.dwarf.dwarf_expr import DWARFExprParser
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.dwarf.locationlists import LocationExpr, LocationParser
from elftools.elf.elffile import ELFFile

HEADER: Final = Path(__file__).with_name("loop_marks.h")
# Marks change no instruction, whether a build has debug information or not.
OPTIONS: Final = ("-gdwarf-4", f"-include{HEADER}")
_AT_MOST, _HALVES, _OF_PAYLOAD = "hfit_loop_at_most", "hfit_loop_halves", "hfit_loop_of_payload"


@dataclass(frozen=True, slots=True)
class LoopMark:
    """A mark of a loop in the source, once for each place that it was compiled to."""

    line: tuple[int, int, int]  # compilation unit, file and line: one loop of the source
    ranges: tuple[tuple[int, int], ...]  # addresses of the body's instructions
    depth: int  # a mark inside another's loop has more
    is_of_payload: bool  # the body is run once a byte
    times: int | None  # else so often at most; None: not in the debug information

    def holds(self, address: int) -> bool:
        """True if the instruction at this address came from the loop's body."""
        return any(start <= address < end for start, end in self.ranges)


def read_marks(elf: ELFFile) -> list[LoopMark]:
    """All loop marks of a linked file; none without debug information."""
    if not elf.has_dwarf_info():
        return []
    dwarf = elf.get_dwarf_info()
    marks = [
        mark
        for unit in dwarf.iter_CUs()
        for die in unit.iter_DIEs()
        for mark in _read_mark(dwarf, unit, die)
    ]
    return [_fill_times(mark, marks) for mark in marks]


def _fill_times(mark: LoopMark, marks: list[LoopMark]) -> LoopMark:
    """The mark with the times of its copies, if it has none: all come from the plan."""
    known = {one.times for one in marks if one.line == mark.line and one.times is not None}
    return replace(mark, times=max(known)) if mark.times is None and known else mark


def _read_mark(dwarf: DWARFInfo, unit: CompileUnit, die: DIE) -> Iterator[LoopMark]:
    name = _find_attribute(die, "DW_AT_name") if die.tag == "DW_TAG_variable" else None
    kind = "" if name is None else name.value.decode()
    if kind not in {_AT_MOST, _HALVES, _OF_PAYLOAD}:
        return
    scope = die.get_parent()
    ranges = () if scope is None else tuple(_ranges(dwarf, unit, scope))
    if not ranges:
        return
    places = (_find_attribute(die, f"DW_AT_decl_{place}") for place in ("file", "line"))
    line = (unit.cu_offset, *(0 if place is None else place.value for place in places))
    value = _value(dwarf, unit, die)
    times = value.bit_length() if kind == _HALVES and value is not None else value
    assert len(line) == 3
    yield LoopMark(line, ranges, _depth(die), kind == _OF_PAYLOAD, times)


def _find_attribute(die: DIE, name: str) -> AttributeValue | None:
    """An attribute of an entry, or of the entry that it is a copy of."""
    while name not in die.attributes and "DW_AT_abstract_origin" in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_abstract_origin")
    return die.attributes.get(name)


def _depth(die: DIE | None) -> int:
    return 0 if die is None else 1 + _depth(die.get_parent())


def _ranges(dwarf: DWARFInfo, unit: CompileUnit, scope: DIE) -> Iterator[tuple[int, int]]:
    own = scope.attributes
    if "DW_AT_ranges" in own:
        base = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
        start = 0 if base is None else base.value
        lists = dwarf.range_lists()
        assert lists is not None
        entries: list[Any] = lists.get_range_list_at_offset(own["DW_AT_ranges"].value, unit)
        for entry in entries:
            yield entry.begin_offset + start, entry.end_offset + start
    elif "DW_AT_low_pc" in own and own["DW_AT_low_pc"].value:
        yield own["DW_AT_low_pc"].value, own["DW_AT_low_pc"].value + own["DW_AT_high_pc"].value


def _value(dwarf: DWARFInfo, unit: CompileUnit, die: DIE) -> int | None:
    """The value of a constant; None if it is in a register or was removed."""
    if "DW_AT_const_value" in die.attributes:
        return int(die.attributes["DW_AT_const_value"].value)
    if "DW_AT_location" not in die.attributes:
        return None
    parser = LocationParser(dwarf.location_lists())
    found = parser.parse_from_attribute(die.attributes["DW_AT_location"], unit["version"], die)
    entries: list[Any] = [found] if isinstance(found, LocationExpr) else list(found)
    values = {_constant(DWARFExprParser(unit.structs).parse_expr(e.loc_expr)) for e in entries}
    return values.pop() if len(values) == 1 else None


def _constant(expression: list[Any]) -> int | None:
    """The value of the expression `push a number, that is the value`; None for any other."""
    names = [operation.op_name for operation in expression]
    if len(names) != 2 or names[1] != "DW_OP_stack_value":
        return None
    if names[0].startswith("DW_OP_lit"):
        return int(names[0].removeprefix("DW_OP_lit"))
    return int(expression[0].args[0]) if names[0].startswith("DW_OP_const") else None
