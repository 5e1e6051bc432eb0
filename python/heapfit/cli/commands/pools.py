# SPDX-License-Identifier: Apache-2.0
"""The options of `size`, `settings` and `simulate`, with light imports only."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar

from heapfit.cli.arguments import (
    SEED,
    TIMES_HELP,
    Admission,
    AsJson,
    ClosedForm,
    Queue,
    ReportPage,
    Seed,
    Sources,
    Workers,
    make_output_option,
    show_in_help,
    take_file,
)
from heapfit.cli.parser import make_argument, make_option
from heapfit.comparison.incumbents.heaps import find_system
from heapfit.trace.kinds import Kind


class System(StrEnum):
    """Whose settings are printed."""

    LWIP = "lwip"
    ZEPHYR = "zephyr"
    ZEPHYR_BLUETOOTH = "zephyr-bluetooth"
    NIMBLE = "nimble"
    OPENTHREAD = "openthread"
    NETX = "netx"
    RIOT = "riot"
    TINYUSB = "tinyusb"
    MATTER = "matter"
    FREERTOS = "freertos"


def _parse_system(word: str) -> System:
    return System(find_system(word))


@dataclass(frozen=True, slots=True)
class SizeCommand:
    """Size pools to serve a share of requests, and show how often they run out."""

    EXAMPLES: ClassVar = (
        "heapfit size capture.pcap --queue fifo:1000 --admission 0.99",
        "heapfit size scenario.toml --admission 0.9",
    )

    source: Annotated[
        Path,
        make_argument(
            help="A stored trace, a recording or a capture to import first, or a TOML file with "
            "the [traffic] of a scenario.",
            **take_file(Kind.RECORDING, Kind.SCENARIO),
        ),
    ]
    admission: Admission = 0.999
    sizes: Annotated[
        str | None,
        make_option(
            "--pool-sizes",
            "Sizes of the pools, as 64,512,2K; of traffic the one of the fixed pool's blocks.",
            metavar="SIZE,...",
        ),
    ] = None
    times: Annotated[int | None, make_option("--times", TIMES_HELP, min=2, max=10_000)] = None
    seed: Seed = 1
    queue: Queue = None
    report: ReportPage = None
    workers: Workers = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class SettingsCommand:
    """Print a system's settings to copy, of pools with their chance to run out."""

    EXAMPLES: ClassVar = (
        "heapfit settings lwip run.heap run2.heap",
        "heapfit settings freertos run.heap --assume alignment=4",
    )

    system: Annotated[
        System,
        make_argument(
            parser=_parse_system,
            metavar="SYSTEM",
            help=f"Whose settings: {', '.join(System)}; or the heap of one, as heap_4.",
        ),
    ]
    sources: Sources
    admission: Admission = 0.999
    assume: Annotated[
        list[str] | None,
        make_option(
            "--assume",
            "NAME=VALUE replaces an assumption about the system; SIZE=SETTING: blocks of SIZE "
            "bytes have a pool of that name.",
        ),
    ] = None
    queue: Queue = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class SimulateCommand:
    """Simulate a scenario's traffic on its schemes, with confidence intervals and closed forms."""

    EXAMPLES: ClassVar = (
        "heapfit simulate scenario.toml",
        "heapfit simulate scenario.toml --closed-form --report curves.html",
    )

    scenario: Annotated[
        Path,
        make_argument(
            help="A scenario file; docs/scenario-schema.md describes it.",
            **take_file(Kind.SCENARIO),
        ),
    ]
    closed_form: ClosedForm = False
    output: Annotated[
        Path | None, make_output_option("the results as a Parquet table [nowhere]")
    ] = None
    report: ReportPage = None
    workers: Workers = None
    seed: Annotated[int | None, show_in_help(SEED)] = None
    as_json: AsJson = False


COMMANDS = (SizeCommand, SettingsCommand, SimulateCommand)
