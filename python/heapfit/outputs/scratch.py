# SPDX-License-Identifier: Apache-2.0
"""Temporary files and folders that a killed process leaves are removed by the next one there.

Each is locked (flock) while its process lives, and the kernel drops the lock however that ends.
So what has a name of ours and no lock is left over, on whatever machine its process ran. On
Windows, which has no such lock, what is older than a week is.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:
    fcntl = None  # type: ignore[assignment]

_UNLOCKED = -1
_OLD = 7 * 86_400  # seconds
_PREFIX, _SUFFIX = ".heapfit-", ".part"
_NAME = re.compile(r"\.heapfit-\w{8}\.part")


@contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """A folder in `parent`, or in the system's for temporary files, that goes at the end."""
    folder, lock = claim_folder(parent)
    try:
        yield folder
    finally:
        drop(folder, lock)


@contextmanager
def scratch_file(parent: Path) -> Iterator[Path]:
    """A new file in `parent`, which goes at the end unless it was renamed."""
    while True:
        sweep_folder(parent)
        lock, name = tempfile.mkstemp(_SUFFIX, _PREFIX, parent)
        if fcntl is None:
            os.close(lock)  # an open file could not take its place
            lock = _UNLOCKED
            break
        if _claim(Path(name), lock):
            break
    try:
        yield Path(name)
    finally:
        drop(Path(name), lock)


def claim_folder(parent: Path | None = None) -> tuple[Path, int]:
    """A new folder and its lock, for `drop` to end."""
    home = parent or Path(tempfile.gettempdir())
    while True:
        sweep_folder(home)
        folder = Path(tempfile.mkdtemp(_SUFFIX, _PREFIX, home))
        if fcntl is None:
            return folder, _UNLOCKED
        with suppress(FileNotFoundError):  # swept before it was locked
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            if _claim(folder, lock):
                return folder, lock


def drop(path: Path, lock: int) -> None:
    """Removes what was claimed, if it is there, and unlocks it."""
    remove(path)
    if lock != _UNLOCKED:
        os.close(lock)


def _claim(path: Path, lock: int) -> bool:
    """Locks what was just made; false if it was swept before, and then closes the lock.

    File systems without locks leave it unlocked: it can then not be locked by a sweep either.
    """
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX)
    with suppress(FileNotFoundError):
        if os.path.samestat(path.stat(), os.fstat(lock)):
            return True
    os.close(lock)
    return False


@cache
def sweep_folder(parent: Path) -> None:
    """Removes what ended processes of this user left in a folder; once in a process."""
    with suppress(OSError):
        left = [one for one in parent.iterdir() if _NAME.fullmatch(one.name)]
        for path in left:
            _remove_unlocked(path)


def _remove_unlocked(path: Path) -> None:
    with suppress(OSError):  # it is another user's, or gone
        if fcntl is None:
            if time.time() - path.stat().st_mtime > _OLD:
                remove(path)
            return
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if os.fstat(lock).st_uid == os.geteuid():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(path)
        finally:
            os.close(lock)


def remove(path: Path) -> None:
    """Removes a file, a link or a folder with all that is in it, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
