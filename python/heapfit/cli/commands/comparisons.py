# SPDX-License-Identifier: Apache-2.0
"""The options of `compare`, `bounds` and `allocators`, with light imports only."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from heapfit import _engine
from heapfit.cli.arguments import (
    POINTER_BITS_HELP,
    Alignment,
    AlignmentOption,
    Allocators,
    AsJson,
    Exact,
    PlanPaths,
    PointerBits,
    Programs,
    Queue,
    ReportPage,
    Search,
    Seed,
    Source,
    SramFile,
    Workers,
    make_output_option,
)
from heapfit.cli.parser import make_argument, make_option
from heapfit.comparison.incumbents.heaps import SYSTEM_HEAPS, list_offered_allocators

_PLUGIN_GROUP = "Plug-ins"
_NAMES = ", ".join(info.name for info in list_offered_allocators())
_SYSTEMS = ", ".join(SYSTEM_HEAPS)
_WORKLOADS = ", ".join(info.name for info in _engine.workloads())


@dataclass(frozen=True, slots=True)
class CompareCommand:
    """Rank allocators and plans by the smallest region in which each serves a trace.

    Exit status 3 if a plug-in has faults.
    """

    EXAMPLES: ClassVar = (
        "heapfit compare run.heap tlsf first_fit:coalesce=0",
        "heapfit compare run.heap run2.heap tlsf --alignment 4",
    )

    words: Annotated[
        list[str] | None,
        make_argument(
            metavar="TRACE|WORKLOAD|ALLOCATOR",
            help="Recordings, captures or traces; synthetic workloads, NAME or "
            f"NAME:PARAMETER=VALUE,... with NAME one of {_WORKLOADS}; and the allocators to rank "
            f"[all that fit tries]: NAME or NAME:TUNABLE=VALUE,... with NAME one of {_NAMES}, or a "
            f"system's heap: {_SYSTEMS}. Pools are made from the trace.",
        ),
    ] = None
    allocators: Allocators = None
    seed: Seed = 1
    plans: PlanPaths = None
    alignment: AlignmentOption = Alignment.BYTES_8
    exact: Exact = False
    plugins: Annotated[
        list[Path] | None,
        make_option(
            "--plugin",
            "Your own allocator with its adapter (docs/plugins.md): a source, an archive, "
            "a folder of these, or a Rust crate.",
        ),
    ] = None
    cflags: Annotated[
        list[str] | None,
        make_option(
            "--cflags",
            "Compiler flags for the sources of --plugin; NAME: FLAGS for those of one.",
            _PLUGIN_GROUP,
        ),
    ] = None
    pointer_bits: Annotated[
        PointerBits, make_option("--pointer-bits", POINTER_BITS_HELP, _PLUGIN_GROUP)
    ] = PointerBits.BITS_32
    no_build: Annotated[
        bool,
        make_option(
            "--no-build",
            "Take only plug-ins that come compiled (.a, .o): building runs code as you.",
            _PLUGIN_GROUP,
        ),
    ] = False
    sram: SramFile = None
    report: ReportPage = None
    programs: Programs = None
    queue: Queue = None
    workers: Workers = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class BoundsCommand:
    """Show the least that any heap needs for a trace, and allocators' worst cases.

    Of a plan: the worst that a search finds within the trace's limits, in any order of requests.
    """

    EXAMPLES: ClassVar = (
        "heapfit bounds run.heap --search 0",
        "heapfit bounds run.heap --search 1 -o run.csv",
        "heapfit bounds run.heap --search 1 --plan plan.toml",
    )

    source: Source
    plans: PlanPaths = None
    alignment: AlignmentOption = Alignment.BYTES_8
    search: Search = 50
    seed: Seed = 1
    output: Annotated[
        Path | None,
        make_output_option(
            "the packing: minimalloc's .csv with offsets, .json, .h, or a model's .tflite [nowhere]"
        ),
    ] = None
    queue: Queue = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class AllocatorsCommand:
    """List the allocators: origin, tunables, worst case, overhead of a block."""

    EXAMPLES: ClassVar = ("heapfit allocators", "heapfit allocators tlsf")

    names: Annotated[
        list[str] | None,
        make_argument(
            help="Allocators to print in full, with a drawing of their layout [a list of all]."
        ),
    ] = None
    as_json: AsJson = False


COMMANDS = (CompareCommand, BoundsCommand, AllocatorsCommand)
