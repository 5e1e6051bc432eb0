# SPDX-License-Identifier: Apache-2.0
"""What an output may replace: only what the same command wrote and nobody edited since.

The hash of a file's content stands beside it, with the command's name: in an attribute of the file
(user.heapfit.sha256), and where a file system has none, in a hidden file NAME.sha256 in its folder.
A copy has neither, so it counts as its owner's. Plans and generated folders carry hashes of their
own besides. What the library is asked for without a command may replace the output of any.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from heapfit.errors import HeapfitError

_ATTRIBUTE = "user.heapfit.sha256"
_forced: ContextVar[bool] = ContextVar("forced", default=False)
_command: ContextVar[str] = ContextVar("command", default="")
_noted: ContextVar[list[Path] | None] = ContextVar("noted", default=None)


@contextmanager
def replacing_all(is_asked: bool = True) -> Iterator[None]:
    """Within it, other people's files are replaced, too; links and folders are not."""
    before = _forced.set(is_asked)
    try:
        yield
    finally:
        _forced.reset(before)


@contextmanager
def written_by(command: str) -> Iterator[None]:
    """Within it, files are marked as this command's, and only its own are replaced."""
    before = _command.set(command)
    try:
        yield
    finally:
        _command.reset(before)


def is_forced() -> bool:
    """Whether other people's files are to be replaced."""
    return _forced.get()


def require_replaceable(path: Path) -> None:
    """HeapfitError if a file at `path` would lose what heapfit did not write. Reads all of it."""
    require_no_link(path)
    if not path.exists():
        return
    if not path.is_file():
        raise HeapfitError(f"{path}: is not a file (choose another place)")
    if not is_forced() and not is_ours(path):
        raise HeapfitError(
            f"{path}: was edited, or not written by this command, so it is not overwritten "
            "(move it away, choose another place, or give --force)"
        )


def require_no_link(path: Path) -> None:
    """HeapfitError if a link lies at `path`: what it leads to is somebody's choice."""
    if path.is_symlink():
        raise HeapfitError(f"{path}: is a symbolic link, which is not replaced (name its target)")


def is_ours(path: Path) -> bool:
    """Whether a file is, byte for byte, what this command wrote there."""
    try:
        told = os.getxattr(path, _ATTRIBUTE).decode("ascii", "replace")
    except OSError:
        beside = _beside(path)
        told = beside.read_text("ascii", "replace") if beside.is_file() else ""
    digest, _, command = told.partition(" ")
    return digest == _hash(path) and (not _command.get() or command in ("", _command.get()))


def mark_ours(path: Path) -> None:
    """Notes the file's content as written by this command."""
    told = f"{_hash(path)} {_command.get()}"
    try:
        os.setxattr(path, _ATTRIBUTE, told.encode())
    except OSError:  # a file system without attributes
        _beside(path).write_text(told, "ascii")


def move_mark(source: Path, target: Path) -> None:
    """What is noted beside `source` stands beside `target` from now on, which it was renamed to."""
    if _beside(source).is_file():
        _beside(source).replace(_beside(target))
    else:
        _beside(target).unlink(missing_ok=True)


def drop_mark(path: Path) -> None:
    """Takes away what is noted beside a file that is gone."""
    _beside(path).unlink(missing_ok=True)


def is_mark(name: str) -> bool:
    """Whether a file of this name is a note beside another one.

    >>> is_mark(".report.html.sha256"), is_mark("report.html")
    (True, False)
    """
    return name.startswith(".") and name.endswith(".sha256")


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.sha256")


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def noted() -> Iterator[list[Path]]:
    """The list of what is written within it, in order; of a folder written whole, the folder."""
    written: list[Path] = []
    before = _noted.set(written)
    try:
        yield written
    finally:
        _noted.reset(before)


def note(path: Path) -> None:
    """Adds what is there now to the list."""
    written = _noted.get()
    if written is not None:
        written.append(path)
