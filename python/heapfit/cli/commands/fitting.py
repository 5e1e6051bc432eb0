# SPDX-License-Identifier: Apache-2.0
"""The options of `fit`, `check`, `verify` and `generate`, with light imports only."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, TypeAlias

from heapfit.cli.arguments import (
    OUTPUT,
    SEARCH,
    SEARCHING,
    TIMES_HELP,
    Alignment,
    AlignmentOption,
    Allocators,
    AsJson,
    Bases,
    CallSites,
    EffortOption,
    Everything,
    HorizonOption,
    Image,
    InstructionCount,
    Machine,
    Margin,
    Now,
    PlanArgument,
    PlanOption,
    Prefer,
    Programs,
    Queue,
    RegionOption,
    ReportPages,
    Seconds,
    Seed,
    Sized,
    Sources,
    Workers,
    make_output_option,
    take_file,
    take_percent,
    take_size,
)
from heapfit.cli.parser import make_argument, make_option
from heapfit.design.effort import Effort
from heapfit.plan.targets import Language, Platform
from heapfit.trace.kinds import Kind

_CANDIDATE_GROUP = "Candidates"  # a group of options that --help-all shows
_CODE_GROUP = "The C code"

_Prefix: TypeAlias = Annotated[
    str, make_option("--prefix", "Prefix of every name in the heap's C code.", _CODE_GROUP)
]
_Platforms: TypeAlias = Annotated[
    list[Platform] | None,
    make_option(
        "--for",
        f"Add the platform's API and build files: {', '.join(Platform)}.",
        metavar="PLATFORM",
    ),
]


@dataclass(frozen=True, slots=True)
class FitCommand:
    """Fit a heap: print the size to set, and write the best plan, its C code and a report."""

    EXAMPLES: ClassVar = ("heapfit fit run.heap", "heapfit fit run.heap run2.heap --now heap_4")

    sources: Sources
    output: Annotated[
        Path | None,
        make_output_option("plan, C code and report [out/NAME]"),
    ] = None
    now: Now = None
    peak: Annotated[
        int | None,
        make_option(
            "--peak",
            "Live bytes to plan for, if the load will grow [the recorded peak].",
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
        make_option(
            "--plans",
            "Search every candidate completely; write a plan file for each, and a page "
            "(docs/design.md).",
            _CANDIDATE_GROUP,
            metavar="FOLDER",
            is_output=True,
        ),
    ] = None
    allocators: Allocators = None
    code: Annotated[
        bool,
        make_option(
            "--code",
            "Write plan and C code of the fitted heap even if it is not worth a change.",
            _CANDIDATE_GROUP,
        ),
    ] = False
    pools: Annotated[
        bool,
        make_option(
            "--pools", "Consider also pools whose counts come from these recordings.", SEARCHING
        ),
    ] = False
    effort: EffortOption = Effort.STANDARD
    search: Annotated[
        int | None,
        make_option("--search", SEARCH.help, SEARCHING, metavar="MILLIONS", min=0, max=10**9),
    ] = None
    seed: Seed = 1
    queue: Queue = None
    call_sites: CallSites = False
    sized: Sized = False
    workers: Workers = None
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
        make_option(
            "--heap",
            "A heap instead of a plan, and its size in its own setting: heap_4:64K, "
            "tlsf:probes=0:8K (docs/check.md).",
            metavar="HEAP:BYTES",
        ),
    ] = None
    base: Bases = None
    growth: Annotated[
        float | None,
        make_option(
            "--growth",
            "Fail if a peak exceeds the base's (without --base: the plan's) by more.",
            **take_percent(),
        ),
    ] = None
    strict: Annotated[
        bool, make_option("--strict", "Fail also if a run uses part of the margin.")
    ] = False
    measure: Annotated[
        bool,
        make_option(
            "--measure", "Search the smallest region of recordings that pass, too.", SEARCHING
        ),
    ] = False
    report: ReportPages = None
    programs: Programs = None
    base_programs: Annotated[
        list[Path] | None,
        make_option(
            "--base-program",
            "The program of the base recording [those of --program].",
            OUTPUT,
            **take_file(Kind.PROGRAM),
        ),
    ] = None
    queue: Queue = None
    workers: Workers = None
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
        make_option(
            "--build",
            "The command that builds the image. {code} is the folder of the heap's C; "
            "{record} is 1 in a build that records, else empty; without it, that C records itself. "
            "{region} is the heap's bytes. With {run}, each run is built.",
        ),
    ]
    arguments: Annotated[
        list[str] | None,
        make_argument(
            metavar="ARGS", help="Arguments of the image, after --; {run} is a run's number."
        ),
    ] = None
    times: Annotated[int, make_option("--times", TIMES_HELP, min=1)] = 10
    base: Bases = None
    now: Now = None
    build_now: Annotated[
        str,
        make_option(
            "--build-now",
            "With --now: the command that builds the image with the incumbent heap of "
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
        make_argument(metavar="PROGRAM", help="The program to run and its arguments, after --."),
    ]
    drill: Annotated[
        bool,
        make_option(
            "--drill",
            "Run it again and again, each time out of memory at another request that this "
            "heap could refuse, and list crashes and hangs.",
        ),
    ] = False
    region: RegionOption = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class GenerateCommand:
    """Write the C code of a plan: constant tables, a thin wrapper, the allocator."""

    EXAMPLES: ClassVar = ("heapfit generate plan.toml", "heapfit generate --record -o recorder")

    plan: Annotated[
        Path | None,
        make_argument(help="A plan file, as `heapfit fit` writes it.", **take_file(Kind.PLAN)),
    ] = None
    output: Annotated[
        Path | None, make_output_option("the folder for the C code [code beside PLAN]")
    ] = None
    prefix: _Prefix = "app"
    language: Annotated[
        Language,
        make_option(
            "--language", "Language of the program that calls the heap. The core is always C."
        ),
    ] = Language.C
    platforms: _Platforms = None
    counts: Annotated[
        bool, make_option("--counts", "Count live bytes, their peak, and requests out of memory.")
    ] = False
    records: Annotated[
        bool,
        make_option(
            "--record",
            "The heap records each call. Without PLAN: the recorder for the heap you have.",
        ),
    ] = False
    region: RegionOption = None
    is_region_given: Annotated[
        bool,
        make_option("--region-given", "The program passes the region, of any size.", _CODE_GROUP),
    ] = False
    prove: Annotated[
        bool,
        make_option("--prove", "Verify the C code of pools formally, with Frama-C.", _CODE_GROUP),
    ] = False
    as_json: AsJson = False


COMMANDS = (FitCommand, CheckCommand, VerifyCommand, RunCommand, GenerateCommand)
