# SPDX-License-Identifier: Apache-2.0
"""Records the heap requests of a Linux program, by a library preloaded into it.

The library writes one file for each process, and for each program a process runs by exec
(recorder/WIRE.md). They lie in a temporary folder beside the output and become stored traces here.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from heapfit import _engine
from heapfit.errors import HeapfitError, os_error_reason
from heapfit.importers import import_file
from heapfit.importers.followed import FollowedWire, Listener, ignore_recording, read_layout
from heapfit.importers.preload import find_program, library_for, preload_first, recorder_settings
from heapfit.importers.processes import (
    Watch,
    describe_ending,
    living_recorders,
    pad_path,
    watch_process,
)
from heapfit.importers.unseen_heaps import describe_unseen, explain_obstacle
from heapfit.outputs.ours import add_output, require_folder, require_replaceable
from heapfit.outputs.scratch import scratch_folder
from heapfit.programs.executable import read_executable
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.stored import Trace

_FILE_NAME = re.compile(r"(\d+)-\d+-(\d+)\.wire")  # process and program
_LEAST_ROOM = 64 << 10  # bytes that a short recording takes, and its trace
_LAST_MOMENT = 0.2  # seconds that other processes have to end after the program

_CONFINED = 2  # HFIT_WIRE_CONFINED
GRACE = 5.0  # seconds that a program has to end after a SIGTERM


@dataclass(frozen=True, slots=True)
class Survivor:
    """A process that outlives the program; its recording goes on."""

    process: int
    name: str
    recordings: Path  # a pattern that names its raw recordings


@dataclass(frozen=True, slots=True)
class ProgramRecording:
    """A program's trace, and how the program ended."""

    trace: Trace | None  # None: it asked for no memory itself, but its children did
    status: int  # its exit status; below 0: the signal that ended it, negated
    is_confined: bool  # it gave up system calls, by seccomp, or rights
    others: int  # other processes that asked for memory and have ended
    replaced: int  # programs that the process was before an exec, and that asked for memory
    children: tuple[Trace, ...]  # traces of both, where they were to be kept
    survivors: tuple[Survivor, ...]
    unseen: str | None  # a sentence on memory that malloc did not give

    @property
    def is_interrupted(self) -> bool:
        """True if Ctrl-C ended the program."""
        return self.status == -signal.SIGINT


class _Image(NamedTuple):
    """The file of one program that one process ran."""

    process: int
    number: int  # counts the process's programs from 0
    path: Path

    def has_records(self) -> bool:
        """True if the program asked for memory."""
        with self.path.open("rb") as file:
            return read_layout(file.fileno()) is not None

    def is_confined(self) -> bool:
        """True if the program gave up system calls or rights: a flag of the header."""
        with self.path.open("rb") as file:
            return bool(struct.unpack_from("<I", file.read(28), 24)[0] & _CONFINED)

    def keep(self, output: Path, progress: Progress) -> Trace:
        """Stores its trace beside the output, named by the process and the program's number."""
        suffix = f".{self.process}" + (f".{self.number}" if self.number else "")
        return import_file(
            self.path, output.with_name(f"{output.stem}{suffix}{output.suffix}"), None, progress
        )


def record(
    command: Sequence[str],
    output: Path | str,
    *,
    progress: Progress = ignore_progress,
    keep_children: bool = False,
    depth: int = 1,
    listener: Listener = ignore_recording,
) -> ProgramRecording:
    """Runs a program, with its input and output untouched, and stores its trace at `output`.

    A program that dies by a signal leaves the trace of its life, and so does one whose recorder is
    sent a SIGTERM, which is passed on. Processes that outlive the program record on into a folder
    that is kept; so is what was recorded where a trace cannot be written. Of children the traces
    are kept beside the output, as <output>.<process>.parquet. `depth`: callers of a call, 1 or 4.
    """
    program, output, ending = find_program(command), Path(output), _Termination()
    _require_place(output)
    with _raw_recordings(output) as raw, _handle_signal(signal.SIGTERM, signal.SIG_DFL, ending.ask):
        environment = recorder_settings(pad_path(raw.folder.resolve()), depth)
        library = _copy_library(library_for(program), raw.folder)
        followed = raw.folder.resolve() if keep_children else None
        with _run(command, library, environment, ending) as process:
            beside = listener(FollowedWire(raw.folder, process.pid))
            with watch_process(process.pid, followed) as watch, beside:
                watch.wait()
                status = process.wait()
        raw.survivors = _find_survivors(raw.folder)
        images = _find_images(raw.folder, raw.living)
        own = [image for image in images if image.process == watch.process]
        if not own and not (keep_children and images):
            if status == -signal.SIGINT:
                raise KeyboardInterrupt
            count = len({image.process for image in images} | raw.living)
            raise HeapfitError(_explain_missing_recording(program, watch, status, count))
        others = [image for image in images if image not in own[-1:]]
        trace = import_file(own[-1].path, output, None, progress) if own else None
        kept = [image.keep(output, progress) for image in others] if keep_children else []
        return ProgramRecording(
            trace,
            status,
            bool(own) and own[-1].is_confined(),
            sum(image.process != watch.process for image in others),
            len(own[:-1]),
            tuple(kept),
            tuple(raw.survivors),
            _describe_later_program(raw.folder, own)
            or _describe_unrecorded(watch)
            or _describe_unseen(watch, trace),
        )


def _require_place(output: Path) -> None:
    """HeapfitError if no trace can be written there, found out by trying its name and the disk."""
    require_folder(output)
    try:
        require_replaceable(output)
        if not output.exists():
            output.touch()
            output.unlink()
        with scratch_folder(output.parent) as folder:
            (folder / "probe").write_bytes(bytes(_LEAST_ROOM))
    except OSError as error:
        raise HeapfitError(_unwritable(output, error)) from error


def _unwritable(output: Path, error: OSError) -> str:
    return f"{output}: cannot be written: {os_error_reason(error)} (choose another place with -o)"


@dataclass(slots=True)
class _Raw:
    """The folder of the raw recordings, and who still writes there."""

    folder: Path
    survivors: list[Survivor] = field(default_factory=list)

    @property
    def living(self) -> set[int]:
        """The processes that still write there."""
        return {one.process for one in self.survivors}

    def is_left(self) -> bool:
        """True if there is something to keep, which no empty file then hides; else it goes."""
        if not self.survivors and not _find_images(self.folder):
            shutil.rmtree(self.folder, ignore_errors=True)
            return False
        for image in _find_files(self.folder):
            if image.process not in self.living and not image.has_records():
                image.path.unlink()
        return True


@contextmanager
def _raw_recordings(output: Path) -> Iterator[_Raw]:
    """A folder for raw recordings, beside the output. It goes once they are traces.

    An error or interrupt leaves it, and says so, if anything was recorded.
    """
    try:
        raw = _Raw(Path(tempfile.mkdtemp(prefix=f".{output.stem[:40]}-", dir=output.parent)))
    except OSError as error:
        raise HeapfitError(_unwritable(output, error)) from error
    try:
        yield raw
    except HeapfitError as error:
        if raw.is_left():
            raise HeapfitError(f"{error}; kept: {_import_command(raw.folder, output)}") from error
        raise
    except BaseException:
        if raw.is_left():
            add_output(raw.folder)
        raise
    if not raw.survivors:
        shutil.rmtree(raw.folder, ignore_errors=True)


def _import_command(folder: Path, output: Path) -> str:
    """What makes traces of a folder of raw recordings."""
    many = "-o FOLDER" if len(_find_images(folder)) > 1 else f"-o {shlex.quote(str(output))}"
    return f"heapfit import {shlex.quote(str(folder))}/*.wire {many}"


def _copy_library(library: Path, folder: Path) -> Path:
    """A copy of the recorder beside its recordings: by it, whoever has loaded it is found.

    The recorder itself where programs may not be run from there.
    """
    if os.statvfs(folder).f_flag & os.ST_NOEXEC:
        return library
    try:
        folder.chmod(0o711)  # for programs that give up the rights to read the folder
        return Path(shutil.copy(library, folder.resolve()))
    except OSError:
        return library


def _find_survivors(folder: Path) -> list[Survivor]:
    """The processes that record on, after a moment for those that are about to end."""
    until = time.monotonic() + _LAST_MOMENT
    while (living := living_recorders(folder.resolve())) and time.monotonic() <= until:
        time.sleep(_LAST_MOMENT / 10)
    return [
        Survivor(process, name, folder / f"{process}-*.wire")
        for process, name in sorted(living.items())
    ]


def _explain_exec(watch: Watch, recorded: str) -> str | None:
    """The reason why the program that the process became by exec was not recorded."""
    for seen in (watch.executable, shutil.which(watch.last_name)):
        last = read_executable(Path(seen)) if seen else None
        obstacle = explain_obstacle(last) if last and last.path.name != recorded else None
        if last and obstacle:
            return f"{last.path}, which it became by exec, {obstacle}"
    name = watch.executable.name.removesuffix(" (deleted)") if watch.executable else recorded
    if recorded and name != recorded:
        return (
            f"{watch.executable}, which it became by exec, was started without the recorder in its "
            "environment (record it itself)"
        )
    return None


def _describe_later_program(folder: Path, own: Sequence[_Image]) -> str | None:
    """A sentence on the program that the process became last, if it recorded nothing."""
    for image in _find_files(folder):
        if own and image.process == own[-1].process and image.number > own[-1].number:
            later = image.path.read_bytes()[56:248].split(b"\0")[0].decode(errors="replace")
            return (
                f"Not recorded: {later}, which it became by exec, asked malloc for nothing (it may "
                "bring its own)."
            )
    return None


def _describe_unrecorded(watch: Watch) -> str | None:
    """A sentence on the children that run without the recorder, as far as they were seen."""
    if not watch.unrecorded:
        return None
    names = ", ".join(f"{name} ({process})" for process, name in watch.unrecorded.items())
    return f"Not recorded: {names}: started without the recorder in LD_PRELOAD (record it itself)."


def _describe_unseen(watch: Watch, trace: Trace | None) -> str | None:
    became = _explain_exec(watch, trace.info.program if trace else "")
    if became is not None:
        return f"Not recorded: {became}."
    if watch.anonymous == 0 or (trace is not None and not trace.fits_in_memory):
        return None
    return describe_unseen(watch, _engine.u_max(trace.events()) if trace else 0)


@contextmanager
def _run(
    command: Sequence[str], library: Path, environment: Mapping[str, str], ending: _Termination
) -> Iterator[subprocess.Popen[bytes]]:
    """The program, running. Ctrl-C is left to it, which it reaches, too; what it did is kept."""
    with ExitStack() as stack:
        stack.enter_context(
            _handle_signal(signal.SIGINT, signal.default_int_handler, lambda *_: None)
        )
        recorded = {**os.environ, **preload_first(library, stack), **environment}
        try:
            process = subprocess.Popen(command, env=recorded)
        except OSError as error:
            raise HeapfitError(f"{command[0]}: cannot be run: {error.strerror}") from error
        ending.begin(process)
        yield process


class _Termination:
    """Passes a SIGTERM on to the program, which is killed if it lives on; its recording is kept."""

    _process: subprocess.Popen[bytes] | None = None
    _is_asked = False

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
            kill = self._process.kill  # by no thread, which would outlive the recording
            signal.signal(signal.SIGALRM, lambda *_: kill())
            signal.setitimer(signal.ITIMER_REAL, GRACE)


@contextmanager
def _handle_signal(number: int, ours: object, handler: Callable[..., None]) -> Iterator[None]:
    """Handles a signal within the context, unless it has a handler already.

    A handler, unlike one that ignores the signal, is not inherited by the program.
    """
    before = signal.getsignal(number)
    is_ours = threading.current_thread() is threading.main_thread() and before is ours
    if is_ours:
        signal.signal(number, handler)
    try:
        yield
    finally:
        if is_ours:
            signal.signal(number, before)


def _find_files(folder: Path) -> Iterator[_Image]:
    """The files of all programs, also those without records."""
    names = ((_FILE_NAME.fullmatch(path.name), path) for path in folder.iterdir())
    return (_Image(int(name[1]), int(name[2]), path) for name, path in names if name)


def _find_images(folder: Path, living: Collection[int] = ()) -> list[_Image]:
    """The files that hold records, in the order of processes and their programs.

    Those of living processes are left out.
    """
    return sorted(
        one for one in _find_files(folder) if one.process not in living and one.has_records()
    )


def _explain_missing_recording(program: Path, watch: Watch, status: int, others: int) -> str:
    """The reason why the program itself left no recording; `others` are processes that did."""
    ending, became = describe_ending(status), _explain_exec(watch, program.name)
    last = read_executable(watch.executable or program)
    reasons = (
        (
            others,
            f"{program}: {ending} and asked for no memory itself, but {others} other "
            f"{'process' if others == 1 else 'processes'} did (record with --children)",
        ),
        (
            last and "malloc" in last.symbols,
            f"{last and last.path}: brings its own malloc, so no recorder sees what it asks for "
            "(build it without, or with the malloc in a library of its own)",
        ),
        (became, f"{program}: {became}"),
        (
            True,
            f"{program}: {ending} and left no recording: it asked for no memory, or the disk is "
            "full",
        ),
    )
    return next(text for holds, text in reasons if holds)
