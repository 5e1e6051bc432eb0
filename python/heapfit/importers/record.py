# SPDX-License-Identifier: Apache-2.0
"""Recording what a Linux program asks of its heap, by a library preloaded into it.

The library writes one file for each process, and for each program a process runs by exec
(recorder/WIRE.md). They lie in a temporary folder beside the output and become stored traces here.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, import_file
from heapfit.progress import Progress, no_progress
from heapfit.trace.stored import Trace

LIBRARY = Path(_engine.__file__).with_name("libheapfit_record.so")
_FILE_NAME = re.compile(r"(\d+)-\d+-(\d+)\.wire")

_PRELOAD_SEPARATORS = frozenset(" :")
_ELF_32_BIT = 1
_CONFINED = 2  # HFIT_WIRE_CONFINED
_PT_INTERP = 3  # the program header of a dynamically linked program


@dataclass(frozen=True, slots=True)
class Recording:
    """A program's trace, with what became of the program."""

    trace: Trace
    status: int  # its exit status; below 0: the signal that ended it, negated
    is_confined: bool  # it gave up system calls, by seccomp, or rights
    others: int  # other processes, and programs replaced by exec, that asked for memory
    children: tuple[Trace, ...]  # theirs, where they were to be kept


@dataclass(frozen=True, slots=True, order=True)
class _Image:
    """The file of one program that one process ran."""

    process: int
    number: int  # counts the process's programs from 0
    path: Path


def record(
    command: Sequence[str],
    output: Path,
    keep_children: bool = False,
    progress: Progress = no_progress,
) -> Recording:
    """Runs a program, with its input and output untouched, and stores its trace at `output`.

    Children are kept beside it, as <output>.<process>.parquet. A program that dies by a signal
    leaves the trace of its life. A process that outlives the program is recorded until then.
    """
    program = _found(command[0])
    _require_place(output)
    try:
        folder = tempfile.TemporaryDirectory(prefix=f".{output.stem[:40]}-", dir=output.parent)
    except OSError as error:
        raise HeapfitError(f"{output}: cannot be written: {error.strerror or error}") from error
    with folder as name:
        process, status = _run(command, Path(name).resolve())
        images = _images(Path(name))
        own = [image for image in images if image.process == process]
        if not own:
            raise HeapfitError(_unrecorded(program, status))
        main = own[-1]  # of a shell that ends in exec, the program it became
        is_confined = _is_confined(main.path)
        trace = import_file(main.path, output, ImportOptions(), progress)
        others = [image for image in images if image != main]
        kept = [_keep(image, output, progress) for image in others] if keep_children else []
    return Recording(trace, status, is_confined, len(others), tuple(kept))


def _found(name: str) -> Path:
    """The program a shell would run, if the recorder can be loaded into it."""
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
    """Why the loader would not load the recorder into this program, as far as its file tells."""
    status = program.stat()
    is_other_user = status.st_mode & stat.S_ISUID and status.st_uid != os.geteuid()
    is_other_group = status.st_mode & stat.S_ISGID and status.st_gid != os.getegid()
    if is_other_user or is_other_group:
        return (
            "runs with the rights of another (setuid), which keeps recorders out (run as that user)"
        )
    with program.open("rb") as file:
        head = file.read(64)
        if len(head) < 64 or not head.startswith(b"\x7fELF"):
            return None  # a script: its interpreter's to say
        if head[4] == _ELF_32_BIT:
            return "is a 32-bit program, and this recorder is 64-bit (build a 32-bit recorder)"
        (table,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        file.seek(table)
        headers = file.read(size * count)
    kinds = {headers[at : at + 4] for at in range(0, len(headers), max(size, 1))}
    if struct.pack("<I", _PT_INTERP) not in kinds:
        return "is statically linked, so no recorder can be preloaded (link it dynamically)"
    return None


def _require_place(output: Path) -> None:
    if not output.parent.is_dir():
        raise HeapfitError(f"{output}: its folder does not exist (create it)")
    if output.is_dir():
        raise HeapfitError(f"{output}: is a folder (name the trace to write)")


def _run(command: Sequence[str], folder: Path) -> tuple[int, int]:
    """The process's number and how it ended."""
    with ExitStack() as stack:
        stack.enter_context(_interrupts_left_to_the_program())
        preload = [str(_preloadable(stack)), os.environ.get("LD_PRELOAD", "")]
        recorded = {
            **os.environ,
            "LD_PRELOAD": ":".join(filter(None, preload)),
            "HEAPFIT_RECORD": str(folder),
        }
        try:
            process = subprocess.Popen(command, env=recorded)
        except OSError as error:
            raise HeapfitError(f"{command[0]}: cannot be run: {error.strerror}") from error
        return process.pid, process.wait()


@contextmanager
def _interrupts_left_to_the_program() -> Iterator[None]:
    """Ctrl-C reaches both: the program acts on it, and what it did is kept.

    A handler of ours, unlike one that ignores the signal, is not inherited by the program.
    """
    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if is_ours:
        signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _preloadable(stack: ExitStack) -> Path:
    """The recorder's path, or one without the characters that separate paths in LD_PRELOAD."""
    if _PRELOAD_SEPARATORS.isdisjoint(str(LIBRARY)):
        return LIBRARY
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="heapfit-")))
    link = folder / LIBRARY.name
    link.symlink_to(LIBRARY)
    return link


def _images(folder: Path) -> list[_Image]:
    """The files that hold records, in the order of processes and their programs."""
    images = []
    for path in folder.iterdir():
        name = _FILE_NAME.fullmatch(path.name)
        if name is not None and _has_records(path):
            images.append(_Image(int(name[1]), int(name[2]), path))
    return sorted(images)


def _has_records(path: Path) -> bool:
    """Whether the first record is committed: its last four bytes are not 0."""
    with path.open("rb") as file:
        head = file.read(16)
        if len(head) < 16:
            return False
        (header_size,) = struct.unpack_from("<I", head, 12)
        file.seek(header_size)
        return any(file.read(32)[28:])


def _is_confined(path: Path) -> bool:
    """As the recorder saw it: a flag of the header."""
    with path.open("rb") as file:
        (flags,) = struct.unpack_from("<I", file.read(28), 24)
    return bool(flags & _CONFINED)


def _keep(image: _Image, output: Path, progress: Progress) -> Trace:
    suffix = f".{image.process}" + (f".{image.number}" if image.number else "")
    path = output.with_name(f"{output.stem}{suffix}{output.suffix}")
    return import_file(image.path, path, ImportOptions(), progress)


def _unrecorded(program: Path, status: int) -> str:
    ending = f"status {status}" if status >= 0 else f"signal {-status}"
    return (
        f"{program}: ended with {ending} and left no recording (it asked for no memory, the disk "
        "is full, or it ran a statically linked, 32-bit or setuid program, which take no recorder)"
    )
