# SPDX-License-Identifier: Apache-2.0
"""`heapfit record`: run a Linux program and store what it asks of its heap."""

from __future__ import annotations

import signal
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from heapfit.cli.printing import console
from heapfit.importers.record import Recording, record
from heapfit.trace.names import source_name


def command(
    program: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM", help="What to run, after --, with its arguments."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The trace to write [PROGRAM's name.parquet]."),
    ] = None,
    children: Annotated[
        bool,
        typer.Option("--children", help="Keep the other processes' traces, beside the output."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Run a Linux program and record what it asks of its heap.

    Its input and output stay its own. 64-bit, dynamically linked programs.
    """
    target = output or Path(f"{source_name(Path(program[0]))}.parquet")
    with console.progress() as progress:
        recording = record(program, target, children, progress)
    if as_json:
        _print_json(recording)
    else:
        _print(recording)


def _print_json(recording: Recording) -> None:
    console.out_json(
        {
            "trace": str(recording.trace.path),
            **asdict(recording.trace.info),
            "status": recording.status,
            "others": recording.others,
            "children": [str(trace.path) for trace in recording.children],
        }
    )


def _print(recording: Recording) -> None:
    info = recording.trace.info
    console.out(
        f"{recording.trace.path}: {info.events:,} events of {info.program}, "
        f"which {_ending(recording.status)}"
    )
    for told in info.notes:
        console.note(told)
    for trace in recording.children:
        console.out(f"{trace.path}: {trace.info.events:,} events of {trace.info.program}")
    if recording.others and not recording.children:
        console.note(f"{_processes(recording.others)} recorded too; --children keeps the traces.")


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
