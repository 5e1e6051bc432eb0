# SPDX-License-Identifier: Apache-2.0
"""Heaps that a recorder of malloc cannot see: what they are called, and what to do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import chain
from typing import Any

from heapfit.fact_files import read_facts
from heapfit.importers.processes import Watch
from heapfit.programs.executable import Executable, read_executable

_LEAST = 4 << 20  # bytes beyond malloc's that are reported; below, stacks and tables of the loader
_FACTS = read_facts(__file__, "unseen_heaps.toml")


def describe_unseen(watch: Watch, live_peak: int) -> str | None:
    """A sentence on memory of a watched process that malloc did not give; None if there is little.

    `live_peak`: bytes that were recorded as live at most.
    """
    unseen = min(watch.anonymous - live_peak, watch.mapped_bytes)  # without malloc's own headers
    runtime = _find_runtime(watch)
    is_small = unseen < _LEAST and not (runtime and unseen > live_peak)
    advice = runtime.get("advice", _FACTS["other"]["advice"])
    is_asked = "PYTHONMALLOC" in advice and "malloc" in os.environ.get("PYTHONMALLOC", "")
    if is_small or is_asked:
        return None
    return (
        f"Not recorded: {unseen / 1e6:,.1f} of {watch.anonymous / 1e6:,.1f} MB resident: "
        f"{runtime.get('heap', _FACTS['other']['heap'])} ({advice})."
    )


def _find_runtime(watch: Watch) -> Mapping[str, Any]:
    """The row of the runtime that the process seems to have; empty if none is known."""
    found = read_executable(watch.executable) if watch.executable else None
    by_file = (
        one
        for one in _FACTS["runtime"]
        if any(name.startswith(tuple(one["files"])) for name in watch.mapped)
    )
    by_symbol = (one for one in _FACTS["runtime"] if found and one.get("symbol") in found.symbols)
    return next(chain(by_file, by_symbol), {"heap": "Go's heap"} if found and found.is_go else {})


def explain_obstacle(executable: Executable) -> str | None:
    """The reason why no recorder sees this program's heap, as far as its file shows it."""
    is_static, sanitizer = not executable.loader, executable.sanitizer
    obstacles = (
        (
            is_static and executable.is_go,
            "is a Go program, whose heap is Go's own, so no recorder sees it",
        ),
        (is_static, "is statically linked, so no recorder can be preloaded (link it dynamically)"),
        (
            sanitizer,
            f"is built with -fsanitize={sanitizer}, whose malloc no recorder sees (build it "
            "without)",
        ),
    )
    return next((text for holds, text in obstacles if holds), None)
