# SPDX-License-Identifier: Apache-2.0
"""What a user may choose about an import."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Choices for an import; each format uses those that mean something to it."""

    drop_unknown: bool = False  # drop and count events of unknown objects instead of refusing
    queue: str = "fill-drain:1000"  # for packets: when a packet's buffer is released
    pointer_bits: int | None = None  # 32 or 64; overrides what the source says
