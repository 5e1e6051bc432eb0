# SPDX-License-Identifier: Apache-2.0
"""The one exception family: raised where the bad thing entered, told in one line."""

from __future__ import annotations

from collections.abc import Sequence


class HeapfitError(Exception):
    """Bad input or a request that cannot be met; the message says what, where and what to do."""


class SeveralFaultsError(HeapfitError):
    """Several things wrong with one file, each of `messages` as a HeapfitError would tell it."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__("\n".join(messages))
        self.messages = tuple(messages)
