# SPDX-License-Identifier: Apache-2.0
"""The function and line of a call site, from the program's own file.

A site of a Linux program is a hash of where the call returns to, from the beginning of the file's
mapping, and of the mapping's length (recorder/site.c). So all offsets in its code are hashed, and
those looked up that occur: a million take some milliseconds, and two that agree by chance are one
in thousands. A site of firmware, which nobody moves, is the address itself (recorder/target).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from numpy.typing import NDArray

from heapfit.errors import HeapfitError
from heapfit.external_tool import run
from heapfit.programs.executable import explain_elf_errors
from heapfit.programs.symbol_lists import find_functions

_Frame: TypeAlias = tuple[str | None, str | None]  # function and line

_EXECUTABLE = 1  # PF_X
_PAGE = 4096  # bytes
_MOST_CODE = 1 << 30  # bytes of a program that are looked at
_HASHED_AT_ONCE = 1 << 20
_LOOKED_UP_AT_ONCE = 1000  # addresses on one command line
_TOOL = "addr2line"
_PATIENCE = 60  # seconds; a damaged file may send it round in circles
_UNKNOWN = "??"
_ANSWER = re.compile(r"^0x[0-9a-f]+$")
_PLACE = re.compile(r":(?:\d+|\?)(?: \(.*\))?$")


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """The place of a call site in the code."""

    file: str  # the program's, or the library's
    address: int  # where the call returns to, as the file counts
    function: str | None  # None where the file does not name it
    line: str | None  # "source.c:12", where the file has debugging information
    inner: tuple[str, ...] = field(default=(), compare=False)  # callers below that are named, too

    @property
    def description(self) -> str:
        """The place as text: "function, source.c:12", or the address in its file."""
        where = self.line or (f"{self.file}+" if self.file else "") + f"{self.address:#x}"
        return " < ".join([*self.inner, f"{self.function}, {where}" if self.function else where])

    @property
    def functions(self) -> str | None:
        """The functions alone, as lines move from one build to another.

        >>> SourcePlace("", 16, "main", "hub.c:74", ("keep<int, 2>, hub.c:55",)).functions
        'keep<int, 2> < main'
        """
        inner = [one.rpartition(", ")[0] or one for one in self.inner]
        return self.function and " < ".join([*inner, self.function])


@dataclass(frozen=True, slots=True)
class _Mapping:
    start: int  # address of the first byte mapped
    extent: int  # bytes to the last one's end
    code: tuple[tuple[int, int], ...]  # address and bytes of what can be executed
    is_fixed: bool  # the code runs where the file says: firmware
    machine: str  # as ELF names it
    content: tuple[bytes, ...]  # of the code, where it is fixed
    functions: tuple[tuple[int, int], ...]  # address and end of those that the file names

    def addresses(self, sites: Collection[int]) -> dict[int, int]:
        """The address of each site found."""
        if self.is_fixed:
            return self._find_fixed_addresses(sites)
        wanted = np.array(sorted(sites), np.uint32)
        addresses: dict[int, int] = {}
        for first, last in _pieces(self.code):
            offsets = np.arange(first - self.start, last - self.start, dtype=np.uint64)
            hashes = site_hash(offsets, self.extent)
            for i in np.flatnonzero(np.isin(hashes, wanted)).tolist():
                addresses.setdefault(int(hashes[i]), first + i)
        return addresses

    def _find_fixed_addresses(self, sites: Collection[int]) -> dict[int, int]:
        """The address of each site that is the lower half of one in the code.

        None of an image in which one does not follow a call: it is not the one that was recorded.
        """
        addresses: dict[int, int] = {}
        for (start, size), content in zip(self.code, self.content, strict=True):
            for site in sites:
                is_thumb = self.machine == "EM_ARM" and site % 2 == 1
                offset = (site - is_thumb - start) % 2**32
                if site == 0 or offset > size:
                    continue
                if not _is_call(self.machine, is_thumb, content[max(offset - 4, 0) : offset]):
                    return {}
                addresses[site] = start + offset
        return addresses


def places_in(programs: Sequence[Path], sites: Collection[int]) -> dict[int, SourcePlace]:
    """The place of each site that is in one of these programs and libraries.

    HeapfitError if a file cannot be read or is no ELF file.
    """
    return {site: frames[0] for site, frames in frames_in(programs, sites).items()}


def frames_of(program: Path, sites: Collection[int]) -> dict[int, tuple[SourcePlace, ...]]:
    """The places of each site: where the call is, then where each inlined function around it is."""
    if (functions := find_functions(program, sites)) is not None:
        return {site: (SourcePlace("", site, name, None),) for site, name in functions.items()}
    mapping = mapping_of(program)
    addresses = mapping.addresses(sites)
    answers = _look_up(program, list(addresses.values()))
    return {
        site: tuple(
            # Of stripped files addr2line names the last function before the call.
            SourcePlace(
                program.name,
                address,
                function if any(a < address <= b for a, b in mapping.functions) else None,
                line,
            )
            for function, line in frames
        )
        for (site, address), frames in zip(addresses.items(), answers, strict=True)
    }


def frames_in(
    programs: Sequence[Path], sites: Collection[int]
) -> dict[int, tuple[SourcePlace, ...]]:
    """The places in a program and its libraries; the first file that has a site gives its own."""
    known = (frames_of(program, sites).items() for program in reversed(programs))
    return {site: frames for of_one in known for site, frames in of_one}


def mapping_of(program: Path) -> _Mapping:
    with explain_elf_errors(program), program.open("rb") as file:
        return _read_mapping(program, ELFFile(file))


def _read_mapping(program: Path, elf: ELFFile) -> _Mapping:
    """The mapping that glibc's loader makes, from the first segment's page to the last byte."""
    loaded = list(elf.iter_segments("PT_LOAD"))
    if not loaded:
        raise HeapfitError(f"{program}: nothing in it is loaded (give a program)")
    executable = [one for one in loaded if one["p_flags"] & _EXECUTABLE]
    if any(one["p_offset"] + one["p_filesz"] > elf.stream_len for one in executable):
        raise HeapfitError(f"{program}: its code ends behind the file's end (is it cut?)")
    start = min(one["p_vaddr"] for one in loaded) // _PAGE * _PAGE
    extent = max(one["p_vaddr"] + one["p_memsz"] for one in loaded) - start
    code = tuple((one["p_vaddr"], one["p_filesz"]) for one in executable)
    if extent >= 1 << 63 or sum(size for _, size in code) > _MOST_CODE:  # segments may overlap
        raise HeapfitError(f"{program}: more code than {_MOST_CODE:,} B (is it damaged?)")
    is_fixed = elf["e_type"] == "ET_EXEC" and not any(elf.iter_segments("PT_INTERP"))
    content = tuple(one.data() for one in executable) if is_fixed else ()
    return _Mapping(
        start, extent, code, is_fixed, elf["e_machine"], content, tuple(_functions(elf))
    )


def _functions(elf: ELFFile) -> Iterator[tuple[int, int]]:
    """The start and end of each function in the symbol tables that the file still has."""
    tables = (one for one in elf.iter_sections() if isinstance(one, SymbolTableSection))
    for entry in (symbol.entry for table in tables for symbol in table.iter_symbols()):
        if entry.st_info.type == "STT_FUNC":
            yield entry.st_value, entry.st_value + entry.st_size


def _is_call(machine: str, is_thumb: bool, code: bytes) -> bool:
    """True if these bytes end with a call; True of a machine that is not known here."""
    word = int.from_bytes(code.rjust(4, b"\0"), "little")
    last = word >> 16
    if is_thumb:
        return word & 0xC000F800 == 0xC000F000 or last & 0xFF87 == 0x4780  # bl, blx
    if machine == "EM_ARM":
        return word & 0x0F000000 == 0x0B000000 or word & 0x0FFFFFF0 == 0x012FFF30
    if machine == "EM_RISCV":
        is_short = last & 0xE003 == 0x2001 or last & 0xF07F == 0x9002  # c.jal, c.jalr
        return is_short or word & 0xFFF == 0xEF or word & 0x7FFF == 0xE7  # jal, jalr
    return True


def _pieces(code: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Every address a call can return to, in pieces: the first, and the one after the last."""
    for address, size in code:
        for at in range(0, size + 1, _HASHED_AT_ONCE):
            yield address + at, address + min(at + _HASHED_AT_ONCE, size + 1)


def site_hash(offsets: NDArray[np.uint64], extent: int) -> NDArray[np.uint32]:
    """The hash of each offset from the beginning of a mapping of this length, as recorded."""
    value = offsets ^ np.uint64((extent << 32) & (2**64 - 1))
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ (value >> np.uint64(33))) * np.uint64(factor)
    return np.maximum((value ^ (value >> np.uint64(33))).astype(np.uint32), np.uint32(1))


def _look_up(program: Path, addresses: Sequence[int]) -> list[list[_Frame]]:
    """The functions and lines of the call before each address, innermost first."""
    if addresses and shutil.which(_TOOL) is None:
        raise HeapfitError(f"{_TOOL}: not found (install binutils)")
    pieces = (
        addresses[at : at + _LOOKED_UP_AT_ONCE]
        for at in range(0, len(addresses), _LOOKED_UP_AT_ONCE)
    )
    return [frames for piece in pieces for frames in _addr2line(program, piece)]


def _addr2line(program: Path, addresses: Sequence[int]) -> list[list[_Frame]]:
    words: list[str | Path] = [_TOOL, "-C", "-f", "-s", "-i", "-a", "-e", program.resolve()]
    calls = [max(address - 1, 0) for address in addresses]
    try:
        answers = run([*words, *map(hex, calls)], program.resolve().parent, _PATIENCE)
    except HeapfitError as error:
        raise HeapfitError(f"{program}: its source lines cannot be read: {error}") from error
    # For each address a line with it, then for each function its name, which may have several
    # lines, and its place.
    found: list[list[str]] = []
    for line in answers.split("\n")[:-1]:
        if len(found) < len(calls) and _ANSWER.match(line) and int(line, 16) == calls[len(found)]:
            found.append([])
        elif found:
            found[-1].append(line)
    frames = [list(_read_frames(lines)) for lines in found]
    if len(frames) != len(addresses) or not all(frames):
        raise HeapfitError(
            f"{program}: {_TOOL} printed {len(found)} answers for {len(addresses)} addresses"
        )
    return frames


def _read_frames(lines: Sequence[str]) -> Iterator[_Frame]:
    name: list[str] = []
    for line in lines:
        if name and _PLACE.search(line):
            yield _read_frame("\n".join(name), line)
            name = []
        else:
            name.append(line)


def _read_frame(function: str, line: str) -> _Frame:
    return (
        None if function == _UNKNOWN else function,
        None if line.startswith(_UNKNOWN) or line.endswith(":?") else line.partition(" (")[0],
    )
