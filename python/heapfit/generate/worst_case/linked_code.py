# SPDX-License-Identifier: Apache-2.0
"""A linked program: its functions, and the control flow of their instructions.

The instructions are read by objdump, which every cross compiler brings along.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from heapfit.errors import HeapfitError
from heapfit.external_tool import run
from heapfit.generate.worst_case import riscv, thumb
from heapfit.generate.worst_case.instruction import DisassemblyLine, Flow, UnboundedError
from heapfit.generate.worst_case.loop_marks import LoopMark, read_marks

_LINE: Final = re.compile(r"^\s*([0-9a-f]+):\t(\S+)(?:\t([^\n]*))?$", re.MULTILINE)
_COMMENT: Final = re.compile(r"\s*(?:[;@]|#(?=\s)).*$")
_DATA: Final = {".word", ".short", ".byte"}
_EXECUTABLE: Final = 4  # SHF_EXECINSTR
_MACHINES: Final = {"EM_ARM": thumb.thumb_flows, "EM_RISCV": riscv.riscv_flows}


@dataclass(frozen=True, slots=True)
class Function:
    """Instructions by address, in ascending order."""

    name: str
    start: int
    flows: dict[int, Flow]
    following: dict[int, int]  # the address behind each instruction

    def successors(self, address: int) -> list[int]:
        """The addresses to which an instruction leads, inside this function.

        UnboundedError if it is not one of its own.
        """
        if address not in self.flows:
            raise UnboundedError(address, f"{self.name} runs into what is no code of its own")
        flow = self.flows[address]
        jump = [flow.jump] if flow.jump is not None and flow.jump in self.flows else []
        return [self.following[address], *jump] if flow.falls_through else jump

    def ends_in_call(self, address: int) -> bool:
        """True if an instruction jumps to another function, as its last call."""
        jump = self.flows[address].jump
        return jump is not None and jump not in self.flows

    def callee(self, address: int) -> int | None:
        """The function that an instruction calls or jumps to."""
        flow = self.flows[address]
        return flow.jump if self.ends_in_call(address) else flow.call


class LinkedCode:
    """A linked file of Thumb or RV32 code; `tools` is the prefix of its compiler's programs."""

    def __init__(self, path: Path, tools: str) -> None:
        self._path = path
        self._tools = tools
        with path.open("rb") as file:
            elf = ELFFile(file)
            self._machine = elf["e_machine"]
            self.marks: list[LoopMark] = read_marks(elf)
            self._ranges = _function_ranges(elf)
        if self._machine not in _MACHINES:
            raise HeapfitError(f"{path.name}: is neither Thumb nor RV32 code ({self._machine})")

    def find_function(self, name: str) -> int:
        """A function's first address; HeapfitError if there is none of that name."""
        for start, (_, names) in self._ranges.items():
            if name in names:
                return start
        raise HeapfitError(f"{self._path.name}: has no function {name}")

    def name_at(self, start: int) -> str:
        """The name of the function that begins at `start`."""
        return min(self._ranges[start][1]) if start in self._ranges else f"0x{start:x}"

    def function(self, start: int) -> Function:
        """The function that begins at `start`; UnboundedError if its control flow is unknown."""
        if start not in self._ranges:
            raise UnboundedError(start, "is called and is no function")
        end = self._ranges[start][0]
        first = bisect.bisect_left(self._lines, start, key=lambda line: line.address)
        last = bisect.bisect_left(self._lines, end, key=lambda line: line.address)
        lines = self._lines[first:last]
        behind = [line.address for line in lines[1:]] + [end]
        code = [line for line in lines if line.mnemonic not in _DATA]
        flows = dict(
            zip((line.address for line in code), _MACHINES[self._machine](code), strict=True)
        )
        following = {line.address: next_ for line, next_ in zip(lines, behind, strict=True)}
        return Function(self.name_at(start), start, flows, following)

    @cached_property
    def _lines(self) -> list[DisassemblyLine]:
        command = [f"{self._tools}objdump", "-d", "--no-show-raw-insn", self._path.name]
        listing = run(command, self._path.parent)
        found = [
            DisassemblyLine(int(address, 16), mnemonic, _COMMENT.sub("", operands))
            for address, mnemonic, operands in _LINE.findall(listing)
        ]
        return sorted(found, key=lambda line: line.address)


def require_equal_code(marked: Path, plain: Path) -> None:
    """HeapfitError if marks changed the code: bounds of one would not hold for the other."""
    if _code_bytes(marked) != _code_bytes(plain):
        raise HeapfitError(f"{plain.name}: is other code once its loops are marked")


def _code_bytes(path: Path) -> list[tuple[str, int, bytes]]:
    with path.open("rb") as file:
        return [
            (section.name, section["sh_addr"], section.data())
            for section in ELFFile(file).iter_sections()
            if section["sh_flags"] & _EXECUTABLE
        ]


def _function_ranges(elf: ELFFile) -> dict[int, tuple[int, set[str]]]:
    """The end and the names of each function by its start; without a size it ends at the next."""
    sizes: dict[int, int] = {}
    names: dict[int, set[str]] = {}
    table = elf.get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    for symbol in table.iter_symbols():
        if symbol["st_info"]["type"] == "STT_FUNC":
            start = symbol["st_value"] & ~1 if elf["e_machine"] == "EM_ARM" else symbol["st_value"]
            sizes[start] = max(sizes.get(start, 0), symbol["st_size"])
            names.setdefault(start, set()).add(symbol.name)
    starts = sorted(sizes)
    following = dict(zip(starts, [*starts[1:], 2**32], strict=True))
    return {
        start: (start + size if size else following[start], names[start])
        for start, size in sizes.items()
    }
