# SPDX-License-Identifier: Apache-2.0
"""The heaps of C libraries for boards, as their packages install them: newlib, nano, picolibc.

Such a heap grows by sbrk, and no placement depends on where its region ends until a growth is
refused. So one replay in all of the board's memory tells the region: the most that was taken. A
second one in just that much has to serve the recording, a third in 8 B less has to refuse it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from harness import sources
from harness.board import BOARDS
from harness.calls import read_calls
from harness.code_size import weigh_code
from harness.emulator import Watch, emulate
from harness.image import Image
from harness.packed_trace import PackedTrace, pack
from harness.plugin import Target, plugin_image
from harness.workbench import Build, Workbench
from heapfit.errors import HeapfitError
from heapfit.external_tool import run
from heapfit.plugin import INCLUDE
from heapfit.trace.stored import Trace

ALIGNMENT = 8  # of every block, whoever asks
_LARGEST_REGION = 16 << 20  # bytes, of the board's memory
_MOST_SLOTS = 1 << 16  # of target/replay/plugin.c
_STEP = 8
_WATCHED = tuple(f"plugin_{name}" for name in ("alloc", "alloc_aligned", "resize", "free"))
_TARGET = Target(BOARDS["cortex-m4"], Build("O2"), ALIGNMENT)
_VARIABLE = re.compile(r"^(\S+) [bBdD] \S+ ([0-9a-f]+)$", re.MULTILINE)
_WEIGHED = ("plugin_init", "plugin_alloc", "plugin_free")


@dataclass(frozen=True, slots=True)
class Library:
    """A library by the options that make the compiler find it."""

    name: str
    options: tuple[str, ...]
    defines: tuple[str, ...]

    def archive(self, folder: Path) -> Path:
        """The library of the Cortex-M4, as the linker finds it; HeapfitError if it is not
        installed.

        `folder` is for the linker's output, and is made.
        """
        folder.mkdir(parents=True, exist_ok=True)
        words = (f"{_TARGET.board.tools}gcc", *_TARGET.board.flags, "-nostdlib", *self.options)
        asked = ("-Wl,-u,malloc", "-Wl,--trace", "-Wl,--unresolved-symbols=ignore-all")
        script = f"-T{sources.root() / 'target/size/size.ld'}"
        try:
            told = run([*words, *asked, "-Wl,-e,0", script, "-o", "found.elf"], folder)
        except HeapfitError as error:
            raise HeapfitError(
                f"{self.name}: not installed (target/README.md lists packages)"
            ) from error
        return Path(told.splitlines()[0])


_NEWLIB = ("-DLIBRARY_IS_NEWLIB",)
LIBRARIES = (
    Library("newlib", ("-lc",), _NEWLIB),
    Library("newlib-nano", ("-lc_nano",), _NEWLIB),
    Library("picolibc", ("--specs=picolibc.specs", "-lc"), ()),
)


@dataclass(frozen=True, slots=True)
class LibraryRun:
    """A library's heap on one recording. Sizes in bytes."""

    region: int  # smallest that serves, variables included
    variables: int  # outside the region
    code: int  # and constants, of init, alloc and free
    instructions: float  # the mean of a call; a resize's copy included
    stack: int  # deepest of all calls


def run_library(workbench: Workbench, library: Library, trace: Trace) -> LibraryRun:
    """Region, instructions, stack and code.

    HeapfitError if the recording does not fit the board, or a region breaks the rule above.
    """
    packed = pack(trace)
    if packed.slots > _MOST_SLOTS:
        raise HeapfitError(f"{packed.slots:,} blocks live at once, of {_MOST_SLOTS:,} on the board")
    images = _Images(workbench, library, packed)
    largest = images.build_image(_LARGEST_REGION)
    output = largest.path.parent / "calls"
    try:
        printed = emulate(largest, ("trace",), Watch(workbench.plugin, _WATCHED, output))
    except HeapfitError as error:
        raise HeapfitError(f"not served in the board's {_LARGEST_REGION:,} B ({error})") from error
    told = _describe_failure(printed)
    region = -(-told["taken"] // _STEP) * _STEP
    if not _serves(images.build_image(region)) or _serves(images.build_image(region - _STEP)):
        raise HeapfitError(f"{region:,} B were taken, but are not the smallest region")
    calls = read_calls(output, tuple(name.removeprefix("plugin_") for name in _WATCHED))
    size = weigh_code(workbench, _TARGET.board, images.objects, _WEIGHED)
    variables = _variables(largest, images.objects[1])
    return LibraryRun(
        region=region + variables,
        variables=variables,
        code=size.total,
        instructions=float(calls.records["instructions"].mean()),
        stack=calls.deepest_stack(told["stack"], *calls.functions),
    )


class _Images:
    """Images of one library and one recording, in regions of several sizes."""

    def __init__(self, workbench: Workbench, library: Library, packed: PackedTrace) -> None:
        self._workbench = workbench
        self._packed = packed
        adapter = workbench.build_shared_object(
            _TARGET.board,
            _TARGET.build,
            "target/replay/library.c",
            (f"-I{INCLUDE}", "-fno-builtin", *library.defines),
        )
        self.objects = (adapter, library.archive(workbench.folder))

    def build_image(self, region: int) -> Image:
        """One with a region of so many bytes, and the recording beside it."""
        folder = self._workbench.image_folder()
        image = plugin_image(self._workbench, _TARGET, self.objects, region, folder)
        self._packed.save(folder / "trace")
        return image


def _describe_failure(printed: str) -> dict[str, int]:
    words = printed.split()
    return {name: int(value) for name, value in zip(words[::2], words[1::2], strict=True)}


def _serves(image: Image) -> bool:
    try:
        emulate(image, ("trace",))
    except HeapfitError:
        return False
    return True


def _variables(image: Image, archive: Path) -> int:
    """Bytes of the variables that the linker took from the archive."""
    theirs = {name for name, _ in _variables_in(archive)}
    return sum(size for name, size in _variables_in(image.path) if name in theirs)


def _variables_in(file: Path) -> list[tuple[str, int]]:
    words = (f"{_TARGET.board.tools}nm", "--format=posix", "--defined-only", file)
    return [(name, int(size, 16)) for name, size in _VARIABLE.findall(run(words, file.parent))]
