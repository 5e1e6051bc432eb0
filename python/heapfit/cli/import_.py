# SPDX-License-Identifier: Apache-2.0
"""`heapfit import`: turns files of any known format into stored traces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from heapfit.cli.arguments import (
    DROP_UNKNOWN,
    POINTER_BITS,
    QUEUE,
    AsJson,
    PointerBits,
    Workers,
    import_options,
    make_output_option,
    show_in_help,
    take_file,
)
from heapfit.cli.printing.parts import Fields, Line, Note, Part, print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.importers import import_file
from heapfit.importers.file_kind import Kind
from heapfit.importers.many import Import, import_files
from heapfit.sweep import Sweep
from heapfit.trace.kinds import STANDARD_QUEUE
from heapfit.trace.names import distinct_source_names, source_name
from heapfit.trace.stored import Trace


def command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="The files to import; their content decides the format.",
            **take_file(Kind.RECORDING),
        ),
    ],
    output: Annotated[
        Path | None,
        make_output_option("the trace, of several files a folder of traces [FILE's name.parquet]"),
    ] = None,
    workers: Workers = None,
    queue: Annotated[str, show_in_help(QUEUE)] = STANDARD_QUEUE,
    drop_unknown: Annotated[bool, show_in_help(DROP_UNKNOWN)] = False,
    pointer_bits: Annotated[PointerBits | None, show_in_help(POINTER_BITS)] = None,
    as_json: AsJson = False,
) -> None:
    """Turn recordings or packet captures into stored traces."""
    options = import_options(queue, drop_unknown, pointer_bits)
    if len(files) == 1:
        target = output or Path(f"{source_name(files[0])}.parquet")
        with progress_bar() as progress:
            trace = import_file(files[0], target, options, progress)
        print_result([Fields(_fields(trace)), _line(trace), *map(Note, trace.info.notes)], as_json)
        return
    folder = output or Path()
    named = zip(files, distinct_source_names(files), strict=True)
    imports = [Import(file, folder / f"{name}.parquet", options) for file, name in named]
    with progress_bar() as progress, Sweep(workers) as sweep:
        traces = import_files(imports, sweep, progress)
    print_result(_trace_parts(traces), as_json)


def _trace_parts(traces: Sequence[Trace]) -> Iterator[Part]:
    yield Fields({"traces": list(map(_fields, traces))})
    for trace in traces:
        yield _line(trace)
        yield from (Note(f"{trace.path}: {note}") for note in trace.info.notes)


def _fields(trace: Trace) -> dict[str, object]:
    return {"trace": trace.path, **asdict(trace.info)}


def _line(trace: Trace) -> Line:
    info = trace.info
    bits = f"{info.pointer_bits} bit" if info.pointer_bits else "unknown pointer size"
    line = f"{trace.path}: {info.events:,} events of {info.program or info.source} ({bits})"
    return Line(line, is_copied=True)
