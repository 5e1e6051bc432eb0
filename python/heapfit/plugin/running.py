# SPDX-License-Identifier: Apache-2.0
"""The process of a plug-in: it replays the recording in a region and reports faults."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from heapfit.errors import HeapfitError
from heapfit.external_tool import PATIENCE
from heapfit.plan.quantities import format_event
from heapfit.plugin.building import IMAGE
from heapfit.plugin.faults import PROBES, Fault, fault_of

try:
    import resource
except ModuleNotFoundError:
    resource = None  # type: ignore[assignment]

START = 20  # seconds of CPU until it answers: 10^9 events are read in a part of that
REPLAY = 60  # seconds of CPU of a replay, without a millisecond an event
_LONGEST_LINE = 400  # characters
# The figures of host/answer.h, in their order.
ANSWER = (
    "runs",  # 1: everything was served
    "is_region",  # 0: init took none of this size
    "events",  # done
    "footprint",  # bytes up to the end of the highest block
    "height",  # bytes between the lowest and the highest byte of a block
    "placements",  # hash of all offsets
    *("loads", "stores", "longest"),  # of metadata; of the call that has most
    "payload",  # bytes copied
    *("fault", "detail", "other"),
)


@dataclass(frozen=True, slots=True)
class Process:
    """The host program of one plug-in with one recording."""

    questions: IO[str]
    answers: IO[str]
    is_sized: bool  # it is handed sizes back

    def ask(self, what: str, size: int, probe: str = "") -> tuple[dict[str, int], Fault | None]:
        """The answer, by the names of ANSWER, for a region of `size` bytes, and its fault.

        `what` is `places`, `apart` or `content` (host/replay.h), or `attack` for one of
        faults.PROBES.
        """
        number = f" {PROBES.index(probe)}" if probe else ""
        print(f"{what} {size}{number}", file=self.questions, flush=True)
        words = self.answers.readline(_LONGEST_LINE).split()
        if len(words) != len(ANSWER) or not all(map(str.isdecimal, words)):
            raise HeapfitError("plug-in: its process ended (memory for a replay may have run out)")
        answer = dict(zip(ANSWER, map(int, words), strict=True))
        if answer["fault"] == 0:
            return answer, None
        where = probe or (format_event(answer["events"]) if answer["is_region"] else "init")
        return answer, fault_of(answer["fault"], answer["detail"], answer["other"], where, size)


@contextmanager
def start_process(program: Path, events: Path, alignment: int) -> Iterator[Process]:
    """The process, which ends with the context."""
    if resource is None:
        raise HeapfitError("plug-ins run on Linux alone (docs/platforms.md)")
    command = [*map(str, (program, program.with_suffix(IMAGE), events, alignment, REPLAY))]
    # In a group of its own, so that nothing that it might start is left.
    with subprocess.Popen(
        command,
        process_group=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdin and running.stdout and running.stderr
        try:
            least, most = resource.prlimit(running.pid, resource.RLIMIT_CPU)
            resource.prlimit(running.pid, resource.RLIMIT_CPU, (START, most))
            said = _first_line(running.stdout)
            resource.prlimit(running.pid, resource.RLIMIT_CPU, (least, most))
            if not said:
                running.stdin.close()
                why = _first_line(running.stderr)
                raise HeapfitError(f"plug-in: {why or 'its process does not start'}")
            yield Process(running.stdin, running.stdout, said == "is told sizes")
        finally:
            running.stdin.close()
            os.killpg(running.pid, signal.SIGKILL)


def _first_line(stream: IO[str]) -> str:
    """The first line of a stream; "" if it ends or is silent for too long."""
    ready, _, _ = select.select([stream], [], [], PATIENCE)
    return stream.readline(_LONGEST_LINE).strip() if ready else ""
