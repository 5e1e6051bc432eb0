# SPDX-License-Identifier: Apache-2.0
"""An allocator that is not heapfit's on a board: instructions and stack of its calls, its code.

Its C, or its crate of Rust, is compiled for the board with the adapter that `heapfit compare
--plugin` takes, and replays the trace in the region that was found for it on the host.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import sources
from harness.board import Board
from harness.calls import Calls, read_calls
from harness.code_size import CodeSize, weigh_code
from harness.emulator import Watch, emulate
from harness.image import Image, link_image
from harness.packed_trace import pack
from harness.workbench import Build, Workbench
from heapfit.errors import HeapfitError
from heapfit.external_tool import run
from heapfit.plugin import INCLUDE, Plugin, build, measure
from heapfit.plugin.building import crate_archive, join
from heapfit.plugin.sources import C_SOURCES
from heapfit.trace.stored import Trace

_CALLS = ("alloc", "alloc_aligned", "resize", "resize_sized", "free", "free_sized")
_OBJECT = ("-ffunction-sections", "-fdata-sections", "-fno-pie", "-g0")
# A watched function must be called, not jumped to.
_HOST = (f"-I{INCLUDE}", "-fno-optimize-sibling-calls")


@dataclass(frozen=True, slots=True)
class Target:
    """What a plug-in is built for."""

    board: Board
    build: Build
    alignment: int  # of its blocks


@dataclass(frozen=True, slots=True)
class OnBoard:
    """What a plug-in does there, and what it takes."""

    region: int  # bytes, variables aside
    faults: tuple[str, ...]  # names, of those that the host found
    calls: Calls
    stack: int  # address of the stack's end at every call
    size: CodeSize


def count_plugin(workbench: Workbench, plugin: Plugin, trace: Trace, target: Target) -> OnBoard:
    """Instructions of every call in the plug-in's safe region.

    Its faults are named, and do no harm as long as it serves the trace. HeapfitError if it does
    not, or is neither C nor a crate.
    """
    if not plugin.is_crate and not all(source.suffix in C_SOURCES for source in plugin.sources):
        raise HeapfitError(f"{plugin.name}: boards are built for C and crates of Rust alone")
    region, faults = _region(plugin, trace, target.alignment)
    folder = workbench.image_folder()
    objects = (
        _crate_objects(plugin, target, folder)
        if plugin.is_crate
        else _objects(plugin, target, folder)
    )
    memory = workbench.build_shared_object(target.board, target.build, "target/board/memory.c")
    objects.append(_missing_functions(workbench, target, [*objects, memory], folder))
    image = plugin_image(workbench, target, objects, region, folder)
    pack(trace).save(image.path.parent / "trace")
    present = [name for name in _CALLS if f"plugin_{name}" in image.symbols]
    output = folder / "calls"
    watch = Watch(workbench.plugin, tuple(f"plugin_{name}" for name in present), output)
    words = emulate(image, ("trace",), watch).split()
    roots = [f"plugin_{name}" for name in ("init", *present) if "resize" not in name]
    size = weigh_code(workbench, target.board, [*objects, memory], roots)
    return OnBoard(region, faults, read_calls(output, tuple(present)), int(words[1]), size)


def _region(plugin: Plugin, trace: Trace, alignment: int) -> tuple[int, tuple[str, ...]]:
    """The region without variables, which a linker places elsewhere, and the names of faults."""
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        row = measure(build(plugin, Path(folder)), trace, alignment)
    if row.r_safe is None:
        why = (
            row.faults[0]
            if row.faults
            else f"no region serves the trace at --alignment {alignment}"
        )
        raise HeapfitError(f"{plugin.name}: {why}")
    return row.r_safe - row.statics_bytes, tuple(fault.name for fault in row.faults)


def _objects(plugin: Plugin, target: Target, folder: Path) -> list[Path]:
    made = [folder / f"{i}-{source.stem}.o" for i, source in enumerate(plugin.sources)]
    flags = (*target.board.flags, f"-{target.build.optimisation}", *_OBJECT, *plugin.cflags)
    compiler = f"{target.board.tools}gcc"
    for source, path in zip(plugin.sources, made, strict=True):
        run([compiler, *flags, f"-I{INCLUDE}", "-c", source, "-o", path.name], folder)
    return made


def _crate_objects(plugin: Plugin, target: Target, folder: Path) -> list[Path]:
    """One object with the adapter's functions alone."""
    optimisation = target.build.optimisation.removeprefix("O")
    archive = crate_archive(plugin, folder, target.board.rust, optimisation)
    return [join([archive], folder, tools=target.board.tools, flags=target.board.flags)]


def _missing_functions(
    workbench: Workbench, target: Target, objects: Sequence[Path], folder: Path
) -> Path:
    """An object of what a C library would have, a panic and a wish for memory: each is a trap."""
    tools, made = target.board.tools, folder / "missing.o"
    flags = (*target.board.flags, "-print-libgcc-file-name")
    arithmetic = Path(run([f"{tools}gcc", *flags], folder).strip())
    known = _names(tools, "--defined-only", [*objects, arithmetic])
    missing = sorted(_names(tools, "--undefined-only", objects) - known)
    source = folder / "missing.c"
    source.write_text("".join(f"void {name}(void) {{ __builtin_trap(); }}\n" for name in missing))
    options = ("-fno-builtin", "-Wno-missing-prototypes")
    workbench.compile(target.board, target.build, str(source), made, options)
    return made


def _names(tools: str, which: str, objects: Sequence[Path]) -> set[str]:
    """The symbols but the weak ones that an object leaves undefined: its code asks for these."""
    listing = (run([f"{tools}nm", "--format=posix", which, one], one.parent) for one in objects)
    rows = (line.split() for text in listing for line in text.splitlines())
    return {row[0] for row in rows if len(row) > 1 and row[1] not in ("v", "w")}


def plugin_image(
    workbench: Workbench, target: Target, objects: Sequence[Path], region: int, folder: Path
) -> Image:
    """Links a plug-in's objects in `folder` with the program that replays, to so large a region."""
    host = (INCLUDE / "host").relative_to(sources.root())
    options = (*_HOST, f"-DREGION_BYTES={region}", f"-DBLOCK_ALIGNMENT={target.alignment}")
    parts = (host / "face.c", host / "entries.c", "target/replay/plugin.c")
    made = [folder / name for name in ("face.o", "entries.o", "main.o")]
    for source, path in zip(parts, made, strict=True):
        workbench.compile(target.board, target.build, str(source), path, options)
    return link_image(workbench, target.board, target.build, folder, [*made, *objects])


def plugin_lines(plugin: Plugin, target: Target, found: OnBoard) -> Iterator[str]:
    """A line for each function that was called, and one of the code."""
    optimisation = target.build.optimisation
    yield f"{plugin.name}  {target.board.name} -{optimisation}  region {found.region:,} B"
    if found.faults:
        yield f"faults: {', '.join(found.faults)}"
    yield "function           calls  mean instr.    p99.9    worst  stack B"
    for name in found.calls.functions:
        spread = found.calls.spread(name)
        if spread is not None:
            stack = found.calls.deepest_stack(found.stack, name)
            yield (
                f"{name:13} {spread.calls:10,} {spread.mean:12.1f} {spread.p999:8,} "
                f"{spread.worst:8,} {stack:8}"
            )
    yield (
        f"code and constants {found.size.total:,} B, of init and one way to allocate and to free; "
        f"variables {found.size.memory:,} B"
    )
