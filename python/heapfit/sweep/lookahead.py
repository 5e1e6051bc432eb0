# SPDX-License-Identifier: Apache-2.0
"""Work that is likely to be asked for next, done by other threads meanwhile.

A search tries one plan after the other, and most of them gain nothing, so that the next ones are
known before. Where one gains something, those that were begun for nothing are left.

    asked for   1     2     3     4*    5'    6'        * gains: 5 and 6 are others then
    thread A    1---- 3----- 5--- 5'---
    thread B    2-----  4----  6--- 6'---

What is begun counts only when it is asked for: results, and what they took, are those of one
thread. Worth it where a replay takes longer than to hand it over.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Generic, TypeVar

from heapfit.sweep.threads import R, T

K = TypeVar("K")


class Ahead(Generic[K, R]):
    """Work under keys, by so many threads; one thread does it when it is asked for."""

    def __init__(self, threads: int) -> None:
        # How many that come next are worth telling: some are shorter than others.
        self.following = 2 * threads - 1 if threads > 1 else 0
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._begun: dict[K, Future[R]] = {}

    def expect(self, works: Mapping[K, Callable[[], R]]) -> None:
        """Announces what is asked for next, in this order; other work is cancelled."""
        if self._pool is None:
            return
        for key in self._begun.keys() - works.keys():
            self._begun.pop(key).cancel()
        for key, work in works.items():
            if key not in self._begun:
                self._begun[key] = self._pool.submit(work)

    def result(self, key: K, work: Callable[[], R]) -> R:
        """The result of what was begun under this key, else of `work`, done now."""
        begun = self._begun.pop(key, None)
        return work() if begun is None else begun.result()

    def close(self) -> None:
        """Ends the threads, behind what they are at."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def with_following(items: Iterable[T], count: int) -> Iterator[list[T]]:
    """Each item with as many as there are of the `count` that follow it.

    >>> list(with_following("abc", 1))
    [['a', 'b'], ['b', 'c'], ['c']]
    """
    left = iter(items)
    window = deque(islice(left, count + 1))
    while window:
        yield list(window)
        window.popleft()
        window.extend(islice(left, 1))
