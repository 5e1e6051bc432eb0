# SPDX-License-Identifier: Apache-2.0
"""The options of `compare`, `bounds`, `adversary` and `allocators`, with light imports only."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from heapfit import _engine
from heapfit.cli.arguments import (
    ALIGNMENT_HELP,
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
    RegionOption,
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
_LEAGUE_GROUP = "League"
_NAMES = ", ".join(info.name for info in list_offered_allocators())
_SYSTEMS = ", ".join(SYSTEM_HEAPS)
_WORKLOADS = ", ".join(info.name for info in _engine.workloads())


@dataclass(frozen=True, slots=True)
class CompareCommand:
    """Rank allocators and plans by the smallest region in which each serves a trace.

    Exit status 3 if a plug-in of a ranking has faults. With --output a league: all of ours and of
    plug-ins over all recordings, designs from NAME-1 on NAME-2, too; what a run before has in the
    same folder is not measured again.
    """

    EXAMPLES: ClassVar = (
        "heapfit compare run.heap tlsf first_fit:coalesce=0",
        "heapfit compare run.heap run2.heap tlsf --alignment 4 --output league",
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
    alignments: Annotated[
        list[Alignment] | None,
        make_option("--alignment", ALIGNMENT_HELP),
    ] = None
    output: Annotated[
        Path | None,
        make_output_option(
            "a league table over recordings or folders of them: page, tables and cache, in a "
            "folder [no league; docs/league.md]"
        ),
    ] = None
    exact: Exact = False
    plugins: Annotated[
        list[Path] | None,
        make_option(
            "--plugin",
            "Your own allocator with its adapter (docs/plugins.md): a source, an archive, "
            "a folder of these, or a Rust crate.",
        ),
    ] = None
    has_crates: Annotated[
        bool, make_option("--crates", "Rank four Rust crates, too; needs cargo.", _PLUGIN_GROUP)
    ] = False
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
    board: Annotated[
        Path | None,
        make_option(
            "--board",
            "Counts of `python -m harness league` on an emulated board (docs/league.md).",
            _PLUGIN_GROUP,
        ),
    ] = None
    events: Annotated[
        int | None,
        make_option(
            "--events", "Only the first so many events of each recording.", _LEAGUE_GROUP, min=1
        ),
    ] = None
    has_designs: Annotated[
        bool,
        make_option("--no-designs", "Rank no plans learned from the recordings.", _LEAGUE_GROUP),
    ] = True
    sram: SramFile = None
    report: ReportPage = None
    programs: Programs = None
    queue: Queue = None
    workers: Workers = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class BoundsCommand:
    """Show the least that any heap needs for a trace, and allocators' worst cases."""

    EXAMPLES: ClassVar = (
        "heapfit bounds run.heap --search 0",
        "heapfit bounds run.heap --search 1 -o run.csv",
    )

    source: Source
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
class AdversaryCommand:
    """Search for requests within a trace's limits that exhaust a plan's heap."""

    EXAMPLES: ClassVar = (
        "heapfit adversary run.heap tlsf --search 1",
        "heapfit adversary run.heap --plan plan.toml --search 1",
    )

    source: Source
    allocators: Annotated[
        list[str] | None,
        make_argument(metavar="ALLOCATOR", help="NAME or NAME:TUNABLE=VALUE,..., as for compare."),
    ] = None
    plans: PlanPaths = None
    output: Annotated[
        Path | None,
        make_output_option("the requests that exhaust a plan's heap [out/NAME/adversary]"),
    ] = None
    region: RegionOption = None
    search: Search = 20
    seed: Seed = 1
    alignment: AlignmentOption = Alignment.BYTES_8
    queue: Queue = None
    workers: Workers = None
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


COMMANDS = (CompareCommand, BoundsCommand, AdversaryCommand, AllocatorsCommand)
