# SPDX-License-Identifier: Apache-2.0
"""`heapfit import`: any known file becomes a stored trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from heapfit.cli.arguments import (
    AsJson,
    DropUnknown,
    PointerBitsOption,
    Queue,
    import_options,
)
from heapfit.cli.printing.parts import Fields, Line, Note, Part, out_result
from heapfit.cli.printing.progress import whole_bar
from heapfit.importers import import_file
from heapfit.importers.source import STANDARD_QUEUE
from heapfit.trace.names import source_name
from heapfit.trace.stored import Trace


def command(
    file: Annotated[
        Path, typer.Argument(help="The file to import; its content decides which format it has.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The trace to write [FILE's name.parquet]."),
    ] = None,
    queue: Queue = STANDARD_QUEUE,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    as_json: AsJson = False,
) -> None:
    """Turn a recording or a packet capture into a stored trace."""
    options = import_options(queue, drop_unknown, pointer_bits)
    target = output or Path(f"{source_name(file)}.parquet")
    with whole_bar() as progress:
        trace = import_file(file, target, options, progress)
    out_result(_parts(trace), as_json)


def _parts(trace: Trace) -> Iterator[Part]:
    info = trace.info
    bits = f"{info.pointer_bits} bit" if info.pointer_bits else "unknown pointer size"
    yield Fields({"trace": trace.path, **asdict(info)})
    told = f"{trace.path}: {info.events:,} events of {info.program or info.source} ({bits})"
    yield Line(told, is_copied=True)
    yield from map(Note, info.notes)
