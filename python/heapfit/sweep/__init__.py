# SPDX-License-Identifier: Apache-2.0
"""Many independent jobs, done by workers: processes of this machine, or a Dask cluster.

    jobs 0 1 2 3 4 5 ...  ->  workers  ->  results 0 1 2 3 4 5 ...

A job is a pure function with its argument, so its result is the same wherever it is done, and
results have the order of the jobs: any number of workers gives the same, bit for bit. A job takes
one thread, so that as many workers as cores are as many threads. A worker that dies costs a retry
of its job. A job that kills its worker again and again ends the sweep.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, Self, TypeVar

from heapfit.errors import HeapfitError
from heapfit.progress import Progress, ignore_progress
from heapfit.sweep.job import Died, Done, Job, Outcome, Raised, Told, perform
from heapfit.sweep.processes import Processes

__all__ = ["Job", "Sweep", "usable_cores"]

T = TypeVar("T")
R = TypeVar("R")

MOST_DEATHS = 3  # of the workers of one job
_MOST_HANDLED_HERE = 20_000_000  # events, in the half a second that a process takes to start


def usable_cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


class _Workers(Protocol):
    tells_who_died: bool

    def has_room(self) -> bool: ...
    def start(self, number: int, job: Job) -> None: ...
    def wait(self) -> list[tuple[int, Outcome]]: ...
    def close(self) -> None: ...


class Sweep:
    """Where jobs are done; a context that ends the workers.

    `workers` is how many processes do them; 1 does them in this process; None, the standard, takes
    one for each core, or this process where there is little to do. `cluster` is the address of a
    Dask scheduler, which is used instead.

    >>> with Sweep(workers=1) as sweep:
    ...     sweep.map("negate", abs, [-1, 2, -3])
    [1, 2, 3]
    """

    def __init__(self, workers: int | None = None, cluster: str | None = None) -> None:
        self._count = workers
        self._cluster = cluster
        self._workers = (
            None if cluster is None else self._start_workers()
        )  # a bad address fails at once

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the workers."""
        if self._workers is not None:
            self._workers.close()
            self._workers = None

    @property
    def threads(self) -> int:
        """How many this process may use itself, between jobs."""
        return self._count or usable_cores()

    @property
    def is_on_this_machine(self) -> bool:
        """True if jobs find the folders that this process does."""
        return self._cluster is None

    def map(
        self,
        step: str,
        work: Callable[[T], R],
        arguments: Sequence[T],
        progress: Progress = ignore_progress,
    ) -> list[R]:
        """`work` of each argument, in their order; however little there is to do, by workers."""
        jobs = [
            Job(f"{step} {i}", work, argument, events=_MOST_HANDLED_HERE)
            for i, argument in enumerate(arguments, 1)
        ]
        return self.run(step, jobs, progress)

    def run(
        self,
        step: str,
        jobs: Sequence[Job],
        progress: Progress = ignore_progress,
        then: Callable[[int, Any], Iterable[Job]] = lambda _number, _result: (),
    ) -> list[Any]:
        """The results of the jobs, in their order.

        `then` gets each result with the number of its job, as they come, and returns jobs to
        append. What the first of the jobs that fail raises is raised here.
        """
        round_ = _Round(step, list(jobs), deque(range(len(jobs))))

        def tell(number: int, told: Told) -> None:
            round_.told[number] = told.share
            progress(step, round_.share())

        workers = self._workers_for(jobs, tell)
        try:
            while round_.is_on():
                round_.start(workers)
                progress(step, round_.share())
                for number in round_.wait(workers):
                    round_.append(then(number, round_.results[number]))
            round_.raise_first()
        except BaseException:
            self.close()  # jobs that nobody waits for any more
            raise
        progress(step, 1.0)
        return [round_.results[number] for number in range(len(round_.jobs))]

    def _workers_for(self, jobs: Sequence[Job], tell: Callable[[int, Told], None]) -> _Workers:
        is_little = len(jobs) <= 1 or (
            self._workers is None and sum(job.events for job in jobs) < _MOST_HANDLED_HERE
        )
        is_here = self._count == 1 or (self._count is None and is_little)
        if is_here and self._cluster is None:
            return _Here(tell)
        if self._workers is None:
            self._workers = self._start_workers()
        return self._workers

    def _start_workers(self) -> _Workers:
        if self._cluster is not None:
            return _cluster_at(self._cluster)
        return Processes(self._count or usable_cores())


def _cluster_at(address: str) -> _Workers:
    try:
        from heapfit.sweep.cluster import Cluster  # Dask is an extra that need not be installed
    except ModuleNotFoundError as error:
        raise HeapfitError(
            f"{address}: a cluster needs Dask: pip install 'heapfit[dask]'"
        ) from error
    return Cluster(address)


@dataclass(slots=True)
class _Round:
    """The jobs of one `run`, and what has become of them."""

    step: str
    jobs: list[Job]
    waiting: deque[int]
    running: set[int] = field(default_factory=set)
    suspects: deque[int] = field(default_factory=deque)  # run alone, to see which one it is
    deaths: Counter[int] = field(default_factory=Counter)
    failed: dict[int, Exception] = field(default_factory=dict)
    results: dict[int, Any] = field(default_factory=dict)
    told: dict[int, float] = field(default_factory=dict)  # shares of jobs that go on

    def is_on(self) -> bool:
        """True while a job that counts is left: after a failure, only the jobs before it do."""
        if not self.failed:
            return bool(self.running or self.waiting or self.suspects)
        first = min(self.failed)
        self.waiting = deque(number for number in self.waiting if number < first)
        self.suspects = deque(number for number in self.suspects if number < first)
        return any(number < first for number in [*self.running, *self.waiting, *self.suspects])

    def share(self) -> float:
        """Share of the work, by events, that is done."""
        shares = self.told | dict.fromkeys(self.results, 1.0)
        done = sum(max(self.jobs[number].events, 1) * share for number, share in shares.items())
        return done / max(sum(max(job.events, 1) for job in self.jobs), 1)

    def start(self, workers: _Workers) -> None:
        """Fills the workers."""
        while self.waiting and workers.has_room():
            self._start(self.waiting.popleft(), workers)
        if self.suspects and not self.running:
            self._start(self.suspects.popleft(), workers)

    def wait(self, workers: _Workers) -> list[int]:
        """The jobs that have come to a result."""
        return [
            number
            for number, outcome in workers.wait()
            if self._take(number, outcome, workers.tells_who_died)
        ]

    def _take(self, number: int, outcome: Outcome, tells_who_died: bool) -> bool:
        if isinstance(outcome, Told):
            self.told[number] = outcome.share
            return False
        self.running.remove(number)
        match outcome:
            case Done(value):
                self.results[number] = value
            case Raised(error):
                self.failed[number] = error
            case Died():
                self._retry(number, tells_who_died)
        return number in self.results

    def append(self, jobs: Iterable[Job]) -> None:
        """More to do."""
        for job in jobs:
            self.waiting.append(len(self.jobs))
            self.jobs.append(job)

    def raise_first(self) -> None:
        """What the first of the failed jobs raised."""
        if self.failed:
            raise self.failed[min(self.failed)]

    def _start(self, number: int, workers: _Workers) -> None:
        self.running.add(number)
        workers.start(number, self.jobs[number])

    def _retry(self, number: int, tells_who_died: bool) -> None:
        """Another try; where others may be to blame, alone, after Dask has tried several times."""
        self.deaths[number] += 1
        if self.deaths[number] >= (MOST_DEATHS if tells_who_died else 2):
            how = f"{MOST_DEATHS} times" if tells_who_died else "again and again, alone at last"
            self.failed[number] = HeapfitError(
                f"{self.step}: {self.jobs[number].name} killed its worker {how} "
                "(out of memory? try fewer --workers)"
            )
        elif tells_who_died:
            self.waiting.appendleft(number)
        else:
            self.suspects.append(number)


class _Here:
    """Workers that are this process, one job at a time."""

    tells_who_died = True

    def __init__(self, tell: Callable[[int, Told], None]) -> None:
        self._tell = tell
        self._job: tuple[int, Job] | None = None

    def has_room(self) -> bool:
        return self._job is None

    def start(self, number: int, job: Job) -> None:
        self._job = number, job

    def wait(self) -> list[tuple[int, Outcome]]:
        assert self._job is not None
        (number, job), self._job = self._job, None
        return [(number, perform(job, job.files, partial(self._tell, number)))]

    def close(self) -> None:
        self._job = None
