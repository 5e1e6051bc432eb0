# SPDX-License-Identifier: Apache-2.0
"""Arguments that several commands share, each written once."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Container, Mapping
from dataclasses import MISSING, fields, replace
from enum import Enum
from types import NoneType
from typing import Annotated, Any, get_args, get_origin

from heapfit.cli.parser import Option, UsageError
from heapfit.comparison.incumbents.heap_names import SYSTEM_HEAPS
from heapfit.plan.quantities import (
    LARGEST_REGION,
    MOST_MARGIN,
    parse_percent,
    parse_share,
    parse_size,
)
from heapfit.trace.kinds import SourceKind

# Groups of options that `--help-all` alone shows.
IMPORTING = "Importing"
SEARCHING = "Search"
PROGRAM = "What the program can do"
FIRMWARE = "Firmware"
OUTPUT = "More output"
WORKERS = "Workers"

_MOST_WORKERS = 1024
_USUAL_PERCENT = 100  # of a reserve; more is written with its sign
OUTPUT_HELP = "Where to write"  # with which the help of every --output begins


# Keyword arguments of an option in bytes: `Option("--peak", "...", **SIZE)`.
SIZE: Any = {"metavar": "SIZE", "parser": parse_size, "min": 1, "max": LARGEST_REGION}


def take_percent(most: float = 9999) -> dict[str, Any]:
    """Keyword arguments that make an option take a percentage."""
    return {"metavar": "PERCENT", "parser": parse_percent, "min": 0, "max": most}


def _parse_margin(text: str) -> float:
    """A percentage; ValueError for a number that may be meant as bytes."""
    percent = parse_percent(text)
    if percent > _USUAL_PERCENT and "%" not in text:
        raise ValueError(
            f"{text} would be per cent of what is needed, not bytes (write {text}% if it is meant)"
        )
    return percent


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


def reuse(name: str, more: str = "") -> Option:
    """The shared option of that name with more words for one command, which `--help` shows."""
    option = SHARED[name]
    return replace(option, help=f"{option.help} {more}".rstrip(), group=None)


def make_output_option(what: str) -> Option:
    """The --output option of a command, with what it writes and where by default."""
    return Option("--output", f"{OUTPUT_HELP} {what}.", short="-o", is_output=True)


PLAN = Option("", help="A plan file, as `heapfit fit` writes it.", kinds=[SourceKind.PLAN])
_PLAN_OPTION = Option("--plan", "A plan file, as `heapfit fit` writes it.", kinds=[SourceKind.PLAN])
# What several commands have, each under the field's name that stands for it in their records.
SHARED: Mapping[str, Option] = {
    "source": Option(
        "", help="A recording, a packet capture or a stored trace.", kinds=[SourceKind.RECORDING]
    ),
    "sources": Option(
        "", help="Recordings, packet captures or stored traces.", kinds=[SourceKind.RECORDING]
    ),
    "allocators": Option(
        "--allocators",
        "Allocators to try, separated by commas: NAME or NAME:TUNABLE=VALUE,...; all: every one.",
        SEARCHING,
        metavar="NAME,...",
    ),
    "alignment": Option(
        "--alignment", "Alignment of every block, in bytes.", choices=["4", "8", "16"]
    ),
    "base": Option("--base", "An earlier recording.", kinds=[SourceKind.RECORDING]),
    "queue": Option(
        "--queue",
        "When a captured packet's buffer is freed: fill-drain:N, fifo:PACKETS_PER_S of a CPU, "
        "link:BITS_PER_S, hold:exp:MEAN[:SEED] or hold:fixed:10ms [fill-drain:1000]. Behind it: "
        ",to=ADDRESS: what that device receives; ,from=ADDRESS: what it sends; ,rate=2: twice "
        "as many a second.",
        IMPORTING,
    ),
    "admission": Option(
        "--admission",
        "Share of requests, of [traffic] of their bytes, to serve: 0.999 or 99.9%.",
        metavar="SHARE",
        parser=parse_share,
    ),
    "call_sites": Option(
        "--call-sites", "The program can pass the call site with each request.", PROGRAM
    ),
    "sized": Option(
        "--sized", "The program passes a block's size when it frees or resizes it.", PROGRAM
    ),
    "exact": Option(
        "--exact",
        "Try every multiple of 8 bytes around each plan's region, however long it takes.",
        SEARCHING,
    ),
    "closed_form": Option(
        "--closed-form", "Print closed forms only, at once, and simulate nothing."
    ),
    "effort": Option(
        "--effort",
        "How far to search: quick runs no search, long tries all configurations, too "
        "(docs/evidence/design.md).",
        SEARCHING,
    ),
    "sizes": Option("--sizes", "Sizes in bytes, as 64,512,2K.", metavar="SIZE,..."),
    "search": Option(
        "--search",
        "Limit of the search, in million steps: events replayed, or blocks placed.",
        metavar="MILLIONS",
        min=0,
        max=10**9,
    ),
    "times": Option("--times", "Number of fresh runs.", min=1, max=10_000),
    "seed": Option(
        "--seed",
        "Seed of the random numbers: one seed gives one result.",
        SEARCHING,
        min=0,
        max=2**64 - 1,
    ),
    "workers": Option(
        "--workers",
        "Number of processes or threads that share the work [one for each core], or the address "
        "of a Dask cluster, tcp://HOST:PORT (docs/evidence/sweeps.md).",
        WORKERS,
        metavar="N|ADDRESS",
        parser=_parse_workers,
    ),
    "margin": Option(
        "--margin",
        "Percent to add for runs you did not record [measured: docs/margin.md].",
        **(take_percent(MOST_MARGIN) | {"parser": _parse_margin}),
    ),
    "horizon": Option(
        "--horizon",
        "How long the heap is to last: 30d, 12h, 10x (the recording) or 100000 events.",
        SEARCHING,
        metavar="LENGTH",
    ),
    "prefer": Option(
        "--prefer",
        "Choose the plan that needs the least of this. Without it: the least RAM, unless the "
        "last 1 % costs 10 % more time or 500 B more flash; build: whatever changes of the program "
        "take (docs/choosing.md).",
    ),
    "sram": Option(
        "--sram", "File with the energy by memory size (docs/evidence/energy.md).", SEARCHING
    ),
    "qemu": Option(
        "--qemu",
        "The Arm or RISC-V image, an ELF file, to run in QEMU.",
        metavar="IMAGE",
        kinds=[SourceKind.IMAGE],
    ),
    "seconds": Option(
        "--seconds",
        "Seconds after which a QEMU run or a serial capture ends [never].",
        FIRMWARE,
        min=0,
    ),
    "machine": Option(
        "--machine",
        "The machine that --qemu emulates, and QEMU's own options [mps2-an385 for Arm, virt for "
        "RISC-V]. '-icount shift=6,sleep=off': time counts instructions.",
        FIRMWARE,
    ),
    "plan": _PLAN_OPTION,
    "region": Option("--region", "Size of the heap's region in bytes [the plan's].", **SIZE),
    "now": Option(
        "--now",
        "The heap you use now (the incumbent), kept unless a fitted one is better: "
        f"{', '.join(SYSTEM_HEAPS)} or an allocator's name (docs/now.md).",
        metavar="HEAP",
    ),
    "report": Option("--report", "Write also a page with charts, for a browser.", is_output=True),
    "programs": Option(
        "--program",
        "The recorded program or its library, to name functions; or nm's list, or a linker's map.",
        kinds=[SourceKind.PROGRAM],
    ),
    "export": Option(
        "--export",
        "Print another tool's format instead: > FILE keeps it (docs/guides/data-tools.md).",
    ),
    "every": Option("--all", "Show every heap, recording and row."),
    "as_json": Option("--json", "Print the result as JSON."),
    "line": Option(
        "--line", "What a line of the log looks like [found].", IMPORTING, metavar="TEXT"
    ),
    "plans": _PLAN_OPTION,
    "pointer_bits": Option("--pointer-bits", "Pointer size in bits.", choices=["32", "64"]),
}


def list_options(declared: type) -> list[Option]:
    """The options and arguments that the fields of a command's record declare, in their order."""
    options = []
    for field in sorted(
        fields(declared), key=lambda one: one.kw_only is True
    ):  # those of all come last
        is_own = get_origin(field.type) is Annotated
        annotation, option = get_args(field.type) if is_own else (field.type, SHARED[field.name])
        inside = [one for one in get_args(annotation) if one is not NoneType] or [annotation]
        many = [get_args(one)[0] for one in (annotation, *inside) if get_origin(one) is list]
        kind = (many or inside)[0]
        is_enumeration = issubclass(kind, Enum)
        options.append(
            replace(
                option,
                field=field.name,
                kind=kind,
                choices=[one.value for one in kind] if is_enumeration else option.choices,
                is_many=bool(many),
                default=None if field.default is MISSING else field.default,
                is_required=field.default is MISSING,
            )
        )
    return options


def reject_options(command: object, names: Container[str], why: str) -> None:
    """UsageError if a field of a command's record is not at its default; `why`: what ignores it."""
    for one in list_options(type(command)):
        if one.field in names and getattr(command, one.field) != one.default:
            raise UsageError(f"{one.name or one.value} has no effect here: {why}")


def command_line() -> str:
    """The command line of this process, quoted so that it can be typed again."""
    return shlex.join(["heapfit", *sys.argv[1:]])
