# SPDX-License-Identifier: Apache-2.0
"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

# Called with a step's name and the share of it that is done, from 0 to 1.
Progress: TypeAlias = Callable[[str, float], None]


def no_progress(step: str, done: float) -> None:
    """For callers who do not watch."""
