# SPDX-License-Identifier: Apache-2.0
"""Stamps: hashes of the code that is measured, so that a figure is known to be of it."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from heapfit import _engine
from heapfit.importers.external_tool import run
from heapfit.plugin import INCLUDE, Built, Plugin

# The rooms that decide a figure of ours, besides the engine.
_ROOMS: Final = ("plan", "trace", "bounds", "comparison", "design", "league")
_KINDS: Final = {".py", ".csv", ".toml"}
_SHOWN: Final = 16  # hexadecimal digits


@cache
def own_stamp() -> str:
    """The stamp of the engine, with all allocators, and of what makes and measures plans."""
    package = Path(__file__).parents[1]
    files = (file for room in _ROOMS for file in sorted((package / room).rglob("*")))
    return _hash_files([Path(_engine.__file__), *(one for one in files if one.suffix in _KINDS)])


def plugin_stamp(built: Built) -> str:
    """The stamp of a plug-in's programs; sources, compiler, flags and our host are part of them."""
    programs = [built.program] if built.metered is None else [built.program, built.metered]
    return _hash_files([*programs, Path(_engine.__file__)])


def sources_stamp(plugin: Plugin) -> str:
    """The stamp of a plug-in in C: of all that its compiler sees, headers and flags included.

    Of a crate: its files and those of crates beside it that it takes by path; its lock file names
    all others.
    """
    if plugin.is_crate:
        return hash_parts(*_crate_files(plugin))[:_SHOWN]
    flags = [flag for flag in plugin.cflags if not flag.startswith("-I")]
    words = ["gcc", f"-m{plugin.bits}", f"-I{INCLUDE}", *plugin.cflags, "-E", "-P"]
    seen = [run([*words, source], INCLUDE) for source in plugin.sources]
    return hash_parts(*flags, *seen)[:_SHOWN]


def _crate_files(plugin: Plugin) -> Iterator[tuple[str, bytes]]:
    """The name and content of each file of a crate, without what cargo builds."""
    (crate,) = plugin.sources
    output = json.loads(run(["cargo", "metadata", "--quiet", "--format-version=1"], crate))
    local = (one for one in output["packages"] if one["source"] is None)
    built = Path(output["target_directory"])
    for folder in sorted(Path(one["manifest_path"]).parent for one in local):
        for file in sorted(folder.rglob("*")):
            if file.is_file() and not file.is_relative_to(built):
                yield file.relative_to(folder).as_posix(), file.read_bytes()
    adapter = INCLUDE / "heapfit_plugin.rs"
    yield adapter.name, adapter.read_bytes()


def hash_parts(*parts: object) -> str:
    """A hash of these parts, in this order."""
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()


def tool_version(command: str) -> str:
    """The first line of a tool's --version; empty if it is not installed."""
    try:
        output = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return output.stdout.partition("\n")[0]


def _hash_files(files: Iterable[Path]) -> str:
    together = hashlib.sha256()
    for file in files:
        together.update(hashlib.sha256(file.read_bytes()).digest())
    return together.hexdigest()[:_SHOWN]
