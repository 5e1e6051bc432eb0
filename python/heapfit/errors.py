# SPDX-License-Identifier: Apache-2.0
"""The one exception family: raised where the bad thing entered, told in one line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class HeapfitError(Exception):
    """Bad input or a request that cannot be met; the message says what, where and what to do."""


class SeveralFaultsError(HeapfitError):
    """Several things wrong with one file, each of `messages` as a HeapfitError would tell it."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__("\n".join(messages))
        self.messages = tuple(messages)


def meant(name: str, known: Iterable[str]) -> str:
    """What to say of a name that is not known: the known one that is most like it, or all of them.

    >>> meant("tlfs", ["best_fit", "tlsf"]), meant("malloc", ["best_fit", "tlsf"])
    ("is 'tlsf' meant?", 'one of best_fit, tlsf')
    """
    names = list(known)
    alike = difflib.get_close_matches(name, names, 1)
    return f"is '{alike[0]}' meant?" if alike else f"one of {', '.join(names)}"
