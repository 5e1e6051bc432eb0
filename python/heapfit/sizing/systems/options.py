# SPDX-License-Identifier: Apache-2.0
"""What settings are asked for, of any system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SettingsOptions:
    """What settings are asked for."""

    admission: float = 0.999  # share of the requests
    assume: Mapping[str, int] = field(default_factory=dict)  # instead of the standard values
    named: Mapping[int, str] = field(default_factory=dict)  # sizes that are a setting of their own
    is_sent: bool = False  # packets are sent, not received
