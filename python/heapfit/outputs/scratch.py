# SPDX-License-Identifier: Apache-2.0
"""Temporary folders that a killed process leaves are removed by the next one there.

Each is locked (flock) while its process lives, and the kernel drops the lock however that ends.
So what has a name of ours, no lock and some age is left over, on whatever machine its process ran.
Windows locks no folder: there it takes a week. A package of locks (filelock) would need a file in
each folder, which goes along where the folder becomes the output.
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

# Seconds before which a folder may not have been locked yet, or nothing tells who uses it.
LEAST_AGE = 7 * 86_400 if fcntl is None else 10
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


def claim_folder(parent: Path | None = None) -> tuple[Path, int | None]:
    """A new folder and its lock, for `drop` to end; of file systems without locks there is none."""
    home = parent or Path(tempfile.gettempdir())
    sweep_folder(home)
    folder = Path(tempfile.mkdtemp(_SUFFIX, _PREFIX, home))
    with suppress(OSError):
        return folder, _lock(folder)
    return folder, None


def drop(folder: Path, lock: int | None) -> None:
    """Removes what was claimed, if it is there, and unlocks it."""
    remove(folder)
    if lock is not None:
        os.close(lock)


@cache
def sweep_folder(parent: Path) -> None:
    """Removes what ended processes of this user left in a folder; once in a process."""
    with suppress(OSError):
        left = [one for one in parent.iterdir() if _NAME.fullmatch(one.name)]
        for path in left:
            _remove_ended(path)


def _remove_ended(path: Path) -> None:
    with suppress(OSError):  # it is another user's, no folder, in use, or gone
        if time.time() - path.lstat().st_mtime > LEAST_AGE:
            drop(path, _lock(path))


def _lock(folder: Path) -> int | None:
    """The lock of a folder; OSError if another process has it or there are none."""
    if fcntl is None:
        return None
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def remove(path: Path) -> None:
    """Removes a file, a link or a folder with all that is in it, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
