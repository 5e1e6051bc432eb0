# SPDX-License-Identifier: Apache-2.0
"""The one exception family: raised where the bad thing entered, told in one line."""

from __future__ import annotations

import difflib
import errno
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path


class HeapfitError(Exception):
    """Bad input or a request that cannot be met; the message says what, where and what to do."""


class SeveralFaultsError(HeapfitError):
    """Several things wrong with one file, each of `messages` as a HeapfitError would tell it."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__("\n".join(messages))
        self.messages = tuple(messages)


_PLAIN = {
    errno.ENOENT: "no such file (check the path)",
    errno.EISDIR: "is a folder (name a file in it)",
    errno.EACCES: "may not be read (check its permissions)",
}
_ALIKE = 0.75  # two names, of 1
_TOLD_NUMBER = re.compile(r"\[errno (\d+)\]", re.IGNORECASE)  # as pyarrow puts it in its texts


def why_unread(error: OSError) -> str:
    """Why a file cannot be read, and what to do.

    >>> why_unread(FileNotFoundError(errno.ENOENT, "No such file or directory"))
    'no such file (check the path)'
    """
    if error.errno == errno.ENOENT and error.filename:
        return describe_missing_file(Path(os.fsdecode(error.filename)))
    return _PLAIN.get(error.errno or 0) or why_failed(error)


def describe_missing_file(path: Path) -> str:
    """What to say of a file that is not there: the one beside it whose name is most like it."""
    beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    alike = difflib.get_close_matches(path.name, sorted(beside), 1, _ALIKE)
    return (
        f"no such file (did you mean '{path.with_name(alike[0])}'?)"
        if alike
        else _PLAIN[errno.ENOENT]
    )


def why_failed(error: OSError) -> str:
    """What the system says, without what a library puts around it.

    >>> why_failed(OSError("Error writing bytes. Detail: [errno 28] No space left on device"))
    'No space left on device'
    """
    told = _TOLD_NUMBER.search(str(error))
    number = error.errno or (int(told[1]) if told else 0)
    return os.strerror(number) if number else error.strerror or str(error)


def meant(name: str, known: Iterable[str]) -> str:
    """What to say of a name that is not known: the known one that is most like it, or all of them.

    >>> meant("tlfs", ["best_fit", "tlsf"]), meant("malloc", ["best_fit", "tlsf"])
    ("did you mean 'tlsf'?", 'one of best_fit, tlsf')
    """
    names = list(known)
    alike = difflib.get_close_matches(name, names, 1)
    return f"did you mean '{alike[0]}'?" if alike else f"one of {', '.join(names)}"
