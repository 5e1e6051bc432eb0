# SPDX-License-Identifier: Apache-2.0
"""Embedded systems whose settings can be printed: one module each, with a function `settings_for`.

A module also has ASSUMPTIONS: what it takes for granted of the system, with sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, ModuleType

from heapfit.errors import HeapfitError
from heapfit.progress import Progress, ignore_progress
from heapfit.sizing.run_out import check_admission
from heapfit.sizing.settings import Settings, SettingsOptions
from heapfit.sizing.systems import freertos, lwip, openthread, zephyr
from heapfit.trace.stored import Trace

SYSTEMS: Mapping[str, ModuleType] = MappingProxyType(
    {"lwip": lwip, "zephyr": zephyr, "openthread": openthread, "freertos": freertos}
)
__all__ = ["SYSTEMS", "SettingsOptions", "settings_for"]


def settings_for(
    system: str, trace: Trace, options: SettingsOptions, progress: Progress = ignore_progress
) -> Settings:
    """The system's settings for a trace."""
    check_admission(options.admission)
    settings: Settings = _module(system).settings_for(trace, options, progress)
    return settings


def _module(system: str) -> ModuleType:
    if system not in SYSTEMS:
        raise HeapfitError(f"settings: '{system}' must be one of {', '.join(SYSTEMS)}")
    return SYSTEMS[system]
