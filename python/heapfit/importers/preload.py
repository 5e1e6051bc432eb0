# SPDX-License-Identifier: Apache-2.0
"""The library that records a program, and the test if the loader would load it."""

from __future__ import annotations

import os
import shutil
import stat
import struct
import tempfile
from contextlib import ExitStack
from pathlib import Path

from heapfit import _engine
from heapfit.errors import HeapfitError

LIBRARY = Path(_engine.__file__).with_name("libheapfit_record.so")
LIBRARY_32 = LIBRARY.with_name("libheapfit_record32.so")  # for 32-bit programs, where it was built
_PRELOAD_SEPARATORS = frozenset(" :")
_ELF_32_BIT = 1
_PT_INTERP = 3  # the program header of a dynamically linked program


def library_for(program: Path) -> Path:
    """The recorder of the program's pointer size; scripts count as 64-bit programs."""
    with program.open("rb") as file:
        head = file.read(5)
    return LIBRARY_32 if head == b"\x7fELF" + bytes([_ELF_32_BIT]) else LIBRARY


def recorder_settings(folder: Path, depth: int = 1) -> dict[str, str]:
    """The variables that set where the library records, and how many callers of each request."""
    return {
        "HEAPFIT_RECORD": str(folder),
        **({"HEAPFIT_SITE_DEPTH": str(depth)} if depth > 1 else {}),
    }


def environment(folder: Path, program: str | None = None, depth: int = 1) -> dict[str, str]:
    """The environment in which a program records itself into `folder`.

    For programs that others start, as services; `program` is named as for a shell. HeapfitError if
    that cannot be.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise HeapfitError(f"{folder}: is not a folder (create it, writable by the program's user)")
    library = LIBRARY if program is None else library_for(find_program(program))
    for path in (library, folder):
        if not _PRELOAD_SEPARATORS.isdisjoint(str(path)):
            raise HeapfitError(f"{path}: has a blank or a colon, which LD_PRELOAD cannot hold")
    return {"LD_PRELOAD": str(library), **recorder_settings(folder, depth)}


def find_program(name: str) -> Path:
    """Finds the program that a shell would run; HeapfitError if it cannot be recorded."""
    path = shutil.which(name)
    if path is None:
        raise HeapfitError(f"{name}: no such program (give its path, or check PATH)")
    program = Path(path)
    try:
        reason = _obstacle(program)
    except OSError as error:
        raise HeapfitError(f"{program}: cannot be read: {error.strerror}") from error
    if reason is not None:
        raise HeapfitError(f"{program}: {reason}")
    return program


def _obstacle(program: Path) -> str | None:
    """The reason why the loader would not load the recorder, as far as the file shows it."""
    status = program.stat()
    is_other_user = status.st_mode & stat.S_ISUID and status.st_uid != os.geteuid()
    is_other_group = status.st_mode & stat.S_ISGID and status.st_gid != os.getegid()
    if is_other_user or is_other_group:
        return "is setuid, so no recorder can be preloaded (run as that user)"
    with program.open("rb") as file:
        head = file.read(64)
        if len(head) < 64 or not head.startswith(b"\x7fELF"):
            return None  # a script: its interpreter's to say
        is_short = head[4] == _ELF_32_BIT
        if is_short and not LIBRARY_32.exists():
            return (
                "is a 32-bit program, and heapfit was built without a recorder for these (install "
                "gcc-multilib, then install heapfit anew)"
            )
        (table,) = (
            struct.unpack_from("<I", head, 28) if is_short else struct.unpack_from("<Q", head, 32)
        )
        size, count = struct.unpack_from("<HH", head, 42 if is_short else 54)
        file.seek(table)
        headers = file.read(size * count)
    kinds = {headers[at : at + 4] for at in range(0, len(headers), max(size, 1))}
    if struct.pack("<I", _PT_INTERP) not in kinds:
        return "is statically linked, so no recorder can be preloaded (link it dynamically)"
    return None


def preload_path(library: Path, stack: ExitStack) -> Path:
    """The recorder's path, or one without the characters that separate paths in LD_PRELOAD."""
    if _PRELOAD_SEPARATORS.isdisjoint(str(library)):
        return library
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="heapfit-")))
    link = folder / library.name
    link.symlink_to(library)
    return link
