# SPDX-License-Identifier: Apache-2.0
"""The options of `compare`, `bounds` and `allocators`, with light imports only."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from heapfit import _engine
from heapfit.cli.arguments import make_output_option, reuse
from heapfit.cli.commands import Command
from heapfit.cli.parser import Option
from heapfit.comparison.incumbents.heap_names import SYSTEM_HEAPS, list_offered_allocators

_PLUGIN_GROUP = "Plug-ins"
_NAMES = ", ".join(info.name for info in list_offered_allocators())
_SYSTEMS = ", ".join(SYSTEM_HEAPS)
_WORKLOADS = ", ".join(info.name for info in _engine.workloads())


@dataclass(frozen=True, slots=True)
class CompareCommand(Command):
    """Rank allocators and plans by the smallest region in which each serves a trace.

    Exit status 3 if a plug-in has faults.

    Examples:
        heapfit compare run.parquet tlsf first_fit:coalesce=0
        heapfit compare run.parquet run2.parquet tlsf --alignment 4
    """

    words: Annotated[
        list[str] | None,
        Option(
            "",
            metavar="TRACE|WORKLOAD|ALLOCATOR",
            help="Recordings, captures or traces; synthetic workloads, NAME or "
            f"NAME:PARAMETER=VALUE,... with NAME one of {_WORKLOADS}; and the allocators to rank "
            f"[all that fit tries]: NAME or NAME:TUNABLE=VALUE,... with NAME one of {_NAMES}, or a "
            f"system's heap: {_SYSTEMS}. Pools are made from the trace.",
        ),
    ] = None
    seed: int = 1
    plans: list[Path] | None = None
    alignment: int = 8
    exact: bool = False
    plugins: Annotated[
        list[Path] | None,
        Option(
            "--plugin",
            "Your own allocator with its adapter (docs/plugins.md): a source, an archive, "
            "a folder of these, or a Rust crate.",
        ),
    ] = None
    cflags: Annotated[
        list[str] | None,
        Option(
            "--cflags",
            "Compiler flags for the sources of --plugin; NAME: FLAGS for those of one.",
            _PLUGIN_GROUP,
        ),
    ] = None
    pointer_bits: Annotated[
        int | None, reuse("pointer_bits", "Of the plug-ins [the recording's].")
    ] = None
    no_build: Annotated[
        bool,
        Option(
            "--no-build",
            "Take only plug-ins that come compiled (.a, .o): building runs code as you.",
            _PLUGIN_GROUP,
        ),
    ] = False
    sram: Path | None = None
    report: Path | None = None
    programs: list[Path] | None = None
    queue: str | None = None
    workers: str | None = None


@dataclass(frozen=True, slots=True)
class BoundsCommand(Command):
    """Show the least that any heap needs for a trace, and allocators' worst cases.

    Of a plan: the worst that a search finds within the trace's limits, in any order of requests.

    Examples:
        heapfit bounds run.parquet --search 0
        heapfit bounds run.parquet --search 1 -o run.csv
        heapfit bounds run.parquet --search 1 --plan plan.toml
    """

    source: Path
    plans: list[Path] | None = None
    alignment: int = 8
    search: int = 50
    seed: int = 1
    output: Annotated[
        Path | None,
        make_output_option(
            "the packing: minimalloc's .csv with offsets, .json, .h, or a model's .tflite [nowhere]"
        ),
    ] = None
    queue: str | None = None


@dataclass(frozen=True, slots=True)
class AllocatorsCommand(Command):
    """List the allocators: origin, tunables, worst case, overhead of a block.

    Examples:
        heapfit allocators
        heapfit allocators tlsf
    """

    names: Annotated[
        list[str] | None,
        Option(
            "", help="Allocators to print in full, with a drawing of their layout [a list of all]."
        ),
    ] = None
