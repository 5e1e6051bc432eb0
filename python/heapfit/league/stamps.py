# SPDX-License-Identifier: Apache-2.0
"""Hashes of the code that is measured, so that a figure is known to be of it."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

from heapfit import _engine
from heapfit.importers.external_tool import run
from heapfit.plugin import INCLUDE, Built, Plugin

# The rooms that decide a figure of ours, beside the engine.
_ROOMS: Final = ("plan", "trace", "bounds", "compare", "design", "front", "league")
_KINDS: Final = {".py", ".csv", ".toml"}
_SHOWN: Final = 16  # hexadecimal digits


@cache
def own_stamp() -> str:
    """Of the engine, with all allocators in it, and of what makes and measures plans."""
    package = Path(__file__).parents[1]
    files = (file for room in _ROOMS for file in sorted((package / room).rglob("*")))
    return _hash_of([Path(_engine.__file__), *(one for one in files if one.suffix in _KINDS)])


def built_stamp(built: Built) -> str:
    """Of a plug-in's programs: its sources, compiler, flags and our host are all in them."""
    programs = [built.program] if built.metered is None else [built.program, built.metered]
    return _hash_of([*programs, Path(_engine.__file__)])


def sources_stamp(plugin: Plugin) -> str:
    """Of a plug-in in C: what its compiler sees, headers and flags included, wherever it lies."""
    flags = [flag for flag in plugin.cflags if not flag.startswith("-I")]
    words = ["gcc", f"-m{plugin.bits}", f"-I{INCLUDE}", *plugin.cflags, "-E", "-P"]
    seen = [run([*words, source], INCLUDE) for source in plugin.sources]
    return key_of(*flags, *seen)[:_SHOWN]


def key_of(*parts: object) -> str:
    """Of a job: equal for equal parts, in this order."""
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()


def tool_version(command: str) -> str:
    """The first line that a tool says of itself; "" where there is none."""
    try:
        told = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return told.stdout.partition("\n")[0]


def _hash_of(files: Iterable[Path]) -> str:
    together = hashlib.sha256()
    for file in files:
        together.update(hashlib.sha256(file.read_bytes()).digest())
    return together.hexdigest()[:_SHOWN]
