# SPDX-License-Identifier: Apache-2.0
"""Importing: any known file becomes a stored trace."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from heapfit.errors import HeapfitError, first_line
from heapfit.importers.boots import cut_boots, find_boot
from heapfit.importers.formats import (
    FORMATS,
    FRAMES,
    KNOWN_LIFETIMES,
    LOG,
    PACKETS,
    STORED_MAGIC,
    Format,
    find_format,
    format_of,
)
from heapfit.importers.own_lines import suggest_own_lines
from heapfit.importers.source import ImportOptions, OwnLines, Source
from heapfit.importers.stream import ByteStream
from heapfit.importers.told_names import read_told_names
from heapfit.outputs.ours import require_not_source
from heapfit.outputs.scratch import scratch_folder
from heapfit.progress import Progress, ignore_progress
from heapfit.store_file import StoreFile
from heapfit.trace.names import source_name
from heapfit.trace.oversized import leave_out_oversized
from heapfit.trace.stored import Trace, TraceInfo, write_trace
from heapfit.trace.table_file import Columns

__all__ = [
    "FORMATS",
    "Format",
    "ImportOptions",
    "OwnLines",
    "has_known_lifetimes",
    "import_file",
    "import_frames",
    "open_any",
    "open_trace",
    "open_traces",
]

STEP = "import"
_NOTHING = "no allocation in it"  # the engine's words
_UNKNOWN = (
    "If it has some, say what they look like: heapfit import --line, --free.",
    "If it prints free bytes, heapfit forecast says whether memory falls.",
)


def import_file(
    source: Path | str,
    output: Path | str,
    options: ImportOptions | None = None,
    progress: Progress = ignore_progress,
) -> Trace:
    """Stores the events of `source`, of any known format, as a trace at `output`.

    docs/import-formats.md lists the formats. HeapfitError names the line, packet or event at which
    a source breaks the rules of a trace; then nothing is written.
    """
    with ByteStream(source if isinstance(source, Path) else Path(source)) as stream:
        if stream.head.startswith(STORED_MAGIC):
            raise HeapfitError(f"{source}: is Parquet already (a stored trace needs no import)")
        return _import(stream, Path(output), options or ImportOptions(), progress)


def import_frames(
    source: Path | str, output: Path | str, progress: Progress = ignore_progress
) -> Trace:
    """Stores the events of the frames in a target's log as a trace at `output`.

    As `import_file`, for a log with so much before its first frame that it is not known by it.
    """
    with ByteStream(source if isinstance(source, Path) else Path(source)) as stream:
        return _import(stream, Path(output), ImportOptions(), progress, FRAMES)


def open_any(
    source: Path,
    options: ImportOptions,
    folder: Path,
    progress: Progress = ignore_progress,
    name: str | None = None,
) -> Trace:
    """Opens a stored trace; any other known file is imported to a trace in `folder`.

    `name` is that trace's, without its ending; the source's own if none is given.
    """
    with ByteStream(source) as stream:
        if stream.head.startswith(STORED_MAGIC):
            trace = Trace.open(source)
            _check_queue(source, options.queue, trace.info.queue)
            return trace
        return _import(stream, folder / f"{name or source_name(source)}.parquet", options, progress)


def has_known_lifetimes(source: Path) -> bool:
    """True for a file of buffers whose lifetimes are known beforehand, such as a network.

    False for a pipe, which can be read once, and for what cannot be read, as is told when it is.
    """
    form = find_format(source)
    return form is not None and form.name in KNOWN_LIFETIMES


@contextmanager
def open_trace(
    source: Trace | Path,
    options: ImportOptions | None = None,
    progress: Progress = ignore_progress,
    *,
    keep_oversized: bool = False,
) -> Iterator[Trace]:
    """Opens a trace; any other known file is imported for the time, and deleted afterwards.

    Requests that no heap below 4 GiB serves are left out, and named by the trace's notes, unless
    `keep_oversized`.
    """
    with scratch_folder() as folder:
        place = Path(folder)
        if isinstance(source, Trace):
            yield source if keep_oversized else leave_out_oversized(source, place)
            return
        with copy_here(source) as here:
            trace = open_any(here, options or ImportOptions(), place, progress)
            yield trace if keep_oversized else leave_out_oversized(trace, place)


@contextmanager
def open_traces(
    sources: Sequence[Trace | Path],
    options: ImportOptions | None = None,
    progress: Progress = ignore_progress,
) -> Iterator[list[Trace]]:
    """Opens several traces, each as `open_trace` does."""
    with ExitStack() as opened:
        yield [opened.enter_context(open_trace(one, options, progress)) for one in sources]


@contextmanager
def copy_here(source: Path) -> Iterator[Path]:
    """A copy of a file of a store, as it is read several times; errors name the file.

    Of another file its own path.
    """
    if not isinstance(source, StoreFile):
        yield source
        return
    with scratch_folder() as folder:
        copy = folder / source.name
        try:
            with source.open() as file, copy.open("wb") as copied:
                shutil.copyfileobj(file, copied)
            yield copy
        except (HeapfitError, OSError) as error:
            reason = first_line(error).removeprefix(f"{copy}: ").removeprefix(f"{source}: ")
            raise HeapfitError(f"{source}: {reason}") from error


def _import(
    stream: ByteStream,
    output: Path,
    options: ImportOptions,
    progress: Progress,
    form: Format | None = None,
) -> Trace:
    """Stores the events of a file of this form; None: the one that its content tells."""
    own = options.own_lines
    form = form or format_of(stream, own)
    _check_queue(stream.path, options.queue, options.queue if form.name == PACKETS else "")
    require_not_source(output, stream.path)
    with scratch_folder() as folder:
        boot, others = find_boot(cut_boots(stream.path, form, Path(folder), own), own, options.boot)
        with ByteStream(boot) if others else nullcontext(stream) as content:
            incoming = form.open(content, options)

            def info() -> TraceInfo:
                found, bits = incoming.info(), options.pointer_bits
                cut = (f"The rest is left out, from {stream.damage}",) if stream.damage else ()
                return replace(
                    found,
                    source=found.source or stream.path.name,
                    notes=(*filter(None, [others]), *found.notes, *cut),
                    pointer_bits=found.pointer_bits if bits is None else bits,
                    names=read_told_names(stream.path, own.line if own else "")
                    if form is LOG
                    else {},
                )

            return write_trace(
                output,
                read_columns(incoming, content, progress),
                info,
                incoming.chains,
                stream.path,
            )


def _check_queue(source: Path, queue: str | None, used: str | None) -> None:
    """HeapfitError where a queue model is given that the source's events do not come from."""
    if queue is None or queue == used:
        return
    if not used:
        raise HeapfitError(f"{source}: is no capture of packets: leave out --queue {queue}")
    raise HeapfitError(
        f"{source}: was imported by --queue {used}, not {queue} (import the capture again)"
    )


def read_columns(incoming: Source, stream: ByteStream, progress: Progress) -> Iterator[Columns]:
    """Reads a source's columns with progress; errors get the file's name before their place."""
    progress(STEP, 0.0)
    try:
        for columns in incoming.columns():
            progress(STEP, stream.done)
            yield columns
    except HeapfitError as error:
        below = (
            suggest_own_lines(stream.path, stream.head) or _UNKNOWN
            if _NOTHING in str(error) and b"\0" not in stream.head
            else ()
        )
        raise HeapfitError(f"{stream.path}: {stream.damage or error}", below) from error
    progress(STEP, 1.0)
