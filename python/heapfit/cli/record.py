# SPDX-License-Identifier: Apache-2.0
"""`heapfit record`: run a Linux program and store what it asks of its heap."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from heapfit.cli.arguments import AsJson
from heapfit.cli.printing.parts import Fields, Line, Note, Part, out_result
from heapfit.cli.printing.progress import progress_bars
from heapfit.importers import preload
from heapfit.importers.record import Recording, record
from heapfit.trace.names import source_name


def command(
    program: Annotated[
        list[str] | None,
        typer.Argument(metavar="PROGRAM", help="What to run, after --, with its arguments."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The trace to write [PROGRAM's name.parquet]."),
    ] = None,
    children: Annotated[
        bool,
        typer.Option("--children", help="Keep the other processes' traces, beside the output."),
    ] = False,
    environment: Annotated[
        Path | None,
        typer.Option(
            "--environment",
            metavar="FOLDER",
            help="Run nothing: print what the environment of a service needs for it to record "
            "itself into FOLDER.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a Linux program and record what it asks of its heap.

    Its input and output stay its own. Dynamically linked programs. A SIGTERM is passed on to it,
    and what was recorded is kept.
    """
    if environment is not None:
        out_result(_environment(environment, program), as_json)
        return
    if not program:
        raise typer.BadParameter("name a program to run, after --, or --environment FOLDER")
    target = output or Path(f"{source_name(Path(program[0]))}.parquet")
    with progress_bars() as progress:
        recording = record(program, target, children, progress)
    out_result(_parts(recording), as_json)


def _environment(folder: Path, program: list[str] | None) -> Iterator[Part]:
    """Lines as an environment file has them."""
    variables = preload.environment(folder, Path(program[0]) if program else None)
    yield Fields({"environment": variables})
    for name, value in variables.items():
        yield Line(f"{name}={value}")


def _parts(recording: Recording) -> Iterator[Part]:
    info, children = recording.trace.info, recording.children
    yield Fields({"trace": recording.trace.path, **asdict(info)})
    yield Fields({"status": recording.status, "confined": recording.is_confined})
    yield Fields({"others": recording.others})
    yield Fields({"children": [trace.path for trace in children]})
    yield Line(
        f"{recording.trace.path}: {info.events:,} events of {info.program}, "
        f"which {_ending(recording.status)}"
    )
    yield from map(Note, _by_filter(recording))
    yield from map(Note, info.notes)
    for trace in children:
        yield Line(f"{trace.path}: {trace.info.events:,} events of {trace.info.program}")
    if recording.others and not children:
        yield Note(f"{_processes(recording.others)} recorded too; --children keeps the traces.")


def _by_filter(recording: Recording) -> Iterator[str]:
    """What a filter of system calls had to do with the end: SIGSYS is its signal alone, SIGKILL
    that of the strict mode, among others."""
    if recording.status == -signal.SIGSYS and not recording.is_confined:
        yield (
            "Killed by a seccomp filter that the recorder did not see being set: it may forbid "
            "what the recorder needs (mmap, munmap, fallocate). What came before is kept."
        )
    elif recording.is_confined and recording.status in (-signal.SIGSYS, -signal.SIGKILL):
        yield (
            "Killed after it had confined itself, probably by its own seccomp filter: the recorder "
            "makes no system call after that. What came before is kept."
        )


def _processes(count: int) -> str:
    return "1 other process was" if count == 1 else f"{count:,} other processes were"


def _ending(status: int) -> str:
    """How the program ended.

    >>> _ending(0), _ending(-11)
    ('ended with status 0', 'was killed by SIGSEGV')
    """
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:  # a real-time signal has no name
        return f"was killed by signal {-status}"
