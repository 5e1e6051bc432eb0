# SPDX-License-Identifier: Apache-2.0
"""A scratch folder in which images are built: what several of them share is compiled once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from harness import sources
from harness.board import Board
from heapfit.external_tool import run
from heapfit.generate.worst_case.loop_marks import OPTIONS

# As core/CMakeLists.txt compiles it.
_C_FLAGS = (
    *("-std=c11", "-ffreestanding", "-Wall", "-Wextra", "-Werror", "-fno-pie"),
    *("-fno-tree-loop-distribute-patterns", "-fno-asynchronous-unwind-tables"),
    *("-ffunction-sections", "-fdata-sections"),
)
_PATIENCE = 3000  # seconds; a compile takes two, on a busy machine at low priority 200
_LINK_FLAGS = ("-nostdlib", "-static", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments")


@dataclass(frozen=True, slots=True)
class Build:
    """How an image is compiled, and what it does to free."""

    optimisation: str = "O2"
    safety: int = 1  # HFIT_SAFETY
    checks_words: bool = True  # HFIT_CHECKS_WORDS
    frees_by_size: bool = False  # by free_sized
    has_marks: bool = False  # of loops, in debug information; the code is the same
    linked_with: tuple[str, ...] = ()  # options of the linker

    @property
    def places_as_host(self) -> bool:
        """True if blocks lie where the host puts them: level 3 adds bytes and keeps blocks back."""
        return self.safety < 3

    @property
    def compares_accesses(self) -> bool:
        """True if the host counts the same code: it has safety level 1 and calls free."""
        return self.safety == 1 and self.checks_words and not self.frees_by_size


class Workbench:
    """Compiles from the checkout into `folder`, which must not outlive a change to the sources."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._images = 0

    def image_folder(self) -> Path:
        """A new folder, for one image."""
        self._images += 1
        folder = self.folder / f"image{self._images}"
        folder.mkdir(parents=True)
        return folder

    def build_shared_object(
        self, board: Board, build: Build, source: str, options: Sequence[str] = ()
    ) -> Path:
        """The object of a source that depends on nothing but these."""
        chosen = (build.optimisation, build.safety, build.checks_words, build.has_marks)
        key = repr((board.name, *chosen, source, *options))
        digest = hashlib.sha256(key.encode()).hexdigest()[:16]
        made = self.folder / f"{Path(source).stem}-{digest}.o"
        if not made.exists():
            self.compile(board, build, source, made, options)
        return made

    def compile(
        self, board: Board, build: Build, source: str, made: Path, options: Sequence[str]
    ) -> None:
        """Compiles one source of the checkout; includes are looked for beside `made` first."""
        here = sources.root()
        made.parent.mkdir(parents=True, exist_ok=True)
        marks = OPTIONS if build.has_marks else ()
        includes = (made.parent, here / "target", here / "core/include", here / "core")
        run(
            [
                *(f"{board.tools}gcc", *board.flags, f"-{build.optimisation}", *_C_FLAGS),
                *(f"-DHFIT_SAFETY={build.safety}", f"-DHFIT_CHECKS_WORDS={build.checks_words:d}"),
                *(*marks, *options),
                *(f"-I{folder}" for folder in includes),
                *("-c", here / source, "-o", made.name),
            ],
            made.parent,
            _PATIENCE,
        )

    def link(
        self, board: Board, made: Path, objects: Sequence[Path], options: Sequence[str]
    ) -> None:
        """Links with nothing but the compiler's own arithmetic."""
        scripts = f"-L{sources.root() / 'target/board'}"
        flags = (*board.flags, *_LINK_FLAGS, scripts, *options)
        run([f"{board.tools}gcc", *flags, *objects, "-lgcc", "-o", made.name], made.parent)

    @cached_property
    def plugin(self) -> Path:
        """The counting plug-in, compiled for this machine."""
        made = self.folder / "calls.so"
        source = sources.root() / "target/counting/calls.c"
        flags = ("-std=c11", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-fvisibility=hidden")
        run(["cc", *flags, source, "-o", made], self.folder)
        return made
