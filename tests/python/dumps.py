# SPDX-License-Identifier: Apache-2.0
"""Small memory images: an ELF file that is a core and its program in one, and a heap_4 in it."""

import struct
from collections.abc import Sequence
from itertools import pairwise

RAM = 0x20000000
HEAP = RAM + 0x100  # of ucHeap
END = 0x1000  # bytes of it
ROOT = RAM + 0x20  # words that point to blocks
_ARM, _CORE = 40, 4


def elf(
    symbols: dict[str, tuple[int, int]],
    memory: dict[int, bytes],
    registers: Sequence[int] = (),
    machine: int = _ARM,
) -> bytes:
    """A file of 32 bits with these symbols (address, bytes) and this memory, all of it data."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in symbols)
    table = bytes(16)
    for name, (address, size) in symbols.items():
        at = names.index(b"\0" + name.encode() + b"\0") + 1
        table += struct.pack("<IIIBBH", at, address, size, 1, 0, 1)
    section_names = b"\0.data\0.symtab\0.strtab\0.shstrtab\0"
    note = struct.pack("<III", 5, 148, 1) + b"CORE\0\0\0\0" + bytes(72)
    note += struct.pack("<18I", *registers, *(0,) * (18 - len(registers))) + bytes(4)
    parts = [note, *memory.values(), names, table, section_names]
    places = [52 + 32 * (1 + len(memory))]
    for part in parts:
        places.append(places[-1] + len(part))
    heads = struct.pack("<8I", 4, places[0], 0, 0, len(note), 0, 4, 4)
    for at, (address, data) in zip(places[1:], memory.items(), strict=False):
        heads += struct.pack("<8I", 1, at, address, address, len(data), len(data), 6, 4)
    of_names, of_table, of_section_names = places[-4:-1]
    first, data = next(iter(memory.items()))
    sections = bytes(40)
    for name, kind, flags, address, at, size, link, entry in (
        (".data", 1, 3, first, places[1], len(data), 0, 0),
        (".symtab", 2, 0, 0, of_table, len(table), 3, 16),
        (".strtab", 3, 0, 0, of_names, len(names), 0, 0),
        (".shstrtab", 3, 0, 0, of_section_names, len(section_names), 0, 0),
    ):
        index = section_names.index(name.encode())
        sections += struct.pack(
            "<10I", index, kind, flags, address, at, size, link, 0, 4 if entry else 1, entry
        )
    head = b"\x7fELF\1\1\1" + bytes(9)
    numbers = (_CORE, machine, 1, 0, 52, places[-1], 0, 52, 32, len(memory) + 1, 40, 5, 4)
    return head + struct.pack("<HHIIIIIHHHHHH", *numbers) + heads + b"".join(parts) + sections


SYMBOLS = {
    "xStart": (RAM, 8),
    "pxEnd": (RAM + 8, 4),
    "xFreeBytesRemaining": (RAM + 12, 4),
    "roots": (ROOT, 64),
    "ucHeap": (HEAP, END),
}


def heap_4(chunks: Sequence[tuple[int, bool]], roots: Sequence[int] = ()) -> bytearray:
    """The RAM of a program with these chunks: bytes with the header, and if they are used.

    The last one, which is free, takes what is left. Of `roots` each is the number of a chunk.
    """
    memory = bytearray(HEAP - RAM + END)
    end = HEAP + END - 8
    rows, at = [], HEAP
    for size, is_used in (*chunks, (end - HEAP - sum(size for size, _ in chunks), False)):
        rows.append((at, size, is_used))
        at += size
    free = [at for at, _, is_used in rows if not is_used] + [end]
    links = dict(pairwise(free))
    for at, size, is_used in rows:
        word = size | (0x80000000 if is_used else 0)
        struct.pack_into("<II", memory, at - RAM, links.get(at, 0), word)
    total = sum(size for _, size, is_used in rows if not is_used)
    struct.pack_into("<IIII", memory, 0, free[0], 0, end, total)
    for i, chunk in enumerate(roots):
        struct.pack_into("<I", memory, ROOT - RAM + 4 * i, rows[chunk][0] + 8)
    return memory
