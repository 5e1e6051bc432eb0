# SPDX-License-Identifier: Apache-2.0
"""Heaps that a recorder of malloc cannot see: what they are called, and what to do."""

from __future__ import annotations

import os

from heapfit.importers.processes import Watch
from heapfit.programs.executable import Executable, read_executable

_LEAST = 4 << 20  # bytes beyond malloc's that are reported; below, stacks and tables of the loader
_PYTHON = "CPython's own arenas"
_PHP = "PHP's own heap"
_UNKNOWN = "memory that the program mapped itself"
_ADVICE = {  # of the others, no option makes them malloc's
    _PYTHON: "PYTHONMALLOC=malloc in its environment makes them malloc's",
    "Erlang's carriers": "+Mea min makes them malloc's",
    _PHP: "USE_ZEND_ALLOC=0 in its environment makes it malloc's",
}
_LIBRARIES = {
    "libpython3": _PYTHON,
    "libjvm.so": "Java's heap",
    "libcoreclr.so": ".NET's heap",
    "libmonosgen": "Mono's heap",
    "mono-sgen": "Mono's heap",
    "libnode.so": "V8's heap",
    "beam.smp": "Erlang's carriers",
    "libruby": "Ruby's heap",
    "libphp": _PHP,
    "php": _PHP,
    "libgc.so": "the heap of Boehm's collector",
}
_SYMBOLS = {"PyObject_Malloc": _PYTHON, "_ZN2v87Isolate10GetCurrentEv": "V8's heap"}


def describe_unseen(watch: Watch, live_peak: int) -> str | None:
    """A sentence on memory of a watched process that malloc did not give; None if there is little.

    `live_peak`: bytes that were recorded as live at most.
    """
    unseen = min(watch.anonymous - live_peak, watch.mapped_bytes)  # without malloc's own headers
    name = _find_runtime(watch)
    is_small = unseen < _LEAST and not (name and unseen > live_peak)
    if is_small or (name == _PYTHON and "malloc" in os.environ.get("PYTHONMALLOC", "")):
        return None
    advice = _ADVICE.get(name or _UNKNOWN, "a recorder of malloc cannot see it")
    return (
        f"Not recorded: {unseen / 1e6:,.1f} of {watch.anonymous / 1e6:,.1f} MB resident: "
        f"{name or _UNKNOWN} ({advice})."
    )


def _find_runtime(watch: Watch) -> str | None:
    files = (one for one in _LIBRARIES if any(name.startswith(one) for name in watch.mapped))
    if file := next(files, ""):
        return _LIBRARIES[file]
    found = read_executable(watch.executable) if watch.executable else None
    if found is None:
        return None
    named = (name for symbol, name in _SYMBOLS.items() if symbol in found.symbols)
    return next(named, "Go's heap" if found.is_go else None)


def explain_obstacle(executable: Executable) -> str | None:
    """The reason why no recorder sees this program's heap, as far as its file shows it."""
    if not executable.loader:
        if executable.is_go:
            return "is a Go program, whose heap is Go's own, so no recorder sees it"
        return "is statically linked, so no recorder can be preloaded (link it dynamically)"
    if executable.sanitizer is not None:
        return (
            f"is built with -fsanitize={executable.sanitizer}, whose malloc no recorder sees "
            "(build it without)"
        )
    return None
