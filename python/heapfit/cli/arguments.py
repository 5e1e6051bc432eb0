# SPDX-License-Identifier: Apache-2.0
"""Arguments that several commands share, each written once."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Container
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from heapfit import _engine
from heapfit.comparison.measuring import EXACT, STANDARD_PRECISION, Precision
from heapfit.design.effort import Effort
from heapfit.design.front.preference import Preference
from heapfit.importers import ImportOptions


class PointerBits(StrEnum):
    """The widths a program's pointers may have."""

    BITS_32 = "32"
    BITS_64 = "64"


class Alignment(StrEnum):
    """The alignments an allocator offers, in bytes."""

    BYTES_4 = "4"
    BYTES_8 = "8"
    BYTES_16 = "16"


Source: TypeAlias = Annotated[
    Path,
    typer.Argument(help="A stored trace, or a recording or capture to import first."),
]
Sources: TypeAlias = Annotated[
    list[Path],
    typer.Argument(help="Stored traces, or recordings or captures to import first."),
]
Allocators: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--allocators",
        metavar="NAME,...",
        help="Allocators to try, with commas between them, NAME or NAME:TUNABLE=VALUE,...; all: "
        "every one.",
    ),
]
AlignmentOption: TypeAlias = Annotated[
    Alignment, typer.Option("--alignment", help="Alignment of every block, in bytes.")
]
DropUnknown: TypeAlias = Annotated[
    bool, typer.Option("--drop-unknown", help="Drop events of unknown objects, and count them.")
]
Queue: TypeAlias = Annotated[
    str,
    typer.Option(
        "--queue",
        help="What releases a packet: fill-drain:N, fifo:PACKETS_PER_S of a CPU, "
        "link:BITS_PER_S, hold:exp:MEAN_US[:SEED] or hold:fixed:US.",
    ),
]
QueueOfCapture: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--queue",
        help="What releases a captured packet: fifo:PACKETS_PER_S of a CPU, link:BITS_PER_S, "
        "hold:exp:MEAN_US[:SEED], hold:fixed:US or fill-drain:N.",
    ),
]
Admission: TypeAlias = Annotated[
    float, typer.Option("--admission", help="Share of requests that is to be admitted.")
]
PointerBitsOption: TypeAlias = Annotated[
    PointerBits | None,
    typer.Option(
        "--pointer-bits",
        help="Pointer size of the recorded program, where the file does not say it.",
    ),
]
CallSites: TypeAlias = Annotated[
    bool, typer.Option("--call-sites", help="The program can pass the call site with each request.")
]
Sized: TypeAlias = Annotated[
    bool,
    typer.Option("--sized", help="The program passes a block's size when it frees or resizes it."),
]
Exact: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--exact",
        help="Try every multiple of 8 bytes around each plan's region, however long it takes.",
    ),
]
EffortOption: TypeAlias = Annotated[
    Effort,
    typer.Option(
        "--effort",
        help="How far plans are looked for: quick takes what needs no search, long tries "
        "all configurations and searches budgets, too (docs/design.md).",
    ),
]
Seed: TypeAlias = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        max=2**64 - 1,
        help="Seed of the random numbers: one seed gives one result.",
    ),
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        max=1024,
        help="Number of processes or threads that share the work [one for each core].",
    ),
]
ClusterAddress: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="tcp://HOST:PORT",
        help="Do the work on a Dask cluster instead (pip install 'heapfit[dask]').",
    ),
]
Prefer: TypeAlias = Annotated[
    Preference | None,
    typer.Option(
        "--prefer", help="Choose the front's plan that has least of this (docs/front.md)."
    ),
]
SramFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--sram", help="File with the energy of an access by memory size (docs/energy.md)."
    ),
]
Machine: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--machine", help="The machine that --qemu emulates [mps2-an385 for Arm, virt for RISC-V]."
    ),
]
InstructionCount: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--icount",
        help="Make --qemu count time in instructions, in QEMU's words (shift=6,sleep=off).",
    ),
]
ReportPage: TypeAlias = Annotated[
    Path | None,
    typer.Option("--report", help="Write a page with charts, to be opened in a browser, too."),
]
Programs: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--program",
        help="The recorded program or its library, for functions of call sites. Repeatable.",
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def typed_command() -> str:
    """What was typed, to be typed again."""
    return shlex.join(["heapfit", *sys.argv[1:]])


def refuse_options(context: typer.Context, names: Container[str], why: str) -> None:
    """Wrong usage if one of the parameters was typed: `why` says what has no use for it."""
    for param in context.command.params:
        source = context.get_parameter_source(param.name or "")
        if param.name in names and source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"{param.opts[-1]} says nothing here: {why}")


def import_options(
    queue: str | None, drop_unknown: bool, pointer_bits: PointerBits | None
) -> ImportOptions:
    """The choices for an import, from the three options above.

    A queue is checked also where the source turns out not to be packets.
    """
    if queue is not None:
        _engine.QueueModel(queue)
    bits = int(pointer_bits) if pointer_bits else None
    return ImportOptions(drop_unknown, queue, bits)


def precision_of(exact: bool) -> Precision:
    """On each plan's regions, from the option above."""
    return EXACT if exact else STANDARD_PRECISION
