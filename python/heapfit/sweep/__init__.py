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
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, Protocol, Self

from heapfit.errors import HeapfitError
from heapfit.progress import Progress, ignore_progress
from heapfit.sweep.job import Job, WorkerDiedError, perform
from heapfit.sweep.processes import Processes
from heapfit.sweep.threads import R, T

__all__ = ["Job", "Sweep", "usable_cores"]

MOST_DEATHS = 3  # of the workers of one job
_MOST_AT_ONCE = 1024  # jobs, of any cluster
_MOST_HANDLED_HERE = 20_000_000  # events, in the half a second that a process takes to start


def usable_cores() -> int:
    """Processors that this process may use."""
    is_told = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if is_told else os.cpu_count() or 1


class _Workers(Protocol):
    @property
    def count(self) -> int: ...
    def do(self, job: Job, tell: Callable[[float], object], /) -> Any: ...  # noqa: ANN401
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
        self.cluster = cluster
        # A bad address fails at once.
        self._workers = None if cluster is None else self._start_workers()

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
        jobs, results = list(jobs), {}
        shares: dict[int, float] = {}
        done, given = 0.0, _weigh(jobs)

        def tell(number: int, share: float) -> None:
            nonlocal done
            done += _weigh([jobs[number]]) * (share - shares.get(number, 0.0))
            shares[number] = share
            progress(step, min(done / given, 1.0))

        def take(number: int, result: Any) -> None:  # noqa: ANN401 (whatever the work returns)
            nonlocal given
            results[number] = result
            tell(number, 1.0)
            more = list(then(number, result))
            given += _weigh(more)
            jobs.extend(more)

        try:
            if self._is_done_here(jobs):
                for number, job in enumerate(jobs):  # `take` appends more
                    tell(number, 0.0)
                    take(number, perform(job, job.files, partial(tell, number)))
            else:
                self._workers = self._workers or self._start_workers()
                _run_by(self._workers, step, jobs, tell, take)
        except BaseException:
            self.close()  # jobs that nobody waits for any more
            raise
        progress(step, 1.0)
        return [results[number] for number in range(len(jobs))]

    def _is_done_here(self, jobs: Sequence[Job]) -> bool:
        """True if it is this process that does them, one after the other."""
        is_little = len(jobs) <= 1 or (
            self._workers is None and sum(job.events for job in jobs) < _MOST_HANDLED_HERE
        )
        return (self._count == 1 or (self._count is None and is_little)) and self.cluster is None

    def _start_workers(self) -> _Workers:
        if self.cluster is not None:
            return _cluster_at(self.cluster)
        return Processes(self._count or usable_cores())


def _weigh(jobs: Iterable[Job]) -> int:
    """What jobs count in the progress."""
    return sum(max(job.events, 1) for job in jobs)


def _cluster_at(address: str) -> _Workers:
    try:
        from heapfit.sweep.cluster import Cluster  # Dask is an extra that need not be installed
    except ModuleNotFoundError as error:
        raise HeapfitError(f"{address}: a cluster needs Dask: pip install distributed") from error
    return Cluster(address)


def _run_by(
    workers: _Workers,
    step: str,
    jobs: Sequence[Job],
    tell: Callable[[int, float], None],
    take: Callable[[int, Any], None],
) -> None:
    """Does the jobs, to which `take` may append; a thread waits for each that is begun.

    After a failure only the jobs before it count, and as they are begun in order, all of these are.
    """
    said: SimpleQueue[tuple[int, float | Future[Any]]] = SimpleQueue()  # shares, and what is done
    running: set[int] = set()
    failed: dict[int, BaseException] = {}
    begun = 0

    def say(number: int, news: float | Future[Any]) -> None:
        said.put((number, news))

    threads = ThreadPoolExecutor(_MOST_AT_ONCE)
    try:
        while min(running, default=begun) < min(failed, default=len(jobs)):
            while begun < len(jobs) and not failed and len(running) < workers.count:
                job, its = jobs[begun], partial(say, begun)
                threads.submit(_do, workers, step, job, its).add_done_callback(its)
                running.add(begun)
                tell(begun, 0.0)
                begun += 1
            number, news = said.get()
            if not isinstance(news, Future):
                tell(number, news)
                continue
            running.remove(number)
            if error := news.exception():
                failed[number] = error
            else:
                take(number, news.result())
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
    if failed:
        raise failed[min(failed)]


def _do(workers: _Workers, step: str, job: Job, tell: Callable[[float], object]) -> Any:  # noqa: ANN401
    """The result of a job, for which workers may die."""
    for _ in range(MOST_DEATHS):
        with suppress(WorkerDiedError):
            return workers.do(job, tell)
    raise HeapfitError(
        f"{step}: {job.name} killed its worker {MOST_DEATHS} times "
        "(out of memory? try fewer --workers)"
    )
