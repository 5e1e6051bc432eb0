# SPDX-License-Identifier: Apache-2.0
"""What a program's ELF file shows of its heap: the C library, a malloc of its own, a sanitizer."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import DWARFError, ELFError
from elftools.construct.core import ConstructError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.hash import ELFHashSection, GNUHashSection
from elftools.elf.segments import InterpSegment

from heapfit.errors import HeapfitError, read_error_reason

ELF = b"\x7fELF"  # how such a file begins
_ASKED = (  # symbols that are looked up
    "malloc",
    "PyObject_Malloc",
    "_ZN2v87Isolate10GetCurrentEv",
    *(_INITS := ("__asan_init", "__tsan_init", "__msan_init", "__lsan_init", "__hwasan_init")),
)
_SANITIZERS = dict(zip(_INITS, ("address", "thread", "memory", "leak", "hwaddress"), strict=True))
_LIBRARIES = {"address": "asan", "thread": "tsan", "leak": "lsan", "hwaddress": "hwasan"}
# What pyelftools raises at a damaged file, and readers that follow its numbers.
DAMAGED = (
    ELFError,
    ConstructError,
    ValueError,
    LookupError,
    TypeError,
    OverflowError,
    AttributeError,
    MemoryError,
    AssertionError,
    *(DWARFError, NotImplementedError, RecursionError),
)


@dataclass(frozen=True, slots=True)
class Executable:
    """A program, or the interpreter of a script, as far as its file shows it."""

    path: Path
    bits: int  # of its pointers
    loader: str  # the dynamic loader; "" if it is statically linked
    libraries: tuple[str, ...]  # those that it is linked with
    symbols: frozenset[str]  # of those looked up, the ones that it defines for its libraries
    is_go: bool

    @property
    def is_musl(self) -> bool:
        """True if musl is its C library."""
        return "ld-musl" in self.loader

    @property
    def sanitizer(self) -> str | None:
        """The sanitizer that replaces its malloc, as the compiler's -fsanitize names it."""
        named = (
            name
            for symbol, name in _SANITIZERS.items()
            if symbol in self.symbols
            or any(one.startswith(f"lib{_LIBRARIES.get(name, name)}.so") for one in self.libraries)
        )
        return next(named, None)


def read_executable(program: Path) -> Executable | None:
    """The program's executable, a script's interpreter; None if it is neither or damaged."""
    try:
        path = _interpreter(program) or program
        with path.open("rb") as file:
            return _read(path, ELFFile(file)) if file.read(len(ELF)) == ELF else None
    except (ELFError, ValueError, KeyError, UnicodeDecodeError):
        return None
    except OSError as error:
        raise HeapfitError(f"{program}: cannot be read: {read_error_reason(error)}") from error


def _interpreter(program: Path) -> Path | None:
    """The program that a script's first line names; through env, the one on PATH."""
    with program.open("rb") as file:
        line = file.readline(256)
    if not line.startswith(b"#!"):
        return None
    words = shlex.split(line[2:].decode())
    if Path(words[0]).name == "env":
        words = [one for one in words[1:] if "=" not in one and not one.startswith("-")]
    found = shutil.which(words[0]) if words else None
    return Path(found) if found else None


def _read(path: Path, file: ELFFile) -> Executable:
    segments = list(file.iter_segments())
    loaders = [one.get_interp_name() for one in segments if isinstance(one, InterpSegment)]
    dynamic = [one for one in segments if isinstance(one, DynamicSegment)]
    is_go = any(b"Go\0\0" in one.data() for one in segments if one["p_type"] == "PT_NOTE")
    return Executable(
        path,
        file.elfclass,
        loaders[0] if loaders else "",
        tuple(str(vars(tag)["needed"]) for one in dynamic for tag in one.iter_tags("DT_NEEDED")),
        frozenset(_find_defined(file)),
        is_go or file.get_section_by_name(".go.buildinfo") is not None,
    )


def _find_defined(file: ELFFile) -> Iterator[str]:
    table = file.get_section_by_name(".gnu.hash") or file.get_section_by_name(".hash")
    if not isinstance(table, GNUHashSection | ELFHashSection):
        return
    for name in _ASKED:
        symbol = table.get_symbol(name)
        if symbol is not None and symbol["st_shndx"] != "SHN_UNDEF":
            yield name


@contextmanager
def explain_elf_errors(path: Path) -> Iterator[None]:
    """A context in which the file is read: HeapfitError if it cannot be, or is no ELF file."""
    try:
        yield
    except OSError as error:
        raise HeapfitError(f"{path}: {read_error_reason(error)}") from error
    except DAMAGED as error:
        raise HeapfitError(f"{path}: is empty, damaged or no ELF file") from error
