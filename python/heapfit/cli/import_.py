# SPDX-License-Identifier: Apache-2.0
"""`heapfit import`: any known file becomes a stored trace."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heapfit.cli import console

if TYPE_CHECKING:
    from heapfit.trace import Trace


class PointerBits(StrEnum):
    """The widths a program's pointers may have."""

    BITS_32 = "32"
    BITS_64 = "64"


def command(
    file: Annotated[
        Path, typer.Argument(help="What to import; its format is told by its content.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The trace to write [FILE's name.parquet]."),
    ] = None,
    drop_unknown: Annotated[
        bool,
        typer.Option("--drop-unknown", help="Drop and count events of unknown objects."),
    ] = False,
    queue: Annotated[
        str,
        typer.Option(
            help="When a packet's buffer is released: fill-drain:N, fifo:PACKETS_PER_S, "
            "hold:exp:MEAN_US[:SEED] or hold:fixed:US."
        ),
    ] = "fill-drain:1000",
    pointer_bits: Annotated[
        PointerBits | None, typer.Option(help="Of the recorded program, where FILE is silent.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Turn a recording or a packet capture into a stored trace."""
    from heapfit.importers import ImportOptions, import_file
    from heapfit.source_name import source_name

    options = ImportOptions(drop_unknown, queue, int(pointer_bits.value) if pointer_bits else None)
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
