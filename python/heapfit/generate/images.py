# SPDX-License-Identifier: Apache-2.0
"""A generated folder linked once for all that is read from it: code sizes and worst cases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from heapfit.generate.linked_folder import CORTEX_M4, FAILURES, OWN
from heapfit.generate.worst_case.loop_marks import OPTIONS
from heapfit.outputs.scratch import scratch_folder
from heapfit.progress import Progress, count_steps, ignore_progress
from heapfit.sweep.threads import map_in_threads

_IMAGES = ("plain", "marked")
_FUNCTIONS = 80  # of an image, about


@dataclass(frozen=True, slots=True)
class Images:
    """The linked programs of all functions of the header; None where linking was not possible."""

    plain: Path | None = None  # for a Cortex-M4
    marked: Path | None = None  # the same with its loops marked
    own: Path | None = None  # for this machine, where there is no cross compiler


@contextmanager
def link_images(
    folder: Path, header: Path, threads: int = 1, progress: Progress = ignore_progress
) -> Iterator[Images]:
    """Links a folder's images outside of it; they exist until the context ends.

    A last step of the progress is left to who reads them.
    """
    counted = count_steps(progress, "compile the code", len(_IMAGES) + 1)
    with scratch_folder() as scratch:

        def link(name: str) -> Path | None:
            image, functions = Path(scratch) / name, count(1)
            options = OPTIONS if name == "marked" else ()
            compiler = OWN if name == "own" else CORTEX_M4

            def tell() -> None:
                counted(name, min(next(functions) / _FUNCTIONS, 1.0))

            try:
                compiler.link(folder, header, image, *options, tell=tell)
            except FAILURES:
                return None
            finally:
                counted(name, 1.0)
            return image

        plain, marked = map_in_threads(threads, link, _IMAGES)
        yield Images(plain, marked, link("own") if plain is None else None)
