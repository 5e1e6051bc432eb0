# SPDX-License-Identifier: Apache-2.0
"""A generated folder linked once for all that is read from it: code sizes, and calls at worst."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from heapfit.generate.linked_folder import CORTEX_M4, FAILURES, OWN
from heapfit.generate.worst_case.loop_marks import OPTIONS
from heapfit.sweep.threads import map_in_threads


@dataclass(frozen=True, slots=True)
class Images:
    """Programs of all functions of the header; None where a compiler is not here, or cannot."""

    plain: Path | None = None  # for a Cortex-M4
    marked: Path | None = None  # the same with its loops marked
    own: Path | None = None  # for this machine


@contextmanager
def linked_images(folder: Path, header: Path, threads: int = 1) -> Iterator[Images]:
    """Images that are there while the context is; nothing is left in the folder."""
    with tempfile.TemporaryDirectory(prefix="heapfit-") as scratch:

        def link(name: str) -> Path | None:
            image = Path(scratch) / name
            options = OPTIONS if name == "marked" else ()
            try:
                (OWN if name == "own" else CORTEX_M4).link(folder, header, image, *options)
            except FAILURES:
                return None
            return image

        yield Images(*map_in_threads(threads, link, ("plain", "marked", "own")))
