# SPDX-License-Identifier: Apache-2.0
"""`heapfit import`: turns files of any known format into stored traces."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from heapfit.checks.equal_frees import settle_equal_frees
from heapfit.cli.commands.recordings import ImportCommand
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.running import import_options, require_local
from heapfit.drawing.parts import Fields, Line, Note, Part
from heapfit.errors import HeapfitError
from heapfit.fitting.verify.placements import check_recorded_order
from heapfit.images.snapshot import read_image
from heapfit.importers import ImportOptions, OwnLines
from heapfit.importers.formats import FRAMES, find_format
from heapfit.importers.many import import_files
from heapfit.results.image import describe_heap
from heapfit.sweep import Sweep
from heapfit.trace.names import distinct_source_names, source_name
from heapfit.trace.stored import Trace


def run(command: ImportCommand) -> None:
    if command.programs or command.at is not None:
        _import_image(command)
        return
    lines, frees = command.line or (), command.free or ()
    if (lines or frees) and all("{old}" in one for one in lines):
        raise HeapfitError("--free: needs --line, what an allocation looks like")
    options = replace(
        import_options(command.queue),
        drop_unknown=command.drop_unknown,
        pointer_bits=command.pointer_bits,
        own_lines=OwnLines("\n".join(lines), "\n".join(frees)) if lines else None,
        boot=command.boot,
        whole_frames=command.whole_frames,
    )
    if len(command.files) == 1:
        targets = [command.output or Path(f"{source_name(command.files[0])}.parquet")]
    else:
        folder, names = command.output or Path(), distinct_source_names(command.files)
        targets = [folder / f"{name}.parquet" for name in names]
    with progress_bar() as progress, Sweep(require_local(command.workers)) as sweep:
        named = list(zip(command.files, targets, strict=True))
        traces = import_files(named, options, sweep, progress)
    done = [_finish(*one, options) for one in zip(command.files, traces, strict=True)]
    print_result(_parts(done), command.as_json)


def _import_image(command: ImportCommand) -> None:
    """Stores the heaps of a memory image as a snapshot."""
    (source, *logs), programs = command.files, command.programs or []
    if len(programs) != 1 or logs[1:] or any(find_format(one) is not FRAMES for one in logs):
        raise HeapfitError(
            "a memory image: give its file, at most the recorder's log behind it, and its program: "
            "--program FIRMWARE (two dumps are imported one by one, then heapfit profile A.json "
            "B.json compares them)"
        )
    target = command.output or Path(f"{source_name(source)}.json")
    snapshot = read_image(source, programs[0], command.at, *logs)
    snapshot.write(target)
    print_result(
        (
            Fields({"snapshot": target, "notes": snapshot.notes}),
            *(Line(one) for heap in snapshot.heaps for one in describe_heap(heap)),
            Line(f"heapfit profile {shlex.quote(str(target))}", is_copied=True),
            *map(Note, snapshot.notes),
        ),
        command.as_json,
    )


def _parts(done: Sequence[tuple[Trace, Sequence[str]]]) -> list[Part]:
    is_one = len(done) == 1
    fields = [{"trace": one.path, **asdict(one.info), "notes": notes} for one, notes in done]
    return [
        Fields(fields[0] if is_one else {"traces": fields}),
        *(part for one in done for part in _describe(*one, is_one=is_one)),
    ]


def _describe(trace: Trace, notes: Sequence[str], *, is_one: bool) -> list[Part]:
    info = trace.info
    bits = f"{info.pointer_bits} bit" if info.pointer_bits else "unknown pointer size"
    return [
        Line(f"{trace.path}: {info.events:,} events of {info.title} ({bits})", is_copied=True),
        *(Note(note if is_one else f"{trace.path}: {note}") for note in notes),
    ]


def _finish(source: Path, trace: Trace, options: ImportOptions) -> tuple[Trace, Sequence[str]]:
    """The stored trace, and all that is to be said of it."""
    trace, of_pairs = settle_equal_frees(source, trace, options)
    return trace, (*trace.info.notes, *of_pairs, *check_recorded_order(source, trace))
