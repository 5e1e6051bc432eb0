# SPDX-License-Identifier: Apache-2.0
"""How far a command is: bars on stderr, one for each step that is not done."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress as Bars
from rich.progress import TaskID

from heapfit.cli.printing.console import printable
from heapfit.progress import Progress, no_progress


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """What library functions tell their progress to; silent where stderr is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield no_progress
        return
    steps: dict[str, TaskID] = {}
    with Bars(console=Console(stderr=True), transient=True) as bars:

        def show(step: str, done: float) -> None:
            if done >= 1.0:
                if step in steps:
                    bars.remove_task(steps.pop(step))
                return
            if step not in steps:
                steps[step] = bars.add_task(escape(printable(step)), total=1.0)
            bars.update(steps[step], completed=done)

        yield show
