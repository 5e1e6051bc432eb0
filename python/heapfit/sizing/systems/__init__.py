# SPDX-License-Identifier: Apache-2.0
"""Embedded systems whose settings can be printed: one module each, with a function `settings_for`.

A module also has ASSUMPTIONS: what it takes for granted of the system, with sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType

from heapfit.errors import HeapfitError
from heapfit.progress import Progress, no_progress
from heapfit.sizing.run_out import check_admission
from heapfit.sizing.settings import Assumption, Settings
from heapfit.trace.stored import Trace

SYSTEMS = ("lwip", "zephyr", "openthread", "freertos")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What settings are asked for."""

    admission: float
    assume: Mapping[str, int] = field(default_factory=dict)  # instead of the standard values
    named: Mapping[int, str] = field(default_factory=dict)  # sizes that are a setting of their own
    is_sent: bool = False  # packets are sent, not received


def settings_for(
    system: str, trace: Trace, wanted: Wanted, progress: Progress = no_progress
) -> Settings:
    """The system's settings for a trace."""
    check_admission(wanted.admission)
    settings: Settings = _module(system).settings_for(trace, wanted, progress)
    return settings


def assumptions_of(system: str) -> tuple[Assumption, ...]:
    """What is taken for granted of the system."""
    found: tuple[Assumption, ...] = _module(system).ASSUMPTIONS
    return found


def _module(system: str) -> ModuleType:
    if system not in SYSTEMS:
        raise HeapfitError(f"settings: '{system}' is none of {', '.join(SYSTEMS)}")
    return import_module(f"heapfit.sizing.systems.{system}")
