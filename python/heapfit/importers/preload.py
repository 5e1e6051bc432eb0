# SPDX-License-Identifier: Apache-2.0
"""The library that records a program, and the test if the loader would load it."""

from __future__ import annotations

import os
import shutil
import stat
import struct
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from heapfit import _engine
from heapfit.errors import HeapfitError, require_linux
from heapfit.importers.processes import pad_path
from heapfit.importers.unseen_heaps import explain_obstacle
from heapfit.outputs.scratch import scratch_folder
from heapfit.programs.executable import Executable, explain_elf_errors, read_executable

LIBRARY = Path(_engine.__file__).with_name("libheapfit_record.so")
LIBRARY_32 = LIBRARY.with_name("libheapfit_record32.so")  # for 32-bit programs, where it was built
LIBRARY_MUSL = LIBRARY.with_name("libheapfit_record_musl.so")  # likewise, for programs of musl
OWN_BITS = 8 * struct.calcsize("P")
_PRELOAD_SEPARATORS = frozenset(" :")


def library_for(program: Path) -> Path:
    """The recorder of the program's C library and pointer size; of a script, its interpreter's."""
    executable = read_executable(program)
    return LIBRARY if executable is None else _library_of(executable)


def _library_of(executable: Executable) -> Path:
    return (
        LIBRARY_MUSL
        if executable.is_musl
        else LIBRARY
        if executable.bits == OWN_BITS
        else LIBRARY_32
    )


def recorder_settings(place: str, depth: int = 1) -> dict[str, str]:
    """The variables that set where the library records, and how many callers of each request."""
    return {"HEAPFIT_RECORD": place, **({"HEAPFIT_SITE_DEPTH": str(depth)} if depth > 1 else {})}


def environment(folder: Path, program: str | None = None, depth: int = 1) -> dict[str, str]:
    """The environment in which a program records itself into `folder`.

    For programs that others start, as services; `program` is named as for a shell. HeapfitError if
    that cannot be.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise HeapfitError(f"{folder}: is not a folder (create it, writable by the program's user)")
    library = LIBRARY if program is None else library_for(find_program([program]))
    for path in (library, folder):
        if not _PRELOAD_SEPARATORS.isdisjoint(str(path)):
            raise HeapfitError(f"{path}: has a blank or a colon, which LD_PRELOAD cannot hold")
    return {"LD_PRELOAD": str(library), **recorder_settings(str(folder), depth)}


def find_program(command: Sequence[str]) -> Path:
    """Finds the program that a shell would run; HeapfitError if it cannot be recorded."""
    if not command:
        raise HeapfitError("no program is named (give its path, and arguments behind it)")
    name = command[0]
    require_linux(f"{name}: to record or to run a program")
    path = shutil.which(name)
    if path is None:
        raise HeapfitError(
            f"{name}: is no program (`heapfit import` reads logs)"
            if Path(name).is_file()
            else f"{name}: no such program (give its path, or check PATH)"
        )
    program = Path(path)
    with explain_elf_errors(program):
        reason = _obstacle(program)
    if reason is not None:
        raise HeapfitError(f"{program}: {reason}")
    return program


def _obstacle(program: Path) -> str | None:
    """The reason why the loader would not load the recorder, as far as the files show it."""
    status = program.stat()
    others = (
        (stat.S_ISUID, status.st_uid, os.geteuid()),
        (stat.S_ISGID, status.st_gid, os.getegid()),
    )
    if any(status.st_mode & bit and its != ours for bit, its, ours in others):
        return "is setuid, so no recorder can be preloaded (run as that user)"
    executable = read_executable(program)
    if executable is None:
        return None  # the system says what it is
    return explain_obstacle(executable) or _explain_missing_library(executable)


def _explain_missing_library(executable: Executable) -> str | None:
    if executable.is_musl and executable.bits != OWN_BITS:
        return "is a program of musl and of another pointer size, which has no recorder"
    if _library_of(executable).exists():
        return None
    kind, package = (
        ("a program of musl", "musl-gcc, as of Debian's musl-tools")
        if executable.is_musl
        else ("a 32-bit program", "gcc-multilib")
    )
    return (
        f"is {kind}, and heapfit was built without a recorder for these (install {package}, then "
        "install heapfit anew)"
    )


def preload_first(library: Path, stack: ExitStack) -> dict[str, str]:
    """The variable that loads a library before the others that are preloaded already."""
    path = pad_path(_preload_path(library, stack))
    return {"LD_PRELOAD": ":".join(filter(None, [path, os.environ.get("LD_PRELOAD", "")]))}


def _preload_path(library: Path, stack: ExitStack) -> Path:
    """The recorder's path, or one without the characters that separate paths in LD_PRELOAD."""
    if _PRELOAD_SEPARATORS.isdisjoint(str(library)):
        return library
    link = Path(stack.enter_context(scratch_folder())) / library.name
    link.symlink_to(library)
    return link
