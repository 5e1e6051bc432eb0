# SPDX-License-Identifier: Apache-2.0
"""Records the heap requests of a Linux program, by a library preloaded into it.

The library writes one file for each process, and for each program a process runs by exec
(recorder/WIRE.md). They lie in a temporary folder beside the output and become stored traces here.
"""

from __future__ import annotations

import os
import re
import signal
import struct
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, import_file
from heapfit.importers.preload import find_program, library_for, preload_path, recorder_settings
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.stored import Trace

_FILE_NAME = re.compile(r"(\d+)-\d+-(\d+)\.wire")

_CONFINED = 2  # HFIT_WIRE_CONFINED
GRACE = 5.0  # seconds that a program has to end after a SIGTERM


@dataclass(frozen=True, slots=True)
class ProgramRecording:
    """A program's trace, and how the program ended."""

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
    progress: Progress = ignore_progress,
    depth: int = 1,
) -> ProgramRecording:
    """Runs a program, with its input and output untouched, and stores its trace at `output`.

    Children are kept beside it, as <output>.<process>.parquet. A program that dies by a signal
    leaves the trace of its life, and so does one whose recorder is sent a SIGTERM, which is passed
    on. A process that outlives the program is recorded until then. `depth`: callers of each
    request that are recorded, 1 or 4 (docs/recording.md has the cost).
    """
    program = find_program(command[0])
    _require_place(output)
    try:
        folder = tempfile.TemporaryDirectory(prefix=f".{output.stem[:40]}-", dir=output.parent)
    except OSError as error:
        raise HeapfitError(f"{output}: cannot be written: {error.strerror or error}") from error
    with folder as name, _pass_terminations_on() as ending:
        environment = recorder_settings(Path(name).resolve(), depth)
        process, status = _run(command, program, environment, ending)
        images = _images(Path(name))
        own = [image for image in images if image.process == process]
        if not own:
            raise HeapfitError(_explain_missing_recording(program, status))
        main = own[-1]  # of a shell that ends in exec, the program it became
        is_confined = _is_confined(main.path)
        trace = import_file(main.path, output, ImportOptions(), progress)
        others = [image for image in images if image != main]
        kept = [_keep(image, output, progress) for image in others] if keep_children else []
    return ProgramRecording(trace, status, is_confined, len(others), tuple(kept))


def _require_place(output: Path) -> None:
    if not output.parent.is_dir():
        raise HeapfitError(f"{output}: its folder does not exist (create it)")
    if output.is_dir():
        raise HeapfitError(f"{output}: is a folder (name the trace to write)")


def _run(
    command: Sequence[str], program: Path, environment: Mapping[str, str], ending: _Termination
) -> tuple[int, int]:
    """Runs the program; the result is its process number and its exit status."""
    with ExitStack() as stack:
        stack.enter_context(_leave_interrupts())
        preload = [str(preload_path(library_for(program), stack)), os.environ.get("LD_PRELOAD", "")]
        loaded = {"LD_PRELOAD": ":".join(filter(None, preload))}
        recorded = {**os.environ, **loaded, **environment}
        try:
            process = subprocess.Popen(command, env=recorded)
        except OSError as error:
            raise HeapfitError(f"{command[0]}: cannot be run: {error.strerror}") from error
        ending.begin(process)
        return process.pid, process.wait()


class _Termination:
    """Passes a SIGTERM on to the program, which is killed if it lives on; its recording is kept."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_asked = False

    def begin(self, process: subprocess.Popen[bytes]) -> None:
        """Sets the program that a SIGTERM is passed on to."""
        self._process = process
        if self._is_asked:
            self.ask()

    def ask(self, *_: object) -> None:
        """Handles the signal: asks the program to end, and kills it later."""
        self._is_asked = True
        if self._process is not None:
            self._process.terminate()
            last = threading.Timer(GRACE, self._process.kill)
            last.daemon = True
            last.start()


@contextmanager
def _leave_interrupts() -> Iterator[None]:
    """Leaves Ctrl-C to the program, which it reaches, too; what it did is kept."""
    with _handle_signal(signal.SIGINT, signal.default_int_handler, lambda *_: None):
        yield


@contextmanager
def _pass_terminations_on() -> Iterator[_Termination]:
    """Passes a SIGTERM on to the program; what it did until then is kept."""
    ending = _Termination()
    with _handle_signal(signal.SIGTERM, signal.SIG_DFL, ending.ask):
        yield ending


@contextmanager
def _handle_signal(number: int, ours: object, handler: Callable[..., None]) -> Iterator[None]:
    """Handles a signal within the context, unless it has a handler already.

    A handler, unlike one that ignores the signal, is not inherited by the program.
    """
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(number)
    if not is_main or before is not ours:
        yield
        return
    signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def _images(folder: Path) -> list[_Image]:
    """The files that hold records, in the order of processes and their programs."""
    images = []
    for path in folder.iterdir():
        name = _FILE_NAME.fullmatch(path.name)
        if name is not None and _has_records(path):
            images.append(_Image(int(name[1]), int(name[2]), path))
    return sorted(images)


def _has_records(path: Path) -> bool:
    """True if the first chunk's first record is committed: its tag is not 0."""
    with path.open("rb") as file:
        head = file.read(16)
        if len(head) < 16:
            return False
        (header_size,) = struct.unpack_from("<I", head, 12)
        file.seek(header_size)
        return any(file.read(5)[4:])


def _is_confined(path: Path) -> bool:
    """True if the program gave up system calls or rights: a flag of the header."""
    with path.open("rb") as file:
        (flags,) = struct.unpack_from("<I", file.read(28), 24)
    return bool(flags & _CONFINED)


def _keep(image: _Image, output: Path, progress: Progress) -> Trace:
    suffix = f".{image.process}" + (f".{image.number}" if image.number else "")
    path = output.with_name(f"{output.stem}{suffix}{output.suffix}")
    return import_file(image.path, path, ImportOptions(), progress)


def _explain_missing_recording(program: Path, status: int) -> str:
    ending = f"status {status}" if status >= 0 else f"signal {-status}"
    return (
        f"{program}: ended with {ending} and left no recording (it asked for no memory, the disk "
        "is full, or it ran a program that takes no recorder: statically linked, setuid, or of "
        "another pointer size)"
    )
