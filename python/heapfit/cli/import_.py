# SPDX-License-Identifier: Apache-2.0
"""`heapfit import`: any known file becomes a stored trace."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from heapfit.cli.arguments import (
    STANDARD_QUEUE,
    AsJson,
    DropUnknown,
    PointerBitsOption,
    Queue,
    import_options,
)
from heapfit.cli.printing import console
from heapfit.importers import import_file
from heapfit.trace.names import source_name
from heapfit.trace.stored import Trace


def command(
    file: Annotated[
        Path, typer.Argument(help="What to import; its format is told by its content.")
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
    with console.progress() as progress:
        trace = import_file(file, target, options, progress)
    if as_json:
        console.out_json({"trace": str(trace.path), **asdict(trace.info)})
    else:
        _print(trace)


def _print(trace: Trace) -> None:
    info = trace.info
    bits = f"{info.pointer_bits} bit" if info.pointer_bits else "unknown pointer size"
    console.out(f"{trace.path}: {info.events:,} events of {info.program or info.source} ({bits})")
    for told in info.notes:
        console.note(told)
