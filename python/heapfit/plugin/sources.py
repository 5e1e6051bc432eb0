# SPDX-License-Identifier: Apache-2.0
"""The sources of a plug-in: C, C++, objects, archives, or a crate of Rust."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.errors import HeapfitError

INCLUDE = Path(__file__).parent  # of heapfit_plugin.h
CRATE = "Cargo.toml"
C_SOURCES = (".c", ".s", ".S")
CXX_SOURCES = (".cc", ".cpp", ".cxx")
COMPILED = (".o", ".a")
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
        return all(source.suffix in COMPILED for source in self.sources)

    @property
    def is_metered(self) -> bool:
        """True if loads and stores can be counted, as its code is compiled here, by gcc."""
        return all(source.suffix in (*C_SOURCES, *CXX_SOURCES) for source in self.sources)


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
    if here.suffix not in _KNOWN:
        raise HeapfitError(f"{path}: not a plug-in's source (known: {', '.join(_KNOWN)})")
    return Plugin(here.stem, (here,), bits, (*cflags, f"-I{here.parent}"))


def _files_of(folder: Path) -> tuple[Path, ...]:
    found = tuple(sorted(file for file in folder.iterdir() if file.suffix in _KNOWN))
    if not found:
        raise HeapfitError(f"{folder}: nothing to build (looked for {', '.join(_KNOWN)}, {CRATE})")
    return found
