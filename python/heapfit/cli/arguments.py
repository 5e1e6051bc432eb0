# SPDX-License-Identifier: Apache-2.0
"""Arguments that several commands share, each written once."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from heapfit.cli.parser import Option, make_argument, make_option
from heapfit.comparison.incumbents.heaps import SYSTEM_HEAPS
from heapfit.design.effort import Effort
from heapfit.design.front.preference import Preference
from heapfit.plan.plan import LARGEST_REGION
from heapfit.plan.plan_file import MOST_MARGIN
from heapfit.plan.quantities import parse_percent, parse_share, parse_size
from heapfit.trace.kinds import Export, Kind


class PointerBits(StrEnum):
    """The widths a program's pointers may have."""

    BITS_32 = "32"
    BITS_64 = "64"


class Alignment(StrEnum):
    """The alignments an allocator offers, in bytes."""

    BYTES_4 = "4"
    BYTES_8 = "8"
    BYTES_16 = "16"


# Groups of options that `--help-all` alone shows.
IMPORTING = "Importing"
SEARCHING = "Search"
PROGRAM = "What the program can do"
FIRMWARE = "Firmware"
OUTPUT = "More output"
WORKERS = "Workers"

_MOST_WORKERS = 1024
ALIGNMENT_HELP = "Alignment of every block, in bytes."
OUTPUT_HELP = "Where to write"  # with which the help of every --output begins


def take_size(least: int = 0, most: int = LARGEST_REGION) -> dict[str, Any]:
    """Keyword arguments of an option in bytes: `make_option("--peak", "...", **take_size(1))`."""
    return {"metavar": "SIZE", "parser": parse_size, "min": least, "max": most}


def take_percent(least: float = 0, most: float = 9999) -> dict[str, Any]:
    """Keyword arguments that make an option take a percentage."""
    return {"metavar": "PERCENT", "parser": parse_percent, "min": least, "max": most}


def _parse_workers(words: str) -> str:
    """A number of workers, or the address of a cluster; ValueError if it is neither."""
    if "://" in words:
        return words
    if not words.isdecimal():
        raise ValueError(f"{words[:40]} is neither a number nor an address tcp://HOST:PORT")
    if not 1 <= int(words) <= _MOST_WORKERS:
        bound = "least 1" if int(words) < 1 else f"most {_MOST_WORKERS:,}"
        raise ValueError(f"must be at {bound}")
    return words


def show_in_help(option: Option) -> Option:
    """A copy of the option that `--help` shows; elsewhere only `--help-all` shows it."""
    return replace(option, group=None)


def make_output_option(what: str) -> Option:
    """The --output option of a command, with what it writes and where by default."""
    return make_option("--output", f"{OUTPUT_HELP} {what}.", short="-o", is_output=True)


def take_file(*wanted: Kind) -> dict[str, Any]:
    """Keyword arguments that make an option take files of these kinds, and advise on others."""
    return {"kinds": wanted}


Source: TypeAlias = Annotated[
    Path,
    make_argument(
        help="A recording, a packet capture or a stored trace.", **take_file(Kind.RECORDING)
    ),
]
Sources: TypeAlias = Annotated[
    list[Path],
    make_argument(
        help="Recordings, packet captures or stored traces.", **take_file(Kind.RECORDING)
    ),
]
PlanArgument: TypeAlias = Annotated[
    Path, make_argument(help="A plan file, as `heapfit fit` writes it.", **take_file(Kind.PLAN))
]
Allocators: TypeAlias = Annotated[
    list[str] | None,
    make_option(
        "--allocators",
        "Allocators to try, separated by commas: NAME or NAME:TUNABLE=VALUE,...; all: every one.",
        SEARCHING,
        metavar="NAME,...",
    ),
]
AlignmentOption: TypeAlias = Annotated[Alignment, make_option("--alignment", ALIGNMENT_HELP)]
Bases: TypeAlias = Annotated[
    list[Path] | None,
    make_option(
        "--base",
        "An earlier recording: if one fails check shows what grew, verify's new plans serve it.",
        **take_file(Kind.RECORDING),
    ),
]
TIMES_HELP = "Number of fresh runs: recorded for verify, simulated for size to judge its answer."
LINE = make_option(
    "--line",
    "What a line of the log looks like: 'Allocated {size} bytes at {address}' for import, "
    "'free {free} largest {largest}' for forecast [found].",
    IMPORTING,
    metavar="TEXT",
)
QUEUE = make_option(
    "--queue",
    "When a captured packet's buffer is freed: fill-drain:N, fifo:PACKETS_PER_S of a CPU, "
    "link:BITS_PER_S, hold:exp:MEAN_US[:SEED] or hold:fixed:US [fill-drain:1000; of size and "
    "settings none].",
    IMPORTING,
)
Queue: TypeAlias = Annotated[str | None, QUEUE]
Admission: TypeAlias = Annotated[
    float,
    make_option(
        "--admission",
        "Share of requests to serve: 0.999 or 99.9%.",
        metavar="SHARE",
        parser=parse_share,
    ),
]
POINTER_BITS_HELP = "Pointer size of plug-ins, or of a recorded program whose file does not say it."
CallSites: TypeAlias = Annotated[
    bool,
    make_option("--call-sites", "The program can pass the call site with each request.", PROGRAM),
]
Sized: TypeAlias = Annotated[
    bool,
    make_option(
        "--sized", "The program passes a block's size when it frees or resizes it.", PROGRAM
    ),
]
Exact: TypeAlias = Annotated[
    bool,
    make_option(
        "--exact",
        "Try every multiple of 8 bytes around each plan's region, however long it takes.",
        SEARCHING,
    ),
]
ClosedForm: TypeAlias = Annotated[
    bool, make_option("--closed-form", "Print closed forms only, at once, and simulate nothing.")
]
EffortOption: TypeAlias = Annotated[
    Effort,
    make_option(
        "--effort",
        "How far to search: quick runs no search, long tries all configurations and "
        "searches budgets, too (docs/design.md).",
        SEARCHING,
    ),
]
SEARCH = make_option(
    "--search",
    "Limit of the search, in million steps: events replayed, or blocks placed.",
    metavar="MILLIONS",
    min=0,
    max=10**9,
)
Search: TypeAlias = Annotated[int, SEARCH]
SEED = make_option(
    "--seed",
    "Seed of the random numbers: one seed gives one result.",
    SEARCHING,
    min=0,
    max=2**64 - 1,
)
Seed: TypeAlias = Annotated[int, SEED]
Workers: TypeAlias = Annotated[
    str | None,
    make_option(
        "--workers",
        "Number of processes or threads that share the work [one for each core], or the address "
        "of a Dask cluster, tcp://HOST:PORT (docs/sweeps.md).",
        WORKERS,
        metavar="N|ADDRESS",
        parser=_parse_workers,
    ),
]
Margin: TypeAlias = Annotated[
    float | None,
    make_option(
        "--margin",
        "Percent to add for runs you did not record [measured: docs/margin.md].",
        **take_percent(0, MOST_MARGIN),
    ),
]
HorizonOption: TypeAlias = Annotated[
    str | None,
    make_option(
        "--horizon",
        "How long the heap is to last: 30d, 12h, 10x (the recording) or 100000 events.",
        SEARCHING,
        metavar="TEXT",
    ),
]
Prefer: TypeAlias = Annotated[
    Preference | None,
    make_option(
        "--prefer",
        "Choose the plan that needs the least of this. Without it: the least RAM, unless the "
        "last 1 % costs 10 % more time or 500 B more flash (docs/choosing.md).",
    ),
]
SramFile: TypeAlias = Annotated[
    Path | None,
    make_option(
        "--sram", "File with the energy of an access by memory size (docs/energy.md).", SEARCHING
    ),
]
_IMAGE = make_option(
    "--qemu",
    "The Arm or RISC-V image, an ELF file, to run in QEMU.",
    metavar="IMAGE",
    **take_file(Kind.IMAGE),
)
Image: TypeAlias = Annotated[Path, _IMAGE]
ImageOption: TypeAlias = Annotated[Path | None, _IMAGE]
SECONDS = make_option(
    "--seconds", "Seconds after which a QEMU run or a serial capture ends [never].", FIRMWARE, min=0
)
Seconds: TypeAlias = Annotated[float | None, SECONDS]
Machine: TypeAlias = Annotated[
    str | None,
    make_option(
        "--machine",
        "The machine that --qemu emulates [mps2-an385 for Arm, virt for RISC-V].",
        FIRMWARE,
    ),
]
InstructionCount: TypeAlias = Annotated[
    str | None,
    make_option(
        "--icount",
        "Pass -icount to QEMU, so that time counts instructions (shift=6,sleep=off).",
        FIRMWARE,
    ),
]
_PLAN = make_option("--plan", "A plan file, as `heapfit fit` writes it.", **take_file(Kind.PLAN))
PlanOption: TypeAlias = Annotated[Path | None, _PLAN]
PlanPaths: TypeAlias = Annotated[list[Path] | None, _PLAN]
_REGION = make_option(
    "--region", "Size of the heap's region in bytes [the plan's].", **take_size(1)
)
Region: TypeAlias = Annotated[int, _REGION]
RegionOption: TypeAlias = Annotated[int | None, _REGION]
Now: TypeAlias = Annotated[
    str | None,
    make_option(
        "--now",
        "The heap you use now (the incumbent), kept unless a fitted one is better: "
        f"{', '.join(SYSTEM_HEAPS)} or an allocator's name (docs/now.md).",
        metavar="HEAP",
    ),
]
_REPORT = make_option(
    "--report",
    "Write also a page with charts, for a browser; of check .md is Markdown, for a pull request.",
    is_output=True,
)
ReportPage: TypeAlias = Annotated[Path | None, _REPORT]
ReportPages: TypeAlias = Annotated[list[Path] | None, _REPORT]
Programs: TypeAlias = Annotated[
    list[Path] | None,
    make_option(
        "--program",
        "The recorded program or its library, to name functions of call sites.",
        **take_file(Kind.PROGRAM),
    ),
]
ExportOption: TypeAlias = Annotated[
    Export | None,
    make_option(
        "--export",
        "Print the result in another tool's format instead: > FILE keeps it (docs/exports.md).",
    ),
]
Everything: TypeAlias = Annotated[bool, make_option("--all", "Show every heap, recording and row.")]
AsJson: TypeAlias = Annotated[bool, make_option("--json", "Print the result as JSON.")]


def command_line() -> str:
    """The command line of this process, quoted so that it can be typed again."""
    return shlex.join(["heapfit", *sys.argv[1:]])
