# SPDX-License-Identifier: Apache-2.0
"""A generated folder compiled and linked whole, as its README has it, for a Cortex-M4.

Linked once for all that is read from it: code sizes and worst cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.external_tool import run
from heapfit.generate.names import Text, comment_text
from heapfit.generate.worst_case.loop_marks import OPTIONS as MARKED
from heapfit.outputs.scratch import scratch_folder
from heapfit.progress import Progress, count_steps, ignore_progress
from heapfit.sweep.threads import map_in_threads

TOOLS = "arm-none-eabi-"  # how the names of its programs begin
TARGET = ("-mcpu=cortex-m4", "-mthumb")
OPTIONS = Text(" ".join(("-Os", *TARGET)))  # as pages print them
_COMPILER = f"{TOOLS}gcc"
FREESTANDING = (
    *("-std=c11", "-ffreestanding", "-Os", "-fno-pie", "-fno-tree-loop-distribute-patterns"),
)
_PLAIN = (*FREESTANDING, "-fno-asynchronous-unwind-tables")  # which makes no code
SECTIONS = ("-ffunction-sections", "-fdata-sections")
_LINK = ("-nostdlib", "-static", "-no-pie", "-Wl,--gc-sections", "-Wl,--entry=0")
_FUNCTION = re.compile(r"(\w+)\([^()]*\);$", re.MULTILINE)
_LEAST = re.compile(r"_(heap_init|malloc|malloc_at|(?<!_heap_find_)free|free_sized)$")


def describe_compiler(folder: Path) -> Text:
    """The compiler's name, version and machine."""
    said = run([_COMPILER, "--version"], folder).splitlines()[0]
    return comment_text(f"{said}, {run([_COMPILER, '-dumpmachine'], folder).strip()}")


def compile_folder(folder: Path, image: Path, *options: str) -> list[Path]:
    """The folder's C as objects, in files beside the image."""
    sources = sorted(folder.rglob("*.c"))
    objects = [image.with_name(f"{image.name}-{number}.o") for number in range(len(sources))]
    for source, made in zip(sources, objects, strict=True):
        words = ("-c", str(source.relative_to(folder)), "-o", str(made))
        run([_COMPILER, *TARGET, *_PLAIN, *SECTIONS, "-I.", *options, *words], folder)
    return objects


def link_functions(objects: Iterable[Path], functions: Iterable[str], image: Path) -> None:
    """Links these functions of what was compiled, and what they call."""
    asked = (f"-Wl,-u,{function}" for function in functions)
    run([_COMPILER, *objects, *TARGET, *_LINK, *asked, "-o", str(image)], image.parent)


def functions_of(header: Path) -> list[str]:
    """The names of the functions that a generated header declares."""
    return _FUNCTION.findall(header.read_text(encoding="utf-8"))


def least_of(functions: Iterable[str]) -> list[str]:
    """The functions that every program calls: they make the heap, allocate and free."""
    return [one for one in functions if _LEAST.search(one)]


def least_image(image: Path) -> Path:
    """Where the image of the least lies, beside that of all functions."""
    return image.with_suffix(".least")


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
            options = MARKED if name == "marked" else ()
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
