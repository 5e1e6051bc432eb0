# SPDX-License-Identifier: Apache-2.0
"""A trace loaded for design: its events in memory, its profile and the alignment asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heapfit import _engine
    from heapfit.profile import Profile
    from heapfit.trace import Trace

STANDARD_ALIGNMENT = 8  # bytes


@dataclass(frozen=True, slots=True)
class Workload:
    """What candidates are made from and measured on."""

    trace: Trace
    events: _engine.EventArray
    profile: Profile
    alignment: int  # of every block of every candidate, in bytes: 4, 8 or 16
