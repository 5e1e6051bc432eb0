# SPDX-License-Identifier: Apache-2.0
"""A generated folder linked once for all that is read from it: code sizes and worst cases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.generate.linked_folder import (
    compile_folder,
    functions_of,
    least_image,
    least_of,
    link_functions,
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

    Of "plain" and "marked", the same with its loops marked, those that could be linked. Beside the
    former lies one of the least that a program calls (least_image). A last step of the progress is
    left to who reads them.
    """
    counted = count_steps(progress, "compile the code", 3)
    with scratch_folder() as scratch:

        def link(name: str) -> Path | None:
            image, functions = Path(scratch) / name, functions_of(header)
            options = OPTIONS if name == "marked" else ()
            try:
                compiled = compile_folder(folder, image, *options)
                link_functions(compiled, functions, image)
                if not options:
                    link_functions(compiled, least_of(functions), least_image(image))
            except HeapfitError:
                return None
            finally:
                counted(name, 1.0)
            return image

        names = ["plain", "marked"]
        linked = dict(zip(names, map_in_threads(threads, link, names), strict=True))
        yield {name: image for name, image in linked.items() if image is not None}
