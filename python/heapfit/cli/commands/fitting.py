# SPDX-License-Identifier: Apache-2.0
"""The options of `fit`, `check`, `verify` and `generate`, with light imports only."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, TypeAlias

import typer

from heapfit.cli.arguments import (
    OUTPUT,
    SEARCH,
    SEARCHING,
    WORKERS,
    Alignment,
    AlignmentOption,
    Allocators,
    AsJson,
    CallSites,
    ClusterAddress,
    DropUnknown,
    EffortOption,
    Everything,
    Exact,
    HorizonOption,
    Image,
    InstructionCount,
    Machine,
    Margin,
    Now,
    PlanArgument,
    PlanOption,
    PointerBitsOption,
    Prefer,
    Programs,
    Queue,
    RegionOption,
    ReportPage,
    Seconds,
    Seed,
    Sized,
    Sources,
    SramFile,
    Workers,
    make_output_option,
    take_file,
    take_percent,
    take_size,
)
from heapfit.design.budgets.choice import STANDARD_SECONDS, Method
from heapfit.design.effort import Effort
from heapfit.design.robust.objective import MOST_FOLDS
from heapfit.plan.targets import Language, Platform
from heapfit.trace.kinds import Kind

_CANDIDATE_GROUP = "Candidates"  # a group of options that --help-all shows
_CODE_GROUP = "The C code"

_Prefix: TypeAlias = Annotated[
    str,
    typer.Option(
        "--prefix", help="Prefix of every name in the heap's C code.", rich_help_panel=_CODE_GROUP
    ),
]
_Platforms: TypeAlias = Annotated[
    list[Platform] | None,
    typer.Option(
        "--for",
        metavar="PLATFORM",
        help=f"Add the platform's API and build files: {', '.join(Platform)}.",
    ),
]


@dataclass(frozen=True, slots=True)
class FitCommand:
    """Fit a heap: print the size to set, and write the best plan, its C code and a report."""

    EXAMPLES: ClassVar = ("heapfit fit run.heap", "heapfit fit run.heap run2.heap --now heap_4")

    context: typer.Context
    sources: Sources
    output: Annotated[
        Path | None,
        make_output_option("plan, C code and report; with --each one folder a source [out/NAME]"),
    ] = None
    now: Now = None
    peak: Annotated[
        int | None,
        typer.Option(
            "--peak",
            help="Live bytes to plan for, if the load will grow [the recorded peak].",
            **take_size(1),
        ),
    ] = None
    horizon: HorizonOption = None
    margin: Margin = None
    prefer: Prefer = None
    alignment: AlignmentOption = Alignment.BYTES_8
    every: Everything = False
    programs: Programs = None
    plans_folder: Annotated[
        Path | None,
        typer.Option(
            "--plans",
            metavar="FOLDER",
            help="Search every candidate completely; write a plan file for each, and a page "
            "(docs/design.md). With --each: one folder a source.",
            rich_help_panel=_CANDIDATE_GROUP,
        ),
    ] = None
    front_folder: Annotated[
        Path | None,
        typer.Option(
            "--front",
            metavar="FOLDER",
            help="Measure every configuration of the design space; write the plans of its Pareto "
            "front, and a page (docs/front.md). With --each: one folder a source.",
            rich_help_panel=_CANDIDATE_GROUP,
        ),
    ] = None
    allocators: Allocators = None
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="MEASURE,...",
            help="Measures of the front: ram, accesses, energy, time, longest, flash [all].",
            rich_help_panel=_CANDIDATE_GROUP,
        ),
    ] = None
    sram: SramFile = None
    each: Annotated[
        bool,
        typer.Option(
            "--each",
            help="Fit one heap to each source, not one heap to all.",
            rich_help_panel=_CANDIDATE_GROUP,
        ),
    ] = False
    code: Annotated[
        bool,
        typer.Option(
            "--code",
            help="Write plan and C code of the fitted heap even if it is not worth a change.",
            rich_help_panel=_CANDIDATE_GROUP,
        ),
    ] = False
    pools: Annotated[
        bool,
        typer.Option(
            "--pools",
            help="Consider also pools whose counts come from these recordings.",
            rich_help_panel=SEARCHING,
        ),
    ] = False
    effort: EffortOption = Effort.STANDARD
    exact: Exact = False
    method: Annotated[
        Method | None,
        typer.Option(
            "--budgets",
            help="How the number of blocks of each pool is found [greedy and exact].",
            rich_help_panel=SEARCHING,
        ),
    ] = None
    budget_seconds: Annotated[
        float,
        typer.Option(
            "--budget-seconds",
            min=0.1,
            help="Time limit of the exact search of pool budgets; past it, the gap is printed.",
            rich_help_panel=SEARCHING,
        ),
    ] = STANDARD_SECONDS
    search: Annotated[
        int | None,
        typer.Option(
            "--search", metavar="MILLIONS", min=0, help=SEARCH.help, rich_help_panel=SEARCHING
        ),
    ] = None
    seed: Seed = 1
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            metavar="max|q90|...",
            help="What to serve of several recordings: all (max), or a quantile.",
            rich_help_panel=SEARCHING,
        ),
    ] = "max"
    folds: Annotated[
        int,
        typer.Option(
            "--folds",
            min=0,
            help="Folds of the holdout check of several recordings; 0: no check.",
            rich_help_panel=SEARCHING,
        ),
    ] = MOST_FOLDS
    queue: Queue = None
    drop_unknown: DropUnknown = False
    pointer_bits: PointerBitsOption = None
    call_sites: CallSites = False
    sized: Sized = False
    workers: Workers = None
    cluster: ClusterAddress = None
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder that stores the results of replays for the next fit.",
            rich_help_panel=WORKERS,
        ),
    ] = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class CheckCommand:
    """Check that new recordings still run in a plan's heap, and show what grew.

    Without a plan they are compared with --base. Exit status 0 if all pass, 3 if one does not.
    """

    EXAMPLES: ClassVar = (
        "heapfit check run2.heap --plan plan.toml --base run.heap --growth 5%",
        "heapfit check run2.heap --base run.heap --report grew.html",
    )

    sources: Sources
    plan: PlanOption = None
    heap: Annotated[
        str | None,
        typer.Option(
            "--heap",
            metavar="HEAP:BYTES",
            help="A heap instead of a plan, and its size in its own setting: heap_4:64K, "
            "tlsf:probes=0:8K, heap_5:16K,8K (docs/check.md).",
        ),
    ] = None
    base: Annotated[
        list[Path] | None,
        typer.Option(
            "--base", help="An earlier recording, to show what grew.", **take_file(Kind.RECORDING)
        ),
    ] = None
    growth: Annotated[
        float | None,
        typer.Option(
            "--growth",
            help="Fail if a peak exceeds the base's (without --base: the plan's) by more.",
            **take_percent(),
        ),
    ] = None
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail also if a run uses part of the margin.")
    ] = False
    measure: Annotated[
        bool,
        typer.Option(
            "--measure",
            help="Search the smallest region of recordings that pass, too.",
            rich_help_panel=SEARCHING,
        ),
    ] = False
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write the result also as Markdown, for a pull request."),
    ] = None
    report: ReportPage = None
    programs: Programs = None
    base_programs: Annotated[
        list[Path] | None,
        typer.Option(
            "--base-program",
            help="The program of the base recording [those of --program].",
            rich_help_panel=OUTPUT,
            **take_file(Kind.PROGRAM),
        ),
    ] = None
    queue: Queue = None
    drop_unknown: DropUnknown = False
    pointer_bits: PointerBitsOption = None
    workers: Workers = None
    cluster: ClusterAddress = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class VerifyCommand:
    """Run firmware on the fitted heap and fit again from its recordings, until fresh runs pass.

    Exit status 0 if the last runs all pass, 3 otherwise.
    """

    EXAMPLES: ClassVar = (
        "heapfit verify plan.toml --qemu firmware.elf --build 'make HEAP={code}'",
        "heapfit verify plan.toml --qemu image.elf --build ./build --times 3 -- {run}",
    )

    plan: PlanArgument
    qemu: Image
    build: Annotated[
        str,
        typer.Option(
            "--build",
            help="The command that builds the image. {code} is the folder of the heap's C; "
            "{record} is 1 in a build that records, else empty; without it, that C records itself. "
            "{region} is the heap's bytes. With {run}, each run is built.",
        ),
    ]
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ARGS", help="Arguments of the image, after --; {run} is a run's number."
        ),
    ] = None
    times: Annotated[
        int, typer.Option("--times", min=1, help="Number of fresh runs that must pass.")
    ] = 10
    recordings: Annotated[
        list[Path] | None,
        typer.Option(
            "--recording",
            help="A recording that the plan was made from; new plans serve it, too.",
            **take_file(Kind.RECORDING),
        ),
    ] = None
    now: Now = None
    build_now: Annotated[
        str,
        typer.Option(
            "--build-now",
            help="With --now: the command that builds the image with the incumbent heap of "
            "{region} bytes. Once the fitted heap passes, both are compared on the same runs.",
        ),
    ] = ""
    prefix: _Prefix = "app"
    platforms: _Platforms = None
    machine: Machine = None
    icount: InstructionCount = None
    seconds: Seconds = None
    output: Annotated[
        Path | None,
        make_output_option(
            "the final plan, its C code and the recordings of each round [out/PLAN-verify]"
        ),
    ] = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class RunCommand:
    """Run a program of this machine on a plan's heap: out of memory where the device would be.

    A simulator or test, dynamically linked, has its input and output as ever. Exit status 0 if it
    ends with 0 and never runs out of memory, 3 otherwise; with --drill 3 if a run crashes or hangs.
    """

    EXAMPLES: ClassVar = (
        "heapfit run plan.toml -- ./simulator --seconds 60",
        "heapfit run plan.toml --drill -- ./test",
    )

    plan: PlanArgument
    program: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM", help="The program to run and its arguments, after --."),
    ]
    drill: Annotated[
        bool,
        typer.Option(
            "--drill",
            help="Run it again and again, each time out of memory at another request that this "
            "heap could refuse, and list crashes and hangs.",
        ),
    ] = False
    region: RegionOption = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class GenerateCommand:
    """Write the C code of a plan: constant tables, a thin wrapper, the allocator."""

    EXAMPLES: ClassVar = (
        "heapfit generate plan.toml",
        "heapfit generate --record -o recorder",
    )

    plan: Annotated[
        Path | None,
        typer.Argument(help="A plan file, as `heapfit fit` writes it.", **take_file(Kind.PLAN)),
    ] = None
    output: Annotated[
        Path | None, make_output_option("the folder for the C code [code beside PLAN]")
    ] = None
    prefix: _Prefix = "app"
    language: Annotated[
        Language,
        typer.Option(
            "--language",
            help="Language of the program that calls the heap. The core is always C.",
        ),
    ] = Language.C
    platforms: _Platforms = None
    counts: Annotated[
        bool,
        typer.Option("--counts", help="Count live bytes, their peak, and requests out of memory."),
    ] = False
    records: Annotated[
        bool,
        typer.Option(
            "--record",
            help="The heap records each call. Without PLAN: the recorder for the heap you have.",
        ),
    ] = False
    region: RegionOption = None
    is_region_given: Annotated[
        bool,
        typer.Option(
            "--region-given",
            help="The program passes the region, of any size.",
            rich_help_panel=_CODE_GROUP,
        ),
    ] = False
    amalgamate: Annotated[
        bool,
        typer.Option(
            "--amalgamate",
            help="Write all C as one file beside the header.",
            rich_help_panel=_CODE_GROUP,
        ),
    ] = False
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Verify the C code of pools formally, with Frama-C.",
            rich_help_panel=_CODE_GROUP,
        ),
    ] = False
    as_json: AsJson = False


COMMANDS = (FitCommand, CheckCommand, VerifyCommand, RunCommand, GenerateCommand)
