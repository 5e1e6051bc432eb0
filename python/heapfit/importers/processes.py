# SPDX-License-Identifier: Apache-2.0
"""What Linux shows of running programs: /proc, where it can be read."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_PATH_LENGTH = 255  # of paths in the environment, where they are not longer
_PROC = Path("/proc")
_RECORDER = b"/libheapfit_record"  # how the paths of the recorder's libraries end, in LD_PRELOAD
_FIRST_LOOK = 0.004  # seconds; each later one comes half as late again
_LONGEST_WAIT = 0.25  # seconds


@dataclass(slots=True)
class Watch:
    """What was seen of a process while it ran; a short one may end before the first look."""

    process: int
    anonymous: int = 0  # bytes of resident memory of no file, the most that was seen
    mapped_bytes: int = 0  # of them, those beyond the heap that brk grows and the stack
    executable: Path | None = None  # the last that it was seen to run
    mapped: frozenset[str] = frozenset()  # names of the files that it had mapped
    last_name: str = ""  # of the program that it ended as, as ps shows it: 15 bytes, or its own
    unrecorded: dict[int, str] = field(default_factory=dict)  # processes below it, their names
    _end: threading.Event = field(default_factory=threading.Event)

    def look(self, recordings: Path | None = None) -> None:
        """Reads what /proc shows now; nothing once the process has ended.

        With the folder that is recorded into, also which processes below it do not record.
        """
        folder = _PROC / str(self.process)
        with suppress(OSError, ValueError):
            self.executable = (folder / "exe").readlink()
            self._take_maps((folder / "smaps").read_text(errors="replace"))
        if recordings is not None:
            self.unrecorded |= _name_those(_descendants(self.process), recordings, record=False)

    def _take_maps(self, text: str) -> None:
        """Sums the mappings up: a header line each, with a file's path if it has one."""
        name, anonymous, mapped, files = "", 0, 0, set()
        for line in text.splitlines():
            words = line.split()
            if not words[0].endswith(":"):
                name = words[5] if len(words) > 5 else ""
                files.add(name.rpartition("/")[2])
            elif words[0] == "Anonymous:" and not name.startswith("/") and name != "[stack]":
                anonymous += int(words[1]) * 1024
                mapped += int(words[1]) * 1024 * (name != "[heap]")
        self.anonymous = max(self.anonymous, anonymous)
        self.mapped_bytes = max(self.mapped_bytes, mapped)
        self.mapped = frozenset(files)

    def wait(self) -> None:
        """Waits for the end of the process, and reads what it ended as; it is not reaped yet."""
        os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOWAIT)
        with suppress(OSError):
            self.last_name = _name_of(self.process)

    def _run(self, recordings: Path | None) -> None:
        wait = _FIRST_LOOK
        while not self._end.wait(wait):
            self.look(recordings)
            wait = min(wait * 1.5, _LONGEST_WAIT)


@contextmanager
def watch_process(process: int, recordings: Path | None) -> Iterator[Watch]:
    """Looks at a process again and again while the body runs, and with a folder below it, too."""
    watch = Watch(process)
    looking = threading.Thread(target=watch._run, args=(recordings,), daemon=True)
    looking.start()
    try:
        yield watch
    finally:
        watch._end.set()
        looking.join()


def pad_path(path: Path) -> str:
    """An absolute path with so many slashes at its start that most paths are of one length.

    Programs that copy their environment then ask for the same sizes wherever they are recorded.

    >>> len(pad_path(Path("/tmp"))) == len(pad_path(Path("/tmp/folder")))
    True
    """
    return f"{path}".rjust(_PATH_LENGTH, "/")


def living_recorders(folder: Path) -> dict[int, str]:
    """Processes that still record into `folder`, and their names."""
    return _name_those(
        ((int(one.name) for one in _PROC.iterdir() if one.name.isdecimal())), folder, record=True
    )


def _name_those(processes: Iterable[int], folder: Path, *, record: bool) -> dict[int, str]:
    """The names of those processes that record into a folder, or of those that do not."""
    found = {}
    for process in processes:
        with suppress(OSError):
            if _records_into(folder, process) is record:
                found[process] = _name_of(process)
    return found


def _records_into(folder: Path, process: int) -> bool:
    """True if it has a file of the folder mapped, or shows recorder and folder in its environment.

    Daemons overwrite that, and a program that has just begun has mapped nothing.
    """
    entry, asked = _PROC / str(process), os.fsencode(f"HEAPFIT_RECORD={pad_path(folder)}\0")
    environment = (entry / "environ").read_bytes() + b"\0"
    is_asked = asked in environment and _RECORDER in environment
    return is_asked or os.fsencode(folder) + b"/" in (entry / "maps").read_bytes()


def _name_of(process: int) -> str:
    return (_PROC / str(process) / "comm").read_text(errors="replace").removesuffix("\n")


def _descendants(process: int) -> Iterator[int]:
    """The processes that it started and that live, and those that these started."""
    with suppress(OSError):
        for thread in (_PROC / str(process) / "task").iterdir():
            for child in map(int, (thread / "children").read_text().split()):
                yield child
                yield from _descendants(child)


def describe_ending(status: int | None) -> str:
    """How a program ended, by its exit status; None: it was ended, as it took too long.

    >>> describe_ending(0), describe_ending(-11)
    ('ended with status 0', 'was killed by SIGSEGV')
    """
    if status is None:
        return "hung"
    if status >= 0:
        return f"ended with status {status}"
    names = {one.value: one.name for one in signal.Signals}  # a real-time signal has none
    return f"was killed by {names.get(-status, f'signal {-status}')}"
