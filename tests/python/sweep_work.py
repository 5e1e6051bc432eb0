# SPDX-License-Identifier: Apache-2.0
"""What workers do in the tests of sweeps, in a module of its own so that they can import it."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from heapfit.comparison.comparison import compare
from heapfit.comparison.measuring import EXACT
from heapfit.design.portfolio import build_portfolio
from heapfit.errors import HeapfitError
from heapfit.progress import Progress
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace


def busy_threads(name: str, path: Path) -> int:
    """Of this process at most while a job of `compare` searches a plan on a trace; watchers apart.

    A search has one thread that waits for those that replay.
    """
    begun, watching, seen = threading.Event(), threading.Event(), [0]

    def watch() -> None:
        before = _threads()
        begun.set()
        while not watching.wait(0.001):
            seen[0] = max(seen[0], _threads() - before)

    loaded = load_trace(Trace.open(path))
    portfolio = build_portfolio(loaded, [name], [])
    watcher = threading.Thread(target=watch)
    watcher.start()
    begun.wait()
    for _ in range(50):  # the watcher may sleep through one on a busy machine
        compared = compare(loaded, portfolio, precision=EXACT, may_be_empty=True)
        if seen[0]:
            break
    watching.set()
    watcher.join()
    assert compared.rows
    return seen[0]


def pool_of_arrow(_: int) -> int:
    return pa.cpu_count()


def _threads() -> int:
    return sum(1 for _ in Path("/proc/self/task").iterdir())


def square(number: int) -> int:
    """The first are done last."""
    time.sleep(0.02 / (number + 1))
    return number * number


def refuse_odd(number: int) -> int:
    if number % 2:
        time.sleep(0.1 / number)
        raise HeapfitError(f"{number} is odd")
    return number


def die_at_first(told: tuple[Path, int]) -> int:
    """Kills its worker as often as asked, and counts that in a folder."""
    folder, times = told
    deaths = len(list(folder.iterdir()))
    if deaths < times:
        (folder / str(deaths)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return deaths


def text_of(ending: str, path: Path) -> str:
    return path.read_text() + ending


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def process(_: int) -> int:
    time.sleep(0.2)
    return os.getpid()


def generator(number: int) -> Iterator[int]:
    """What cannot be pickled."""
    yield number


def tell_half(value: int, progress: Progress) -> int:
    progress("half", 0.5)
    return value


def children() -> set[int]:
    """Workers that this process has started and that are there."""
    listed = [read_there(one) for one in Path("/proc/self/task").glob("*/children")]
    started = {int(number) for line in listed for number in line.split()}
    return {one for one in started if b"sweep" in read_there(Path(f"/proc/{one}/cmdline"))}


def read_there(path: Path) -> bytes:
    """A file of /proc; nothing of what has ended meanwhile."""
    with suppress(OSError):
        return path.read_bytes()
    return b""
