# SPDX-License-Identifier: Apache-2.0
"""heapfit fits a heap to a program: traces, profiles, plans, exact replay, generated C.

docs/python.md is the guide. The names that are offered here, and where each comes from, are listed
once, in _OFFERED; for type checkers scripts/package_stub.py makes the stub beside this file of it.
A name's module is imported when the name is first used, so that `import heapfit` costs nothing. No
room has the name of a function. What is deeper in the package may change with any version.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_OFFERED: Final = {
    "heapfit.checks.check": ("Check", "CheckOptions"),
    "heapfit.checks.drill": ("Drill", "drill_program"),
    "heapfit.checks.host_run": ("HostRun", "run_program"),
    "heapfit.comparison.comparison": ("Comparison",),
    "heapfit.comparison.row": ("Row",),
    "heapfit.errors": ("HeapfitError",),
    "heapfit.fitting.fitted_heap": ("FittedHeap",),
    "heapfit.fitting.options": ("FitOptions",),
    "heapfit.forecast.kind": ("Kind", "RecordingKind"),
    "heapfit.front_door": (
        "check",
        "check_memories",
        "compare",
        "find_allocators",
        "find_bounds",
        "find_holders",
        "find_kind",
        "fit",
        "forecast_log",
        "generate_code",
        "generate_workload",
        "live_bytes",
        "open",
        "place",
        "profile_trace",
        "replay",
        "simulate",
        "size_pools",
        "size_settings",
        "size_traffic",
    ),
    "heapfit.importers": ("ImportOptions", "OwnLines", "import_file", "import_frames"),
    "heapfit.importers.record": ("record",),
    "heapfit.importers.target_log": ("Emulation", "record_emulated", "record_serial"),
    "heapfit.memories.joining": ("Joining", "join_programs"),
    "heapfit.memories.placing": ("Placing", "PlacingOptions"),
    "heapfit.plan.plan": ("Plan", "Pool"),
    "heapfit.plan.plan_file": ("PlanFile", "load_plan", "save_plan"),
    "heapfit.simulation.scenario": ("load_scenario",),
    "heapfit.sizing.from_traffic": ("Aim",),
    "heapfit.sizing.pools": ("PoolOptions",),
    "heapfit.sizing.systems": ("SettingsOptions",),
    "heapfit.trace.in_memory": ("from_arrow", "from_events", "from_pandas"),
    "heapfit.trace.operations": ("Op",),
    "heapfit.trace.profile": ("Profile",),
    "heapfit.trace.stored": ("Trace", "TraceInfo"),
}
_MODULES: Final = {name: module for module, names in _OFFERED.items() for name in names}


def __getattr__(name: str) -> object:
    if name == "__version__":
        return _read_version()
    if name not in _MODULES:
        raise AttributeError(f"module 'heapfit' has no attribute '{name}'")
    return getattr(import_module(_MODULES[name]), name)  # numpy and pyarrow with it


def _read_version() -> str:
    """The version of the extension, from the header beside it: to load it takes long."""
    extension = find_spec("heapfit._engine")
    assert extension and extension.origin
    header = Path(extension.origin).parent / "core" / "include" / "hfit" / "version.h"
    return header.read_text("utf-8").partition('HFIT_VERSION "')[2].partition('"')[0]


def __dir__() -> list[str]:
    return sorted([*_MODULES, "__version__"])
