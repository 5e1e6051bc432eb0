# SPDX-License-Identifier: Apache-2.0
"""The overwrite rule: an output replaces only what the same command wrote and nobody edited.

The mark of a file is the hash of its content with the command's name: in an attribute of the file
(user.heapfit.sha256), and where a file system has none, in a hidden file NAME.sha256 in its folder.
A copy has neither, so it counts as its owner's. Plans and generated folders carry hashes of their
own besides. What the library is asked for without a command may replace the output of any.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from itertools import count
from pathlib import Path
from typing import TypeVar

from heapfit.errors import HeapfitError

_ATTRIBUTE = "user.heapfit.sha256"
_forced: ContextVar[bool] = ContextVar("forced", default=False)
_command: ContextVar[str] = ContextVar("command", default="")
_outputs: ContextVar[list[Path]] = ContextVar("noted")
_replaced: ContextVar[list[Path]] = ContextVar("replaced")

T = TypeVar("T")


@contextmanager
def _setting(variable: ContextVar[T], value: T) -> Iterator[T]:
    before = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(before)


@contextmanager
def allow_replacing(is_asked: bool = True) -> Iterator[None]:
    """Lets outputs written inside replace other people's files, but no links and no folders."""
    with _setting(_forced, is_asked):
        yield


@contextmanager
def mark_outputs_of(command: str) -> Iterator[list[Path]]:
    """Marks files written inside as this command's, and lets only its own be replaced.

    Yields the files and folders that are replaced so, in order.
    """
    with _setting(_command, command), _setting(_replaced, []) as replaced:
        yield replaced


def add_replaced(path: Path) -> None:
    """Adds an output that took the place of an earlier run's, unless that was asked for."""
    if not is_forced() and path not in _outputs.get([]):
        _replaced.get([]).append(path)


@contextmanager
def keep_earlier(path: Path) -> Iterator[Path | None]:
    """Renames a file at `path` to `path.~1~`, or the next free number, which it yields.

    It comes back if nothing takes its place. Yields None if there is none or it may be replaced.
    """
    if is_forced() or not path.exists():
        yield None
        return
    numbers = (path.with_name(f"{path.name}.~{number}~") for number in count(1))
    kept = next(one for one in numbers if not one.exists())
    _rename(path, kept)
    try:
        yield kept
    finally:
        if not path.exists():
            _rename(kept, path)


def _rename(source: Path, target: Path) -> None:
    source.rename(target)
    move_mark(source, target)


def is_forced() -> bool:
    """True if other people's files may be replaced."""
    return _forced.get()


def require_not_source(output: Path, source: Path) -> None:
    """HeapfitError if what is made from a file would replace it."""
    if output.exists() and output.samefile(source):
        raise HeapfitError(f"{output}: is the file to import (choose another output)")


def require_replaceable(path: Path) -> None:
    """HeapfitError if a file at `path` would lose what heapfit did not write. Reads all of it."""
    require_file(path)
    if path.exists() and not is_forced() and not is_ours(path):
        raise HeapfitError(
            f"{path}: was edited, or not written by this command, so it is not overwritten "
            "(move it away, choose another place, or give --force)"
        )


def require_file(path: Path) -> None:
    """HeapfitError if what lies at `path` is no file of its own, such as a folder or a link."""
    require_no_link(path)
    if path.exists() and not path.is_file():
        what = (
            "a folder (name a file in it)" if path.is_dir() else "not a file (choose another place)"
        )
        raise HeapfitError(f"{path}: is {what}")


def require_folder(output: Path) -> None:
    """HeapfitError if the folder is missing that a file is to lie in."""
    if not output.parent.is_dir():
        raise HeapfitError(f"{output}: its folder does not exist (create it)")


def require_no_link(path: Path) -> None:
    """HeapfitError if a link lies at `path`: what it leads to is somebody's choice."""
    if path.is_symlink():
        raise HeapfitError(f"{path}: is a symbolic link, which is not replaced (name its target)")


def is_ours(path: Path) -> bool:
    """True if a file is, byte for byte, what this command wrote there."""
    try:
        mark = os.getxattr(path, _ATTRIBUTE).decode("ascii", "replace")
    except (OSError, AttributeError):
        file = _mark_path(path)
        mark = file.read_text("ascii", "replace") if file.is_file() else ""
    digest, _, command = mark.partition(" ")
    return digest == hash_file(path) and (not _command.get() or command in ("", _command.get()))


def mark_ours(path: Path) -> None:
    """Marks the file's content as written by this command."""
    mark = f"{hash_file(path)} {_command.get()}"
    try:
        os.setxattr(path, _ATTRIBUTE, mark.encode())
    except (OSError, AttributeError):  # a file system without attributes, or another system
        _mark_path(path).write_text(mark, "ascii")


def move_mark(source: Path, target: Path) -> None:
    """Moves the mark of a file that was renamed from `source` to `target`."""
    if _mark_path(source).is_file():
        _mark_path(source).replace(_mark_path(target))
    else:
        _mark_path(target).unlink(missing_ok=True)


def is_mark(name: str) -> bool:
    """True if a file of this name is the mark of another one.

    >>> is_mark(".report.html.sha256"), is_mark("report.html")
    (True, False)
    """
    return name.startswith(".") and name.endswith(".sha256")


def _mark_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.sha256")


def hash_file(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def collect_outputs() -> AbstractContextManager[list[Path]]:
    """Collects the files, and whole folders, that are written inside, in order."""
    return _setting(_outputs, [])


def add_output(path: Path) -> None:
    """Adds a file or folder that was written to the outputs being collected."""
    _outputs.get([]).append(path)
