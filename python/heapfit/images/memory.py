# SPDX-License-Identifier: Apache-2.0
"""The memory that a dump has, with the symbols of the program that ran.

    core.elf       PT_LOAD segments, and the registers as PT_NOTE has them
    dump.bin       raw bytes, which lie at an address that the user gives; either may be packed
    firmware.elf   symbols; what is never written, such as code, where the dump left it out

A dump is not to be trusted: every read is checked, and raises `UnreadError` where nothing lies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from elftools.elf.segments import NoteSegment
from numpy.typing import NDArray

from heapfit.errors import HeapfitError
from heapfit.images.types import read_types
from heapfit.importers.formats import find_foreign
from heapfit.importers.stream import ByteStream
from heapfit.programs.executable import explain_elf_errors

Order: TypeAlias = Literal["little", "big"]
Numbers: TypeAlias = NDArray[np.uint64]
Span: TypeAlias = tuple[int, memoryview]  # an address, and the bytes that lie there

_WRITABLE_SECTION, _WRITABLE_SEGMENT = 1, 2  # flags
_BEFORE_REGISTERS = {4: 72, 8: 112}  # bytes of a note PRSTATUS, by those of a pointer
_STACK_POINTERS = {"EM_ARM": 13, "EM_RISCV": 2}  # the number of the register
_SEARCHED = 1 << 24  # bytes of a log, behind which no core dump is looked for


class UnreadError(LookupError):
    """Nothing was captured of an address."""


@dataclass(frozen=True, slots=True)
class DumpedMemory:
    """What was captured, and what the program says of it."""

    pointer: int  # bytes
    order: Order
    symbols: dict[str, tuple[int, int]]  # address and bytes, 0 where they are not known
    sections: Sequence[tuple[int, int]]  # address and end of data and bss
    types: Mapping[str, int]  # bytes of structs, places of members, by DWARF (types.py)
    stack: int  # which register is the stack pointer; beyond all of them where that is unknown
    spans: Sequence[Span] = ()
    registers: Sequence[Numbers] = ()  # of each thread

    @property
    def kind(self) -> np.dtype[np.unsignedinteger]:
        """A pointer as numpy reads it."""
        return np.dtype(f"{'<' if self.order == 'little' else '>'}u{self.pointer}")

    def word(self, address: int, size: int = 0) -> int:
        """The unsigned number of so many bytes at an address; 0: of a pointer."""
        size = size or self.pointer
        for start, data in self.spans:
            if start <= address <= start + len(data) - size:
                return int.from_bytes(data[address - start : address - start + size], self.order)
        raise UnreadError(f"{address:#x} was not captured")

    def words(self, start: int, end: int) -> Numbers:
        """The pointers that lie in a range, as far as it was captured."""
        found = [np.zeros(0, self.kind)]
        for address, data in self.spans:
            first = -(-max(start, address) // self.pointer) * self.pointer
            count = (min(end, address + len(data)) - first) // self.pointer
            if count > 0:
                found.append(np.frombuffer(data, self.kind, count, first - address))
        return np.concatenate(found).astype(np.uint64)


def open_memory(dump: Path, program: Path, at: int | None) -> DumpedMemory:
    """The memory of a dump, an ELF core or raw bytes that lie `at` an address.

    HeapfitError if one of the files cannot be read, or is something else.
    """
    with explain_elf_errors(program), program.open("rb") as file:
        memory, constant = _read_program(ELFFile(file))
    if not memory.symbols:
        raise HeapfitError(f"{program}: has no symbols, by which heaps are found (not stripped)")
    with explain_elf_errors(dump), ByteStream(dump) as stream:
        content = b"".join(stream.chunks())
        if at is not None and not content.startswith(b"\x7fELF"):
            return replace(memory, spans=[(at, memoryview(content)), *constant])
        if at is not None:
            raise HeapfitError(f"{dump}: is an ELF core, which says where it lies (without --at)")
        if not content.startswith(b"\x7fELF"):
            what, do = find_foreign(content[:_SEARCHED])
            raise HeapfitError(
                f"{dump}: is {what or 'no ELF core'} "
                f"({do or 'of raw memory say --at ADDRESS, where it begins'})"
            )
        return _read_core(ELFFile(BytesIO(content)), memoryview(content), memory, constant)


def _read_program(elf: ELFFile) -> tuple[DumpedMemory, list[Span]]:
    """What a program says of its memory, and its bytes that are never written."""
    sections = [
        (one["sh_addr"], one["sh_addr"] + one["sh_size"])
        for one in elf.iter_sections()
        if one["sh_addr"] and one["sh_flags"] & _WRITABLE_SECTION
    ]
    constant = [
        (one["p_vaddr"], memoryview(one.data()))
        for one in elf.iter_segments("PT_LOAD")
        if not one["p_flags"] & _WRITABLE_SEGMENT
    ]
    order: Order = "little" if elf.little_endian else "big"
    symbols = _symbols(elf)
    return (
        DumpedMemory(
            elf.elfclass // 8,
            order,
            symbols,
            sections,
            read_types(elf, symbols),
            _STACK_POINTERS.get(elf["e_machine"], 1 << 16),
        ),
        constant,
    )


def _read_core(
    core: ELFFile, content: memoryview, memory: DumpedMemory, constant: Sequence[Span]
) -> DumpedMemory:
    loads = [one.header for one in core.iter_segments("PT_LOAD") if one["p_filesz"]]
    place = "p_vaddr" if any(one["p_vaddr"] for one in loads) else "p_paddr"  # QEMU may leave it 0
    spans = [
        (one[place], content[one["p_offset"] : one["p_offset"] + one["p_filesz"]]) for one in loads
    ]
    notes = (
        note
        for one in core.iter_segments()
        if isinstance(one, NoteSegment)
        for note in one.iter_notes()
    )
    registers = [
        np.frombuffer(words, memory.kind, len(words) // memory.pointer).astype(np.uint64)
        for one in notes
        if one["n_type"] == "NT_PRSTATUS"
        if len(words := one["n_descdata"][_BEFORE_REGISTERS[memory.pointer] :]) >= memory.pointer
    ]
    return replace(memory, spans=[*spans, *constant], registers=registers)


def _symbols(program: ELFFile) -> dict[str, tuple[int, int]]:
    """The symbols with an address, by name; statics also without the compiler's number."""
    found: dict[str, tuple[int, int]] = {}
    table = program.get_section_by_name(".symtab")
    for row in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
        kind = row["st_info"]["type"]
        if row.name[:1] not in ("", "$") and kind != "STT_FILE" and row["st_shndx"] != "SHN_UNDEF":
            for name in (row.name, row.name.split(".")[0] or row.name):  # a label may begin with it
                found.setdefault(
                    name,
                    (row["st_value"] - (row["st_value"] & (kind == "STT_FUNC")), row["st_size"]),
                )
    return found
