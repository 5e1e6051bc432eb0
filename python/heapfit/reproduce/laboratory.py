# SPDX-License-Identifier: Apache-2.0
"""What rows share: measurements that are made once, work spread over processes, and effort."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from threading import current_thread, main_thread
from typing import Any, TypeVar

from heapfit.progress import Progress, no_progress

T = TypeVar("T")
R = TypeVar("R")


class Laboratory:
    """Where rows are measured.

    `is_small` asks for few seeds and short runs, as tests do. `workers` is how many processes
    share the work of `map`; 1 does it here.
    """

    def __init__(
        self, is_small: bool = False, workers: int = 1, progress: Progress = no_progress
    ) -> None:
        self.is_small = is_small
        self.workers = workers
        self.progress = progress
        self._made: dict[Callable[..., Any], Any] = {}

    def once(self, measure: Callable[[Laboratory], R]) -> R:
        """What `measure` gives, measured by the first row that asks."""
        if measure not in self._made:
            self._made[measure] = measure(self)
        made: R = self._made[measure]
        return made

    def provide(self, measure: Callable[[Laboratory], R], result: R) -> None:
        """Puts in what was measured elsewhere."""
        self._made[measure] = result

    def map(self, step: str, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """`work` on each item, results in the items' order however many processes there are.

        With several, `work` is a function of a module and items and results can be pickled.
        """
        self.progress(step, 0.0)
        if self.workers <= 1 or len(items) <= 1:
            results = []
            for done, item in enumerate(items, 1):
                results.append(work(item))
                self.progress(step, done / len(items))
            return results
        return self._spread(step, work, items)

    def _spread(self, step: str, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        pool = ProcessPoolExecutor(self.workers, mp_context=get_context("spawn"))
        try:
            with _interrupts_ignored():
                futures = [pool.submit(work, item) for item in items]
            for done, _ in enumerate(as_completed(futures), 1):
                self.progress(step, done / len(items))
            return [future.result() for future in futures]
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """For processes that are started here and inherit it: an interrupt is the parent's to tell.

    One that reaches a process before it could ignore it itself would kill it, and the pool hang.
    """
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
