# SPDX-License-Identifier: Apache-2.0
"""What Linux shows of running programs: /proc, where it can be read."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_PROC = Path("/proc")
_FIRST_LOOK = 0.004  # seconds; each later one comes half as late again
_LONGEST_WAIT = 0.25  # seconds


@dataclass(slots=True)
class Watch:
    """What was seen of a process while it ran; a short one may end before the first look."""

    process: int
    anonymous: int = 0  # bytes of resident memory without a file, the most that was seen
    executable: Path | None = None  # the last that it ran
    mapped: frozenset[str] = frozenset()  # names of the files that it had mapped
    _end: threading.Event = field(default_factory=threading.Event)

    def look(self) -> None:
        """Reads what /proc shows now; nothing once the process has ended."""
        folder = _PROC / str(self.process)
        with suppress(OSError, ValueError):
            for line in (folder / "status").read_text(errors="replace").splitlines():
                if line.startswith("RssAnon:"):
                    self.anonymous = max(self.anonymous, int(line.split()[1]) * 1024)
            self.executable = (folder / "exe").readlink()
            lines = (folder / "maps").read_text(errors="replace").splitlines()
            self.mapped = frozenset(line.rpartition("/")[2] for line in lines if "/" in line)

    def _run(self) -> None:
        wait = _FIRST_LOOK
        while not self._end.wait(wait):
            self.look()
            wait = min(wait * 1.5, _LONGEST_WAIT)


@contextmanager
def watch_process(process: int) -> Iterator[Watch]:
    """Looks at a process again and again while the body runs."""
    watch = Watch(process)
    looking = threading.Thread(target=watch._run, daemon=True)
    looking.start()
    try:
        yield watch
    finally:
        watch._end.set()
        looking.join()


def living_recorders(folder: Path, started: dict[int, int]) -> dict[int, str]:
    """Processes that still record into `folder`, and their names.

    `started`: known recorders, and when each started, as /proc has it. Others show the folder in
    their environment.
    """
    wanted = b"HEAPFIT_RECORD=" + os.fsencode(folder) + b"\0"
    numbers = (int(one.name) for one in _PROC.iterdir() if one.name.isdecimal())
    living = {}
    for process in numbers:
        entry = _PROC / str(process)
        with suppress(OSError, ValueError):
            name, start = _name_and_start(entry)
            is_known = started.get(process) == start
            if is_known or wanted in (entry / "environ").read_bytes() + b"\0":
                living[process] = name
    return living


def _name_and_start(entry: Path) -> tuple[str, int]:
    """The process's name, and when it started in clock ticks since boot; ValueError of a zombie."""
    text = (entry / "stat").read_text(errors="replace")
    name, _, rest = text.partition("(")[2].rpartition(")")
    words = rest.split()
    if words[0] in "ZX":
        raise ValueError("has ended")
    return name, int(words[19])
