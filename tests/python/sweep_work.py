# SPDX-License-Identifier: Apache-2.0
"""What workers do in the tests of sweeps, in a module of its own so that they can import it."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from heapfit.errors import HeapfitError


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
