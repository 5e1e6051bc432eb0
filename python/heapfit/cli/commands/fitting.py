# SPDX-License-Identifier: Apache-2.0
"""The options of `fit`, `place`, `check`, `run`, `verify` and `generate`, with light imports."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

from heapfit.cli.arguments import (
    OUTPUT,
    PLAN,
    SEARCHING,
    SIZE,
    make_output_option,
    reuse,
    take_percent,
)
from heapfit.cli.commands import Command
from heapfit.cli.parser import Option
from heapfit.design.effort import Effort
from heapfit.design.preference import Preference
from heapfit.plan.targets import PLATFORMS
from heapfit.trace.kinds import SourceKind

_CANDIDATE_GROUP = "Candidates"  # a group of options that --help-all shows
_CODE_GROUP = "The C code"

_Prefix: TypeAlias = Annotated[
    str, Option("--prefix", "Prefix of every name in the heap's C code.", _CODE_GROUP)
]
_Platforms: TypeAlias = Annotated[
    list[str] | None,
    Option(
        "--for",
        f"Add the platform's API and build files, or a language's: {', '.join(PLATFORMS)}.",
        choices=[*PLATFORMS],
        metavar="PLATFORM",
        hint=" (of a chip its system: an ESP32 esp-idf, others freertos or malloc; docs/chips.md)",
    ),
]


@dataclass(frozen=True, slots=True)
class FitCommand(Command):
    """Fit a heap: print the size to set, and write the best plan, its C code and a report.

    Examples:
        heapfit fit run.parquet
        heapfit fit run.parquet run2.parquet --now heap_4
    """

    sources: list[Path]
    output: Annotated[Path | None, make_output_option("plan, C code and report [out/NAME]")] = None
    now: str | None = None
    peak: Annotated[
        int | None,
        Option(
            "--peak", "Live bytes to plan for, if the load will grow [the recorded peak].", **SIZE
        ),
    ] = None
    horizon: Annotated[str | None, reuse("horizon")] = None
    margin: float | None = None
    prefer: Preference | None = None
    alignment: int = 8
    every: bool = False
    programs: list[Path] | None = None
    plans_folder: Annotated[
        Path | None,
        Option(
            "--plans",
            "Search every candidate completely; write a plan file for each "
            "(docs/evidence/design.md).",
            _CANDIDATE_GROUP,
            metavar="FOLDER",
            is_output=True,
        ),
    ] = None
    allocators: list[str] | None = None
    code: Annotated[
        bool,
        Option(
            "--code", "Write plan and C code of the fitted heap even if it is not worth a change."
        ),
    ] = False
    pools: Annotated[
        bool,
        Option(
            "--pools", "Consider also pools whose counts come from these recordings.", SEARCHING
        ),
    ] = False
    effort: Effort = Effort.STANDARD
    seed: int = 1
    queue: str | None = None
    call_sites: bool = False
    sized: bool = False
    workers: str | None = None


@dataclass(frozen=True, slots=True)
class CheckCommand(Command):
    """Check that new recordings still run in a plan's heap, and show what grew.

    Without a plan they are compared with --base. Exit status 0 if all pass, 3 if one does not.

    Examples:
        heapfit check run2.parquet --plan plan.toml --base run.parquet --growth 5%
        heapfit check run2.parquet --base run.parquet --report grew.html
    """

    sources: list[Path]
    plan: Path | None = None
    heap: Annotated[
        str | None,
        Option(
            "--heap",
            "A heap instead of a plan, and its size in its own setting: heap_4:64K, "
            "tlsf:probes=0:8K (docs/check.md).",
            metavar="HEAP:BYTES",
        ),
    ] = None
    base: Annotated[list[Path] | None, reuse("base", "What grew since it is shown.")] = None
    growth: Annotated[
        float | None,
        Option(
            "--growth",
            "Fail if a peak exceeds the base's (without --base: the plan's) by more.",
            **take_percent(),
        ),
    ] = None
    strict: Annotated[
        bool, Option("--strict", "Fail also if a run leaks, uses the margin or is not whole.")
    ] = False
    measure: Annotated[
        bool,
        Option(
            "--measure",
            "Search also the smallest region of recordings that pass, and the largest request "
            "served at any moment.",
        ),
    ] = False
    merge: Annotated[bool, Option("--merge", "Join results of parts, FILES of --json.")] = False
    report: Annotated[
        list[Path] | None, reuse("report", "Named .md it is Markdown, for a pull request.")
    ] = None
    programs: list[Path] | None = None
    base_programs: Annotated[
        list[Path] | None,
        Option(
            "--base-program",
            "The program of the base recording [those of --program].",
            OUTPUT,
            kinds=[SourceKind.PROGRAM],
        ),
    ] = None
    queue: str | None = None
    workers: str | None = None


@dataclass(frozen=True, slots=True)
class VerifyCommand(Command):
    """Run firmware on the fitted heap and fit again from its recordings, until fresh runs pass.

    Exit status 0 if the last runs all pass, 3 otherwise.

    Examples:
        heapfit verify plan.toml --qemu firmware.elf --build 'make HEAP={code}'
        heapfit verify plan.toml --qemu image.elf --build ./build --times 3 -- {run}
    """

    plan: Annotated[Path, PLAN]
    qemu: Path
    build: Annotated[
        str,
        Option(
            "--build",
            "The command that builds the image. {code} is the folder of the heap's C; "
            "{record} is 1 in a build that records, else empty; without it, that C records itself. "
            "{region} is the heap's bytes. With {run}, each run is built.",
        ),
    ]
    arguments: Annotated[
        list[str] | None,
        Option(
            "", metavar="ARGS", help="Arguments of the image, after --; {run} is a run's number."
        ),
    ] = None
    times: Annotated[int, reuse("times", "Each is recorded, and fitted if it fails.")] = 10
    base: Annotated[list[Path] | None, reuse("base", "New plans serve it, too.")] = None
    now: str | None = None
    build_now: Annotated[
        str,
        Option(
            "--build-now",
            "With --now: the command that builds the image with the incumbent heap of "
            "{region} bytes. Once the fitted heap passes, both are compared on the same runs.",
        ),
    ] = ""
    prefix: _Prefix = "app"
    platforms: _Platforms = None
    machine: str = ""
    seconds: float | None = None
    output: Annotated[
        Path | None,
        make_output_option(
            "the final plan, its C code and the recordings of each round [out/PLAN-verify]"
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class RunCommand(Command):
    """Run a program of this machine on a plan's heap: out of memory where the device would be.

    A simulator or test, dynamically linked, has its input and output as ever. Exit status 0 if it
    ends with 0 and never runs out of memory, 3 otherwise; with --drill 3 if a run crashes or hangs.

    Examples:
        heapfit run plan.toml -- ./simulator --seconds 60
        heapfit run plan.toml --drill -- ./test
    """

    plan: Annotated[Path, PLAN]
    program: Annotated[
        list[str],
        Option("", metavar="PROGRAM", help="The program to run and its arguments, after --."),
    ]
    drill: Annotated[
        bool,
        Option(
            "--drill",
            "Run it again and again, each time out of memory at another request that this "
            "heap could refuse, and list crashes and hangs.",
        ),
    ] = False
    region: int | None = None


@dataclass(frozen=True, slots=True)
class GenerateCommand(Command):
    """Write the C code of a plan: constant tables, a thin wrapper, the allocator.

    Examples:
        heapfit generate plan.toml
        heapfit generate --record -o heapfit_recorder
    """

    plan: Annotated[
        Path | None,
        Option("", help="A plan file, as `heapfit fit` writes it.", kinds=[SourceKind.PLAN]),
    ] = None
    output: Annotated[
        Path | None, make_output_option("the folder for the C code [code beside PLAN]")
    ] = None
    prefix: _Prefix = "app"
    platforms: _Platforms = None
    counts: Annotated[
        bool, Option("--counts", "Count live bytes, their peak, and requests out of memory.")
    ] = False
    records: Annotated[
        bool,
        Option(
            "--record",
            "The heap records each call. Without PLAN: the recorder for the heap you have.",
        ),
    ] = False
    region: int | None = None
    is_region_given: Annotated[
        bool, Option("--region-given", "The program passes the region, of any size.", _CODE_GROUP)
    ] = False
    prove: Annotated[
        bool, Option("--prove", "Verify the C code of pools formally, with Frama-C.", _CODE_GROUP)
    ] = False


@dataclass(frozen=True, slots=True)
class PlaceCommand(Command):
    """Divide requests among several memories: how small can internal RAM be?

    The first memory is the one to be small. Requests that need what it offers always go there. With
    one memory: two programs in one heap, or apart?

    Examples:
        heapfit place run.parquet --memory internal=320K:dma --memory psram=4M --needs dma=1500
        heapfit place run.parquet --memory dtcm=128K --memory sram=1M:dma --admission 0.9
    """

    sources: list[Path]
    memories: Annotated[
        list[str],
        Option(
            "--memory",
            "A memory, the scarce one first, and what it offers: internal, dma, exec, "
            "external, fast, retained, uncached, words (not bytes). A name of these offers it.",
            metavar="NAME=SIZE[:OFFERED,...]",
        ),
    ]
    needs: Annotated[
        list[str] | None,
        Option(
            "--needs",
            "Requests of at least so many bytes need this; dma=site:HEX: those of a call "
            "site. It adds to what the recording tells.",
            metavar="OFFERED=SIZE",
        ),
    ] = None
    admission: float = 0.8
    allocators: list[str] | None = None
    horizon: str | None = None
    margin: float | None = None
    programs: list[Path] | None = None
    output: Annotated[Path | None, make_output_option("the plan file [nowhere]")] = None
    report: Path | None = None
    every: bool = False
