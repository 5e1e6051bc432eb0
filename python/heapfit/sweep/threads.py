# SPDX-License-Identifier: Apache-2.0
"""Work of one command beside each other, in threads of its own process.

Worth it where most of the time is the engine's, a compiler's or zlib's: these let other threads
run. What needs Python's interpreter takes turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def map_in_threads(count: int, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """The results in their items' order, by so many threads; an error is raised in its place.

    >>> list(map_in_threads(2, abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    if count == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(count) as threads:
        yield from threads.map(work, items)  # ends with those that are begun


@contextmanager
def run_beside_body(count: int, work: Callable[[], R]) -> Iterator[Callable[[], R]]:
    """`work` is done while the body is, where there are two threads; gives what waits for it.

    Done with the body's end, whatever ends it; of two errors the body's is raised.
    """
    if count == 1:
        yield work
        return
    with ThreadPoolExecutor(1) as thread:
        done: Future[R] = thread.submit(work)
        yield done.result
