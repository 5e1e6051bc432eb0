# SPDX-License-Identifier: Apache-2.0
"""`python -m heapfit` is `heapfit`: Ctrl-C is one line and status 130 while it is loaded, too."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module

import heapfit

_INTERRUPTED = 130


def run() -> None:
    """Loads the program, runs it on the process's arguments and exits."""
    with _handle_interrupt():
        if sys.argv[1:] == ["--version"] and _print_version():
            return
        program = import_module("heapfit.cli.main")  # which loads what reads the arguments
    try:
        program.run()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said and written
        # An interrupt within exec of a text, which is how dataclasses are made, would end Python by
        # the signal, although it was caught; a text that runs to its end makes it forget that.
        exec("")


def _print_version() -> bool:
    """Prints the version with nothing loaded; False where the program is to say what went wrong."""
    with suppress(OSError):
        print(f"heapfit {heapfit.__version__}", flush=True)
        return sys.stdout is not None
    return False


@contextmanager
def _handle_interrupt() -> Iterator[None]:
    """Makes Ctrl-C end the process at once, unless whoever started it ignores the signal."""
    before = signal.getsignal(signal.SIGINT)
    if before == signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(_number: int, _frame: object) -> None:
    os.write(2, b"heapfit: interrupted; nothing was written\n")
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    run()
