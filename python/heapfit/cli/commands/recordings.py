# SPDX-License-Identifier: Apache-2.0
"""The options of `record`, `import`, `workload`, `profile` and `sites`, with light imports only."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from heapfit.cli.arguments import (
    IMPORTING,
    LINE,
    POINTER_BITS_HELP,
    QUEUE,
    SEED,
    AsJson,
    ExportOption,
    ImageOption,
    InstructionCount,
    Machine,
    PlanOption,
    PointerBits,
    Programs,
    Queue,
    Seconds,
    Source,
    Workers,
    make_output_option,
    show_in_help,
    take_file,
)
from heapfit.cli.parser import make_argument, make_option
from heapfit.trace.kinds import Kind, View


@dataclass(frozen=True, slots=True)
class RecordCommand:
    """Run a program and record its heap requests, or read what a target recorded.

    A Linux program, dynamically linked, has its input and output as ever. A SIGTERM is passed on to
    it, and what was recorded is kept; the exit status is the program's. An earlier recording of the
    same name is kept as NAME.~1~. Firmware has the recorder of `generate --record` in it, whose
    frames come from a log, over a serial line or out of QEMU.
    """

    EXAMPLES: ClassVar = (
        "heapfit record -o mine.parquet -- ls /",
        "heapfit record --environment recordings",
    )

    program: Annotated[
        list[str] | None,
        make_argument(
            metavar="PROGRAM",
            help="The program to run and its arguments, after --; with --qemu the arguments alone.",
        ),
    ] = None
    output: Annotated[
        Path | None, make_output_option("the recording, a stored trace [PROGRAM's name.parquet]")
    ] = None
    children: Annotated[
        bool,
        make_option("--children", "Write also the traces of child processes, beside the output."),
    ] = False
    environment: Annotated[
        Path | None,
        make_option(
            "--environment",
            "Print the environment variables with which a service records into FOLDER.",
            metavar="FOLDER",
        ),
    ] = None
    site_depth: Annotated[
        int,
        make_option(
            "--site-depth",
            "Callers to record of each request (Linux programs); 4 pass a wrapper.",
            metavar="1|4",
        ),
    ] = 1
    serial: Annotated[
        str | None,
        make_option(
            "--serial",
            "Record from a serial device until Ctrl-C, at 115,200 baud or DEVICE:BAUD, or read a "
            "log of its line.",
            metavar="DEVICE|LOG",
        ),
    ] = None
    qemu: ImageOption = None
    seconds: Seconds = None
    machine: Machine = None
    icount: InstructionCount = None
    watch: Annotated[
        bool,
        make_option(
            "--watch",
            "Print each second the live bytes, their growth and the largest hole of --plan's "
            "heap [TLSF's], to stderr.",
        ),
    ] = False
    page: Annotated[
        int | None,
        make_option(
            "--page",
            "As --watch, and show the heap as it grows at http://127.0.0.1:PORT.",
            metavar="PORT",
            min=0,
            max=65_535,
        ),
    ] = None
    plan_file: PlanOption = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class ImportCommand:
    """Turn recordings or packet captures into stored traces."""

    EXAMPLES: ClassVar = (
        "heapfit import run.heap run2.heap -o traces",
        "heapfit import capture.pcap --queue fifo:1000",
    )

    files: Annotated[
        list[Path],
        make_argument(
            metavar="FILE...",
            help="The files to import; their content decides the format.",
            **take_file(Kind.RECORDING),
        ),
    ]
    output: Annotated[
        Path | None,
        make_output_option("the trace, of several files a folder of traces [FILE's name.parquet]"),
    ] = None
    workers: Workers = None
    queue: Annotated[str | None, show_in_help(QUEUE)] = None
    drop_unknown: Annotated[
        bool, make_option("--drop-unknown", "Skip events of unknown objects, and count them.")
    ] = False
    line: Annotated[str | None, show_in_help(LINE)] = None
    free: Annotated[
        str,
        make_option(
            "--free",
            "With --line: a line that is a free: 'Freed {address}'.",
            IMPORTING,
            metavar="TEXT",
        ),
    ] = ""
    resize: Annotated[
        str,
        make_option(
            "--resize",
            "With --line: a line that is a resize, of the block {old}.",
            IMPORTING,
            metavar="TEXT",
        ),
    ] = ""
    whole_frames: Annotated[
        bool,
        make_option(
            "--whole-frames",
            "Take a capture's frames as they are, of any link type [their IP packets].",
            IMPORTING,
        ),
    ] = False
    whole_only: Annotated[
        bool,
        make_option(
            "--whole-only",
            "Refuse a file that is cut or damaged [what is whole before is kept].",
            IMPORTING,
        ),
    ] = False
    pointer_bits: Annotated[
        PointerBits | None, make_option("--pointer-bits", POINTER_BITS_HELP)
    ] = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class WorkloadCommand:
    """Write a synthetic workload as a stored trace; one seed gives one trace."""

    EXAMPLES: ClassVar = (
        "heapfit workload",
        "heapfit workload t2_w1:events=500 --seed 7 -o walk.parquet",
    )

    workload: Annotated[
        str | None,
        make_argument(
            metavar="NAME[:PARAMETER=VALUE,...]",
            help="A workload, with parameters to change [a list of all].",
        ),
    ] = None
    output: Annotated[Path | None, make_output_option("the trace [NAME.parquet]")] = None
    seed: Annotated[int, show_in_help(SEED)] = 1
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class ProfileCommand:
    """Show sizes, lifetimes and live bytes of a trace, and what they suggest."""

    EXAMPLES: ClassVar = ("heapfit profile run.heap", "heapfit profile run.heap -o live.parquet")

    source: Source
    output: Annotated[
        Path | None,
        make_output_option(
            "live bytes and blocks of each size over time, a Parquet file [nowhere]"
        ),
    ] = None
    queue: Queue = None
    export: ExportOption = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class SitesCommand:
    """Show the call sites of a recording: their sizes, lifetimes and source lines."""

    EXAMPLES: ClassVar = ("heapfit sites run.heap", "heapfit sites run.heap --view held")

    source: Source
    programs: Programs = None
    plan_file: PlanOption = None
    view: Annotated[
        View | None,
        make_option(
            "--view",
            "The blocks to show: live at the peak, held to the end, of these the later ones "
            "(born after the first tenth), temporary (gone with their task's next call), or those "
            "of the peak by task or by memory.",
        ),
    ] = None
    export: ExportOption = None
    as_json: AsJson = False


@dataclass(frozen=True, slots=True)
class ForecastCommand:
    """Say from a device's log whether its memory falls, and how long it lasts.

    The log has free bytes and, better, the least ever free, the largest free block and failed
    requests: lines as ESP-IDF, FreeRTOS, Zephyr or esp8266 programs print them, CSV, JSON lines or
    Prometheus text (docs/forecast.md).
    """

    EXAMPLES: ClassVar = (
        "heapfit forecast device.log",
        "heapfit forecast device.log --line 'free {free} largest {largest}'",
    )

    log: Annotated[
        Path, make_argument(metavar="LOG", help="The log, a file of text; -: standard input.")
    ]
    line: Annotated[str | None, show_in_help(LINE)] = None
    as_json: AsJson = False


COMMANDS = (
    RecordCommand,
    ImportCommand,
    WorkloadCommand,
    ProfileCommand,
    SitesCommand,
    ForecastCommand,
)
