# SPDX-License-Identifier: Apache-2.0
"""Worker processes on this machine.

    thread ==pipe== worker (one job)
    thread ==pipe== worker (one job)      a pipe that closes tells whose job has died

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
from multiprocessing.connection import Connection, Pipe
from typing import Any, Final

from heapfit.errors import HeapfitError
from heapfit.sweep.job import Job, WorkerDiedError, perform

# What a worker runs: it imports what this process could, and serves the pipe it inherits.
_SCRIPT: Final = """\
import sys
sys.path[:] = sys.argv[2:]
from heapfit.sweep.processes import serve
serve(int(sys.argv[1]))
"""
# Where libraries read how many threads they may start: Arrow, and those under numpy.
_POOLS: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_TOLD, _DONE, _RAISED = range(3)  # what a worker says of its job


class Processes:
    """At most so many processes, started as they are needed by the threads that wait for them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._lock = threading.Lock()  # none is started once they are ended
        self._started: list[subprocess.Popen[bytes]] = []
        self._idle: list[tuple[subprocess.Popen[bytes], Connection]] = []
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
        process, pipe = self._take_worker()
        try:
            pipe.send_bytes(message)
            while (answer := pickle.loads(pipe.recv_bytes()))[0] == _TOLD:
                tell(answer[1])
        except (EOFError, OSError) as error:
            process.kill()
            process.wait()
            raise WorkerDiedError from error
        self._idle.append((process, pipe))
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

    def _take_worker(self) -> tuple[subprocess.Popen[bytes], Connection]:
        with self._lock:
            if self._is_closed:
                raise CancelledError
            if self._idle:
                return self._idle.pop()
            ours, theirs = Pipe()
            words = [sys.executable, "-c", _SCRIPT, str(theirs.fileno()), *sys.path]
            one_thread = os.environ | dict.fromkeys(_POOLS, "1")
            # This thread never sees a Ctrl-C, and what it starts inherits that.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            process = subprocess.Popen(words, pass_fds=[theirs.fileno()], env=one_thread)
            theirs.close()  # so that ours ends when the process does
            self._started.append(process)
        return process, ours


def serve(descriptor: int) -> None:
    """What a worker does until its pipe ends."""
    pipe = Connection(descriptor)
    while True:
        try:
            message = pipe.recv_bytes()
        except EOFError:
            return
        pipe.send_bytes(_answer(message, lambda share: pipe.send((_TOLD, share))))


def _answer(message: bytes, tell: Callable[[float], object]) -> bytes:
    try:
        job: Job = pickle.loads(message)
        return pickle.dumps((_DONE, perform(job, job.files, tell)))
    except Exception as error:
        try:
            return pickle.dumps((_RAISED, error))
        except Exception:  # it cannot be pickled itself
            return pickle.dumps((_RAISED, TypeError(f"{type(error).__name__}: {error}")))
