# SPDX-License-Identifier: Apache-2.0
"""Worker processes on this machine.

    this process ==pipe== worker (one job)
                 ==pipe== worker (one job)      a pipe that closes tells whose job has died

They share nothing with this one. A pool of the standard library would not do: when one worker
dies it gives up all jobs and cannot tell which of them is to blame. Nor would its processes: they
import the user's script anew, which then has to guard itself against being run twice.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from typing import Final

from heapfit.errors import HeapfitError
from heapfit.sweep.job import Died, Job, Outcome, Raised, Told, perform

# What a worker runs: it imports what this process could, and serves the pipe it inherits.
_SCRIPT: Final = """\
import sys
sys.path[:] = sys.argv[2:]
from heapfit.sweep.processes import serve
serve(int(sys.argv[1]))
"""


# Where libraries read how many threads they may start: Arrow, and those under numpy.
_POOLS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass(slots=True)
class _Worker:
    process: subprocess.Popen[bytes]
    pipe: Connection
    job: int | None = None  # the number of the one it does


class Processes:
    """So many processes, started as they are needed."""

    tells_who_died = True

    def __init__(self, count: int) -> None:
        self._count = count
        self._workers: list[_Worker] = []

    def has_room(self) -> bool:
        """True if a job would begin at once."""
        return self._free() is not None or len(self._workers) < self._count

    def start(self, number: int, job: Job) -> None:
        """Hands a job to a free worker; HeapfitError if no worker could import its function."""
        if job.work.__module__ == "__main__":
            raise HeapfitError(
                f"{job.name}: its function is one of the script itself, which workers do not run "
                "(put it into a module, or use workers=1)"
            )
        message = pickle.dumps(job)
        worker = self._free()
        while worker is not None:
            if _send(worker, message):
                worker.job = number
                return
            self._drop(worker)  # it died while it had nothing to do
            worker = self._free()
        worker = _start_worker()
        self._workers.append(worker)
        worker.job = number
        _send(worker, message)  # if it is dead already, its pipe tells

    def wait(self) -> list[tuple[int, Outcome]]:
        """What has become of one job at least, or what it tells."""
        busy = [worker for worker in self._workers if worker.job is not None]
        ready = wait([worker.pipe for worker in busy])
        return [self._receive(worker) for worker in busy if worker.pipe in ready]

    def close(self) -> None:
        """Ends all of them, at once."""
        while self._workers:
            self._drop(self._workers[-1])

    def _free(self) -> _Worker | None:
        return next((worker for worker in self._workers if worker.job is None), None)

    def _receive(self, worker: _Worker) -> tuple[int, Outcome]:
        number = worker.job
        assert number is not None
        try:
            message = worker.pipe.recv_bytes()
        except (EOFError, OSError):
            self._drop(worker)
            return number, Died()
        outcome: Outcome = pickle.loads(message)
        if not isinstance(outcome, Told):
            worker.job = None
        return number, outcome

    def _drop(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.pipe.close()
        worker.process.kill()
        worker.process.wait()


def _start_worker() -> _Worker:
    ours, theirs = Pipe()
    words = [sys.executable, "-c", _SCRIPT, str(theirs.fileno()), *sys.path]
    one_thread = os.environ | dict.fromkeys(_POOLS, "1")
    with _interrupts_held():  # a process that is started here never sees one
        process = subprocess.Popen(words, pass_fds=[theirs.fileno()], env=one_thread)
    theirs.close()  # so that ours ends when the process does
    return _Worker(process, ours)


def _send(worker: _Worker, message: bytes) -> bool:
    try:
        worker.pipe.send_bytes(message)
    except OSError:
        return False
    return True


def serve(descriptor: int) -> None:
    """What a worker does until its pipe ends."""
    pipe = Connection(descriptor)
    while True:
        try:
            message = pipe.recv_bytes()
        except EOFError:
            return
        pipe.send_bytes(_outcome_of(message, lambda told: pipe.send_bytes(pickle.dumps(told))))


def _outcome_of(message: bytes, tell: Callable[[Told], None]) -> bytes:
    try:
        job: Job = pickle.loads(message)
        return pickle.dumps(perform(job, job.files, tell))
    except Exception as error:  # what cannot be pickled
        return pickle.dumps(Raised(TypeError(f"{type(error).__name__}: {error}")))


@contextmanager
def _interrupts_held() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
