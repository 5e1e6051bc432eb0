# SPDX-License-Identifier: Apache-2.0
"""Prints single lines: of the result on stdout, everything else on stderr.

It imports little, so that help and errors are quick.
"""

from __future__ import annotations

import contextlib
import sys

from heapfit.outputs.printable import printable


def print_line(text: str) -> None:
    """Prints a line of the result."""
    print(printable(text))


def note(text: str) -> None:
    """Prints a line on stderr, which is lost where that is closed or full."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(printable(text), file=sys.stderr, flush=True)


def fail(text: str) -> None:
    """Prints the one line of a failure."""
    note(f"heapfit: {text}")
