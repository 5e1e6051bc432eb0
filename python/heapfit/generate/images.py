# SPDX-License-Identifier: Apache-2.0
"""A generated folder linked once for all that is read from it: code sizes and worst cases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heapfit.generate.linked_folder import (
    CORTEX_M4,
    FAILURES,
    OWN,
    functions_of,
    least_image,
    least_of,
)
from heapfit.generate.worst_case.loop_marks import OPTIONS
from heapfit.outputs.scratch import scratch_folder
from heapfit.progress import Progress, count_steps, ignore_progress
from heapfit.sweep.threads import map_in_threads


@contextmanager
def link_images(
    folder: Path, header: Path, threads: int = 1, progress: Progress = ignore_progress
) -> Iterator[dict[str, Path]]:
    """Links a folder's images of all functions of the header; they exist until the context ends.

    Of "plain", for a Cortex-M4, "marked", the same with its loops marked, and "own", for this
    machine where there is no cross compiler, those that could be linked. Beside one that is not
    marked lies one of the least that a program calls (least_image).
    A last step of the progress is left to who reads them.
    """
    counted = count_steps(progress, "compile the code", 3)
    with scratch_folder() as scratch:

        def link(name: str) -> Path | None:
            image, functions = Path(scratch) / name, functions_of(header)
            options = OPTIONS if name == "marked" else ()
            compiler = OWN if name == "own" else CORTEX_M4

            try:
                compiled = compiler.compile(folder, image, *options)
                compiler.link(compiled, functions, image)
                if not options:
                    compiler.link(compiled, least_of(functions), least_image(image))
            except FAILURES:
                return None
            finally:
                counted(name, 1.0)
            return image

        names = ["plain", "marked"]
        linked = dict(zip(names, map_in_threads(threads, link, names), strict=True))
        if linked["plain"] is None:
            linked["own"] = link("own")
        yield {name: image for name, image in linked.items() if image is not None}
