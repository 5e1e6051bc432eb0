# SPDX-License-Identifier: Apache-2.0
"""The sources of a plug-in: C, C++, objects, archives, or a crate of Rust."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit.errors import HeapfitError, did_you_mean

INCLUDE = Path(__file__).parent  # of heapfit_plugin.h
CRATE = "Cargo.toml"
C_SOURCES = (".c", ".s", ".S")
CXX_SOURCES = (".cc", ".cpp", ".cxx")
COMPILED = (".o", ".a")
_NAMED_FLAGS = re.compile(r"(?:([^\s:-][^\s:]*):)?(.*)", re.DOTALL)  # NAME: FLAGS, or flags
_KNOWN = (*C_SOURCES, *CXX_SOURCES, *COMPILED)


@dataclass(frozen=True, slots=True)
class Plugin:
    """A third-party allocator with its adapter."""

    name: str
    sources: tuple[Path, ...]  # files, or one folder with a Cargo.toml
    bits: int = 32  # of its pointers; those of a 64-bit build take twice the room
    cflags: tuple[str, ...] = ()

    @property
    def is_crate(self) -> bool:
        """True if cargo builds the plug-in."""
        return any((source / CRATE).exists() for source in self.sources)

    @property
    def is_ready(self) -> bool:
        """True if it comes compiled: nothing is built of it, only linked."""
        return not self.is_crate and all(source.suffix in COMPILED for source in self.sources)

    @property
    def is_metered(self) -> bool:
        """True if loads and stores can be counted, as its code is compiled here, by gcc."""
        return not self.is_crate and all(
            source.suffix in (*C_SOURCES, *CXX_SOURCES) for source in self.sources
        )


def plugin_of(path: Path, bits: int = 32, cflags: Sequence[str] = ()) -> Plugin:
    """The plug-in in a file, in a folder of files, or in the folder of a crate.

    HeapfitError if there is nothing to build.
    """
    if not path.exists():
        raise HeapfitError(f"{path}: no such plug-in (give a source, an archive or a folder)")
    here = path.resolve()
    if here.is_dir():
        sources = (here,) if (here / CRATE).exists() else _files_of(here)
        return Plugin(here.name, sources, bits, (*cflags, f"-I{here}"))
    if here.suffix not in _KNOWN or not here.is_file():
        raise HeapfitError(f"{path}: not a plug-in's source (known: {', '.join(_KNOWN)})")
    return Plugin(here.stem, (here,), bits, (*cflags, f"-I{here.parent}"))


def plugins_of(paths: Sequence[Path], bits: int, cflags: Sequence[str]) -> tuple[Plugin, ...]:
    """The plug-ins at these paths; each of `cflags` is for all of them, or NAME: FLAGS for one."""
    found = [plugin_of(path, bits) for path in paths]
    named = [_split_flags(one, [plugin.name for plugin in found]) for one in cflags]
    return tuple(
        replace(
            plugin,
            cflags=(
                *(flag for name, flags in named if name in (None, plugin.name) for flag in flags),
                *plugin.cflags,
            ),
        )
        for plugin in found
    )


def _split_flags(words: str, names: Sequence[str]) -> tuple[str | None, list[str]]:
    """The plug-in that flags are for, None for all, and the flags."""
    found = _NAMED_FLAGS.fullmatch(words)
    assert found is not None
    name, flags = found.groups()
    if name is not None and name not in names:
        raise HeapfitError(f"--cflags {words}: no plug-in {name} ({did_you_mean(name, names)})")
    try:
        return name, shlex.split(flags)
    except ValueError as error:
        raise HeapfitError(f"--cflags {words}: {error}") from error


def _files_of(folder: Path) -> tuple[Path, ...]:
    found = tuple(
        sorted(file for file in folder.iterdir() if file.suffix in _KNOWN and file.is_file())
    )
    if not found:
        raise HeapfitError(f"{folder}: nothing to build (looked for {', '.join(_KNOWN)}, {CRATE})")
    return found
