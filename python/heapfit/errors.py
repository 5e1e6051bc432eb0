# SPDX-License-Identifier: Apache-2.0
"""The one exception family: each error is one line that says what, where and what to do."""

from __future__ import annotations

import difflib
import errno
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path


class HeapfitError(Exception):
    """Bad input or a request that cannot be met; the message says what, where and what to do.

    `below`: lines that a terminal shows below it, such as a command to copy.
    """

    status = 1  # of the program that it ends

    def __init__(self, message: str, below: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.messages: tuple[str, ...] = (message,)
        self.below = tuple(below)


class RemovedError(HeapfitError):
    """A name that heapfit no longer knows; the message says what does its work."""

    status = 2


class SeveralFaultsError(HeapfitError):
    """Several faults of one file; each of `messages` reads as the message of a HeapfitError."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__("\n".join(messages))
        self.messages = tuple(messages)


_READ_ERRORS = {
    errno.ENOENT: "no such file (check the path)",
    errno.EISDIR: "is a folder (name a file in it)",
    errno.EACCES: "may not be read (check its permissions)",
}
_ALIKE = 0.75  # two names, of 1
_MOST_NAMES = 10  # that a hint lists, where there are more than twice as many
_ERROR_NUMBER = re.compile(r"\[errno (\d+)\]", re.IGNORECASE)  # as pyarrow puts it in its texts


def first_line(error: BaseException) -> str:
    """The first line of an error's text, with bytes that are not printable written out."""
    said = (str(error).splitlines() or [type(error).__name__])[0]
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in said)


def read_error_reason(error: OSError) -> str:
    """The reason why a file cannot be read, and what to do.

    >>> read_error_reason(FileNotFoundError(errno.ENOENT, "No such file or directory"))
    'no such file (check the path)'
    """
    if error.errno == errno.ENOENT and error.filename:
        return describe_missing_file(Path(os.fsdecode(error.filename)))
    return _READ_ERRORS.get(error.errno or 0) or os_error_reason(error)


def describe_missing_file(path: Path) -> str:
    """What to say of a file that is not there: the one beside it whose name is most like it."""
    if path.parts[:1] in (("http:",), ("https:",)):
        return "is an address of the web (download it first)"
    beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    similar = difflib.get_close_matches(path.name, sorted(beside), 1, _ALIKE)
    return (
        f"no such file (did you mean '{path.with_name(similar[0])}'?)"
        if similar
        else _READ_ERRORS[errno.ENOENT]
    )


def os_error_reason(error: OSError) -> str:
    """The operating system's reason for an error, without a library's words around it.

    >>> os_error_reason(OSError("Error writing bytes. Detail: [errno 28] No space left on device"))
    'No space left on device'
    """
    match = _ERROR_NUMBER.search(str(error))
    number = error.errno or (int(match[1]) if match else 0)
    return os.strerror(number) if number else error.strerror or str(error)


def require_linux(what: str) -> None:
    """HeapfitError on another system; `what` begins a sentence."""
    if not hasattr(os, "sched_getaffinity"):
        raise HeapfitError(f"{what} needs Linux or WSL (docs/platforms.md)")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint for an unknown name: the most similar known name, else the first of all.

    >>> did_you_mean("tlfs", ["best_fit", "tlsf"]), did_you_mean("malloc", ["best_fit", "tlsf"])
    ("did you mean 'tlsf'?", 'one of best_fit, tlsf')
    """
    names = list(known)
    similar = find_similar(name, names)
    more = f" and {len(names) - _MOST_NAMES} others" if len(names) > 2 * _MOST_NAMES else ""
    shown = ", ".join(names[:_MOST_NAMES] if more else names)
    return f"did you mean '{similar}'?" if similar else f"one of {shown}{more}" if names else "none"


def find_similar(word: str, known: Iterable[str], least: float = 0.6) -> str | None:
    """The known word that is most similar to another, in any case; None if none is.

    `least` is the similarity from 0 to 1 that it has at least.

    >>> find_similar("LwIP", ["lwip", "zephyr"])
    'lwip'
    """
    names = {one.lower(): one for one in known}
    found = difflib.get_close_matches(word.lower(), names, 1, least)
    return names[found[0]] if found else None
