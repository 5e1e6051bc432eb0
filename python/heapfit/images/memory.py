# SPDX-License-Identifier: Apache-2.0
"""The memory that a dump has, with the symbols of the program that ran.

    core.elf       PT_LOAD segments, and the registers as PT_NOTE has them
    coredump.bin   Zephyr's own form, also a log that has it as "#CD:" lines
    dump.bin       raw bytes, which lie at an address that the user gives; all may be packed
    firmware.elf   symbols; what is never written, such as code, where the dump left it out

A dump is not to be trusted: every read is checked, and raises `UnreadError` where nothing lies.
"""

from __future__ import annotations

import re
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
from heapfit.outputs.printable import printable
from heapfit.programs.executable import explain_elf_errors

Order: TypeAlias = Literal["little", "big"]
Numbers: TypeAlias = NDArray[np.uint64]
Span: TypeAlias = tuple[int, memoryview]  # an address, and the bytes that lie there
_Part: TypeAlias = tuple[int, int, int]  # an address, where its bytes are in the dump, how many

_WRITABLE_SECTION, _WRITABLE_SEGMENT = 1, 2  # flags
_BEFORE_REGISTERS = {4: 72, 8: 112}  # bytes of a note PRSTATUS, by those of a pointer
_STACK_POINTERS = {  # the number of the register
    **{"EM_ARM": 13, "EM_RISCV": 2, "EM_AARCH64": 31},
    **{"EM_386": 15, "EM_X86_64": 19},  # of simulators
}
_SEARCHED = 1 << 24  # bytes of a log, behind which no core dump is looked for
_PRINTED = re.compile(rb"#CD:((?:[0-9a-f]{2})+)(?![\w#])")  # by Zephyr
_HEADER, _MEMORY = 12, ord("M")  # of Zephyr's form: bytes, and the letter of a part with memory


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
    notes: Sequence[str] = ()  # on what the dump should have and has not

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
        core = ELFFile(BytesIO(content)) if content.startswith(b"\x7fELF") else None
        if core and at is not None:
            raise HeapfitError(f"{dump}: is an ELF core, which says where it lies (without --at)")
        # Memory that was printed as Intel HEX is known by its first line.
        if core is None and (at is None or any(find_foreign(content[:32]))):
            content = bytes.fromhex(b"".join(_PRINTED.findall(content)).decode()) or content
            if not content.startswith(b"ZE"):
                what, do = find_foreign(content[:_SEARCHED])
                raise HeapfitError(
                    f"{dump}: is {what or 'no ELF core'} "
                    f"({do or 'of raw memory say --at ADDRESS, where it begins'})"
                )
        parts = (
            _list_loads(core)
            if core
            else _list_own(content, memory.pointer)
            if at is None
            else [(at, 0, len(content))]
        )
        spans = [(one, memoryview(content)[first : first + size]) for one, first, size in parts]
        lost = sum(size for *_, size in parts) - sum(len(data) for _, data in spans)
        return replace(
            memory,
            spans=[*spans, *constant],
            registers=_read_registers(core, memory) if core else (),
            notes=[f"{printable(dump.name)} is cut: {lost:,} B of memory are missing"] * (lost > 0),
        )


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


def _list_loads(core: ELFFile) -> list[_Part]:
    return [  # QEMU may leave virtual addresses 0
        (one["p_vaddr"] or one["p_paddr"], one["p_offset"], one["p_filesz"])
        for one in core.iter_segments("PT_LOAD")
    ]


def _list_own(content: bytes, pointer: int) -> list[_Part]:
    """The memory in Zephyr's own form: its parts are a letter, a version, and

    M: the first address, and that behind the last byte; others: a number of bytes, of 16 bits.
    """
    found, at = list[_Part](), _HEADER
    while at < len(content):
        size, count = (pointer, 2) if content[at] == _MEMORY else (2, 1)
        start = at + 3 + size * count
        first, behind = [
            0,
            *(int.from_bytes(content[i : i + size], "little") for i in range(at + 3, start, size)),
        ][-2:]
        found += [(first, start, max(behind - first, 0))] * (count - 1)
        at = start + max(behind - first, 0)
    return found


def _read_registers(core: ELFFile, memory: DumpedMemory) -> list[Numbers]:
    """Those of each thread."""
    return [
        np.frombuffer(words, memory.kind, len(words) // memory.pointer).astype(np.uint64)
        for one in core.iter_segments()
        if isinstance(one, NoteSegment)
        for note in one.iter_notes()
        if note["n_type"] == "NT_PRSTATUS"
        if len(words := note["n_descdata"][_BEFORE_REGISTERS[memory.pointer] :]) >= memory.pointer
    ]


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
