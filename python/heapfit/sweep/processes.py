# SPDX-License-Identifier: Apache-2.0
"""Worker processes on this machine.

    thread ==pipes== worker (one job)
    thread ==pipes== worker (one job)     a pipe that closes tells whose job has died

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
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, Final

from heapfit.errors import HeapfitError
from heapfit.sweep.job import Job, WorkerDiedError, perform

# What a worker runs: it imports what this process could, and serves its standard input and output.
_SCRIPT: Final = """\
import sys
sys.path[:] = sys.argv[1:]
from heapfit.sweep.processes import serve
serve()
"""
# Where libraries read how many threads they may start: Arrow, and those under numpy.
_POOLS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_TOLD, _DONE, _RAISED = range(3)  # what a worker says of its job


class Processes:
    """Some processes, at most so many, started when a thread needs one and waits for it."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._lock = threading.Lock()  # none is started once they are ended
        self._started: list[subprocess.Popen[bytes]] = []
        self._idle: list[subprocess.Popen[bytes]] = []
        self._is_closed = False

    def do(self, job: Job, tell: Callable[[float], object]) -> Any:  # noqa: ANN401 (the work's)
        """The result of a job; WorkerDiedError if its worker goes away.

        HeapfitError if no worker could import its function.
        """
        if job.work.__module__ == "__main__":
            raise HeapfitError(
                f"{job.name}: its function is one of the script itself, which workers do not run "
                "(put it into a module, or use workers=1)"
            )
        message = pickle.dumps(job)
        process = self._take_worker()
        jobs, answers = process.stdin, process.stdout
        assert jobs and answers
        try:
            pickle.dump(message, jobs)
            jobs.flush()
            while (answer := pickle.loads(pickle.load(answers)))[0] == _TOLD:
                tell(answer[1])
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            _end(process)
            raise WorkerDiedError from error
        self._idle.append(process)
        if answer[0] == _RAISED:
            raise answer[1]
        return answer[1]

    def close(self) -> None:
        """Ends all of them, at once."""
        with self._lock:
            self._is_closed = True
        for process in self._started:
            process.kill()
            process.wait()
        for process in self._idle:
            _end(process)

    def _take_worker(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._is_closed:
                raise CancelledError
            if self._idle:
                return self._idle.pop()
            one_thread = os.environ | dict.fromkeys(_POOLS, "1")
            if hasattr(signal, "pthread_sigmask"):
                # This thread never sees a Ctrl-C, and what it starts inherits that.
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            process = subprocess.Popen(
                [sys.executable, "-c", _SCRIPT, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=one_thread,
                # Windows has no masks: a Ctrl-C reaches one's own group.
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
            self._started.append(process)
        return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with suppress(OSError), process:
        pass  # its pipes are closed


def serve() -> None:
    """What a worker does until its input ends; what it prints goes to stderr."""
    jobs, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # of what it starts
    os.dup2(2, 1)

    def say(answer: bytes) -> None:
        pickle.dump(answer, answers)
        answers.flush()

    while True:
        try:
            message = pickle.load(jobs)
        except EOFError:
            return
        say(_answer(message, lambda share: say(pickle.dumps((_TOLD, share)))))


def _answer(message: bytes, tell: Callable[[float], object]) -> bytes:
    try:
        job: Job = pickle.loads(message)
        return pickle.dumps((_DONE, perform(job, job.files, tell)))
    except Exception as error:
        try:
            return pickle.dumps((_RAISED, error))
        except Exception:  # it cannot be pickled itself
            return pickle.dumps((_RAISED, TypeError(f"{type(error).__name__}: {error}")))
