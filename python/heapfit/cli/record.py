# SPDX-License-Identifier: Apache-2.0
"""`heapfit record`: run a program, or listen to a device, and store what is asked of its heap."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from heapfit.cli.commands.recordings import RecordCommand
from heapfit.cli.parser import UsageError
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.lines import note
from heapfit.cli.printing.progress import step_bar
from heapfit.comparison.incumbents.heap_names import TLSF
from heapfit.drawing.parts import Fields, Line, Note, Part, which_hold
from heapfit.errors import HeapfitError
from heapfit.fitting.verify.placements import check_recorded_order
from heapfit.importers import import_frames, preload
from heapfit.importers.file_kind import require_kind
from heapfit.importers.followed import FollowedFrames, Listener, ignore_recording
from heapfit.importers.processes import describe_ending
from heapfit.importers.record import ProgramRecording, record
from heapfit.importers.target_log import (
    Emulation,
    TargetRecording,
    log_of_line,
    record_emulated,
    record_serial,
)
from heapfit.outputs.ours import keep_earlier, require_replaceable
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile, load_plan
from heapfit.results.live import describe_live, serve_live
from heapfit.trace.chains import DEPTH
from heapfit.trace.kinds import SourceKind
from heapfit.trace.live import FollowedRecording, LiveHeap
from heapfit.trace.names import source_name
from heapfit.trace.stored import Trace

_STANDARD_RATE = 115_200  # baud
_INTERVAL = 1.0  # seconds between two lines of --watch
_NO_PLAN = Plan(TLSF, {"alignment": 8})  # quick, and no plan is needed to know its holes


def run(command: RecordCommand) -> None:
    if command.site_depth not in (1, DEPTH):
        raise UsageError("--site-depth is 1 or 4")
    if command.environment is not None:
        parts = _environment_parts(command.environment, command.program, command.site_depth)
        print_result(parts, command.as_json)
        return
    words = tuple(command.program or ())
    if words and command.qemu is None:
        require_kind(Path(words[0]), SourceKind.PROGRAM)
    line = _split_rate(command.serial)
    source = _select_source(words, line[0], command.qemu)
    target = command.output or Path(f"{source_name(source)}.parquet")
    require_replaceable(target)
    with keep_earlier(target) as kept:
        recorded = _record(command, words, line, target)
    parts = _target_parts(recorded) if isinstance(recorded, TargetRecording) else _parts(recorded)
    print_result(parts, command.as_json)
    if kept is not None and target.exists():
        note(f"{kept}: the earlier recording of that name, kept (--force replaces it)")
    _end_as(recorded)


def _record(
    command: RecordCommand, words: tuple[str, ...], line: tuple[str | None, int], target: Path
) -> TargetRecording | ProgramRecording:
    """Records the serial line at its rate, the image or the program that the command names."""
    serial, rate = line
    with _watch(command) as listener, step_bar() as progress:
        if serial is not None and Path(serial).is_file():
            return TargetRecording(import_frames(serial, target, progress), "whole")
        if serial is not None:
            log = log_of_line(target)
            with keep_earlier(log), listener(FollowedFrames(log)):
                return record_serial(serial, rate, command.seconds, target, progress)
        if command.qemu is not None:
            emulation = Emulation(command.qemu, words, command.machine, command.seconds)
            return record_emulated(emulation, target, progress, listener=listener)
        return record(
            words,
            target,
            progress=progress,
            keep_children=command.children,
            depth=command.site_depth,
            listener=listener,
        )


@contextmanager
def _watch(command: RecordCommand) -> Iterator[Listener]:
    """What follows the recording, if that is asked for."""
    if not command.watch and command.page is None:
        yield ignore_recording
        return
    plan = None if command.plan is None else load_plan(command.plan)
    heap, listener = _watch_on_terminal(plan)
    if command.page is None:
        yield listener
        return
    with serve_live(heap, command.page) as port:
        note(f"http://127.0.0.1:{port}/ shows the heap while it is recorded.")
        yield listener


def _watch_on_terminal(plan: PlanFile | None) -> tuple[LiveHeap, Listener]:
    """A heap that follows a recording, and the listener that feeds it and prints its figures."""
    heap = LiveHeap(_NO_PLAN) if plan is None else LiveHeap(plan.plan, plan.region)

    @contextmanager
    def listen(followed: FollowedRecording) -> Iterator[None]:
        end, begun = threading.Event(), time.monotonic()

        def look() -> None:
            heap.look(followed)
            note(f"{time.monotonic() - begun:,.0f} s: {describe_live(heap, followed)}")

        thread = threading.Thread(target=_repeat, args=(look, end))
        try:
            thread.start()
            yield
        finally:
            end.set()  # then it ends before the engine goes, whatever interrupts what follows
            thread.join()
            followed.close()

    return heap, listen


def _repeat(look: Callable[[], None], end: threading.Event) -> None:
    """Looks each second, and once more at the end; a damaged recording ends it."""
    try:
        while not end.wait(_INTERVAL):
            look()
        look()
    except HeapfitError as error:
        note(f"--watch: {error}; the recording goes on")


def _end_as(recorded: TargetRecording | ProgramRecording) -> None:
    """Ends as a recorded program did, by the shell's rule: its status, or 128 and its signal.

    A serial line's recording always ends by Ctrl-C, which is no failure.
    """
    if recorded.is_interrupted:
        raise KeyboardInterrupt  # what was recorded until then is stored
    if isinstance(recorded, ProgramRecording) and recorded.status:
        raise SystemExit(recorded.status if recorded.status > 0 else 128 - recorded.status)


def _split_rate(serial: str | None) -> tuple[str | None, int]:
    """The device, address or log, and the baud rate that DEVICE:BAUD gives it.

    >>> _split_rate("COM3:921600"), _split_rate("rfc2217://host:2217")
    (('COM3', 921600), ('rfc2217://host:2217', 115200))
    """
    rated = re.fullmatch(r"(\w+://[^:]+:\d+|[^:].*):(\d+)", serial or "")
    is_address = rated and re.fullmatch(r"\w+://[^:]+", rated[1])  # its number is of a port
    if rated and not is_address and not Path(rated[0]).exists():
        return rated[1], int(rated[2])
    return serial, _STANDARD_RATE


def _select_source(words: Sequence[str], serial: str | None, qemu: Path | None) -> Path:
    """The program, serial line or image to record; a usage error unless it is one alone."""
    given = [Path(one) for one in (serial, qemu) if one is not None]
    if len(given) > 1 or (words and serial) or not (given or words):
        raise UsageError("give one of PROGRAM, --serial, --qemu and --environment")
    return given[0] if given else Path(words[0])


def _target_parts(recording: TargetRecording) -> list[Part]:
    trace, log = recording.trace, recording.log
    info, ending = trace.info, recording.ending
    notes = (*info.notes, *(check_recorded_order(log, trace) if log else ()))
    told = [
        f"{trace.path}: {info.events:,} events ({ending})",
        *([f"{log}: what came over the line"] if log else []),
    ]
    fields = {"trace": trace.path, **asdict(info), "notes": notes, "ending": ending, "log": log}
    return [Fields(fields), *(Line(text, is_copied=True) for text in told), *map(Note, notes)]


def _environment_parts(folder: Path, program: list[str] | None, depth: int) -> list[Part]:
    """The variables as an environment file has them, each in a line."""
    variables = preload.environment(folder, program[0] if program else None, depth)
    lines = (Line(f"{name}={value}", is_copied=True) for name, value in variables.items())
    return [Fields({"environment": variables}), *lines]


def _parts(recording: ProgramRecording) -> list[Part]:
    trace, children = recording.trace, recording.children
    ending = describe_ending(recording.status)
    fields = {
        **({"trace": trace.path, **asdict(trace.info)} if trace else {}),
        "status": recording.status,
        "confined": recording.is_confined,
        "others": recording.others,
        "replaced": recording.replaced,
        "children": [one.path for one in children],
        "unseen": recording.unseen,
        "survivors": [asdict(one) for one in recording.survivors],
    }
    return [
        Fields(fields),
        _describe_trace(trace, f", which {ending}")
        if trace
        else Note(f"The program itself, which {ending}, asked for no memory."),
        *map(Note, _explain_filter(recording)),
        *map(Note, trace.info.notes if trace else ()),
        *map(_describe_trace, children),
        *map(Note, _describe_others(recording)),
    ]


def _describe_trace(trace: Trace, ending: str = "") -> Line:
    events, program = f"{trace.info.events:,} events", trace.info.program
    return Line(f"{trace.path}: {events} of {program}{ending}", is_copied=True)


def _describe_others(recording: ProgramRecording) -> list[str]:
    """What this trace does not hold, and how to get it."""
    kinds = (
        (recording.others, "other process", "other processes"),
        (recording.replaced, "program that another replaced by exec", "programs replaced by exec"),
    )
    counts = [f"{count:,} {one if count == 1 else many}" for count, one, many in kinds if count]
    verb = "was" if recording.others + recording.replaced == 1 else "were"
    apart = f"{' and '.join(counts)} {verb} recorded too; --children keeps the traces."
    return [
        *which_hold(
            (recording.unseen, recording.unseen or ""), (counts and not recording.children, apart)
        ),
        *(
            f"Process {one.process} ({one.name}) goes on after its parent: its recording is not in "
            f"here. Once it has ended: heapfit import {one.recordings} -o {one.name}.parquet "
            "(or run it in the foreground, or as a service, with --environment)"
            for one in recording.survivors
        ),
    ]


def _explain_filter(recording: ProgramRecording) -> list[str]:
    """Notes where a seccomp filter ended the program: by SIGSYS, in strict mode by SIGKILL."""
    is_sys, is_confined = recording.status == -signal.SIGSYS, recording.is_confined
    return which_hold(
        (
            is_sys and not is_confined,
            "Killed by a seccomp filter that the recorder did not see being set: it may forbid "
            "what the recorder needs (mmap, munmap, fallocate). What came before is kept.",
        ),
        (
            is_confined and (is_sys or recording.status == -signal.SIGKILL),
            "Killed after it had confined itself, probably by its own seccomp filter: the recorder "
            "makes no system call after that. What came before is kept.",
        ),
    )
