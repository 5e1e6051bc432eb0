# SPDX-License-Identifier: Apache-2.0
"""The options of `record`, `import`, `workload`, `profile` and `sites`, with light imports only."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from heapfit.cli.arguments import IMPORTING, make_output_option, reuse
from heapfit.cli.commands import Command
from heapfit.cli.parser import Option
from heapfit.plan.quantities import parse_address
from heapfit.trace.kinds import Export, SourceKind, View


@dataclass(frozen=True, slots=True)
class RecordCommand(Command):
    """Run a program and record its heap requests, or read what a target recorded.

    A Linux program, dynamically linked, has its input and output as ever. A SIGTERM is passed on to
    it, and what was recorded is kept; the exit status is the program's. An earlier recording of the
    same name is kept as NAME.~1~. Firmware has the recorder of `generate --record` in it, whose
    frames come from a log, over a serial line or out of QEMU.

    Examples:
        heapfit record -o mine.parquet -- ls /
        heapfit record --environment recordings
    """

    program: Annotated[
        list[str] | None,
        Option(
            "",
            metavar="PROGRAM",
            help="The program to run and its arguments, after --; with --qemu the arguments alone.",
        ),
    ] = None
    output: Annotated[
        Path | None, make_output_option("the recording, a stored trace [PROGRAM's name.parquet]")
    ] = None
    children: Annotated[
        bool, Option("--children", "Write also the traces of child processes, beside the output.")
    ] = False
    environment: Annotated[
        Path | None,
        Option(
            "--environment",
            "Print the environment variables with which a service records into FOLDER.",
            metavar="FOLDER",
        ),
    ] = None
    site_depth: Annotated[
        int,
        Option(
            "--site-depth",
            "Callers to record of each request (Linux programs); 4 pass a wrapper.",
            metavar="1|4",
        ),
    ] = 1
    serial: Annotated[
        str | None,
        Option(
            "--serial",
            "Record from a serial device (COM3, rfc2217://host:port) until Ctrl-C, at 115,200 baud "
            "or DEVICE:BAUD, or read a log of its line.",
            metavar="DEVICE|LOG",
        ),
    ] = None
    qemu: Path | None = None
    seconds: float | None = None
    machine: str = ""
    watch: Annotated[
        bool,
        Option(
            "--watch",
            "Print each second the live bytes, their growth and the largest hole of --plan's "
            "heap [TLSF's], to stderr.",
        ),
    ] = False
    page: Annotated[
        int | None,
        Option(
            "--page",
            "As --watch, and show the heap as it grows at http://127.0.0.1:PORT.",
            metavar="PORT",
            min=0,
            max=65_535,
        ),
    ] = None
    plan: Annotated[Path | None, reuse("plan", "With --watch: the heap that is followed.")] = None


@dataclass(frozen=True, slots=True)
class ImportCommand(Command):
    """Turn recordings or captures into stored traces, dumps with --program into snapshots.

    Examples:
        heapfit import run.log run2.log -o traces
        heapfit import capture.pcap --queue fifo:1000
    """

    files: Annotated[
        list[Path],
        Option(
            "",
            metavar="FILE...",
            help="The files to import; their content decides the format.",
            kinds=[SourceKind.RECORDING],
        ),
    ]
    output: Annotated[
        Path | None,
        make_output_option("the trace, of several files a folder of traces [FILE's name.parquet]"),
    ] = None
    workers: str | None = None
    queue: Annotated[str | None, reuse("queue")] = None
    programs: Annotated[list[Path] | None, reuse("programs", "Here the ELF file of a dump.")] = None
    at: Annotated[
        int | None,
        Option(
            "--at",
            "With --program: the file is raw memory, whose first byte has this address.",
            IMPORTING,
            metavar="ADDRESS",
            parser=parse_address,
        ),
    ] = None
    drop_unknown: Annotated[
        bool, Option("--drop-unknown", "Skip events of unknown objects, and count them.")
    ] = False
    line: Annotated[
        list[str] | None, reuse("line", "As 'Allocated {size} bytes at {address}'.")
    ] = None
    free: Annotated[
        list[str] | None,
        Option("--free", "With --line: a line that is a free: 'Freed {address}'.", metavar="TEXT"),
    ] = None
    boot: Annotated[
        int | None, Option("--boot", "Of a log of several boots the one to take [the longest].")
    ] = None
    whole_frames: Annotated[
        bool,
        Option(
            "--whole-frames",
            "Take a capture's frames as they are, of any link type [their IP packets].",
            IMPORTING,
        ),
    ] = False
    pointer_bits: Annotated[
        int | None, reuse("pointer_bits", "Of a recorded program whose file does not say it.")
    ] = None


@dataclass(frozen=True, slots=True)
class WorkloadCommand(Command):
    """Write a synthetic workload as a stored trace; one seed gives one trace.

    Examples:
        heapfit workload
        heapfit workload t2_w1:events=500 --seed 7 -o walk.parquet
    """

    workload: Annotated[
        str | None,
        Option(
            "",
            metavar="NAME[:PARAMETER=VALUE,...]",
            help="A workload, with parameters to change [a list of all].",
        ),
    ] = None
    output: Annotated[Path | None, make_output_option("the trace [NAME.parquet]")] = None
    seed: Annotated[int, reuse("seed")] = 1


@dataclass(frozen=True, slots=True)
class ProfileCommand(Command):
    """Show sizes, lifetimes and live bytes of a trace, and what they suggest.

    Of a snapshot of a dumped heap it shows blocks, holes and damage; of two what grew.

    Examples:
        heapfit profile run.parquet
        heapfit profile run.parquet -o live.parquet
    """

    source: Path
    later: Annotated[
        Path | None,
        Option("", metavar="LATER", help="Of a snapshot: a later one, to show what grew."),
    ] = None
    output: Annotated[
        Path | None,
        make_output_option(
            "live bytes and blocks of each size over time, a Parquet file [nowhere]"
        ),
    ] = None
    queue: str | None = None
    export: Export | None = None
    report: Annotated[Path | None, reuse("report", "Of snapshots; fit writes a recording's.")] = (
        None
    )


@dataclass(frozen=True, slots=True)
class SitesCommand(Command):
    """Show the call sites of a recording: their sizes, lifetimes and source lines.

    Examples:
        heapfit sites run.parquet
        heapfit sites run.parquet --view held
    """

    source: Path
    programs: list[Path] | None = None
    plan: Annotated[Path | None, reuse("plan", "Its tag of each call site is shown.")] = None
    view: Annotated[
        View | None,
        Option(
            "--view",
            "The blocks to show: live at the peak, held to the end, of these the later ones "
            "(born after the first tenth), temporary (gone with their task's next call), or those "
            "of the peak by task or by memory.",
        ),
    ] = None
    export: Export | None = None


@dataclass(frozen=True, slots=True)
class ForecastCommand(Command):
    """Say from a device's log whether its memory falls, and how long it lasts.

    The log has free bytes and, better, the least ever free, the largest free block and failed
    requests: lines as ESP-IDF, FreeRTOS, Zephyr or esp8266 programs print them, CSV, JSON lines or
    Prometheus text (docs/forecast.md).

    Examples:
        heapfit forecast device.log
        heapfit forecast device.log --line 'free {free} largest {largest}'
    """

    log: Annotated[
        Path, Option("", metavar="LOG", help="The log, a file of text; -: standard input.")
    ]
    line: Annotated[list[str] | None, reuse("line", "As 'free {free} largest {largest}'.")] = None
    sizes: Annotated[
        str | None,
        reuse(
            "sizes",
            "Those of requests: when each fails [as large as one that failed; else 1024,4096].",
        ),
    ] = None
