# SPDX-License-Identifier: Apache-2.0
"""The progress of a command: one bar on stderr for all of it, which never falls."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn
from rich.progress import Progress as Bars
from rich.text import Text

from heapfit.outputs.printable import printable
from heapfit.progress import Progress, ignore_progress, weigh_steps

_LEAST_KNOWN = 0.05  # of the work, before what is left is estimated
_STEP_WIDTH = 36


class _TimeLeft(ProgressColumn):
    """The estimated time that is left, from the whole time so far."""

    def render(self, task: Task) -> Text:
        elapsed, share = task.elapsed, task.completed
        if task.total is None or elapsed is None or share < _LEAST_KNOWN:
            return Text("")
        return Text(f"about {_format_duration(elapsed * (1 - share) / share)} left")


def _format_duration(seconds: float) -> str:
    """A duration as text, in one unit.

    >>> [_format_duration(one) for one in (0.2, 44, 300, 9000)]
    ['1 s', '44 s', '5 min', '2.5 h']
    """
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


@contextmanager
def step_bar() -> Iterator[Progress]:
    """Shows the step and its share, for commands that do not know their share of all work."""
    with _bar(total=None) as show:
        yield show


@contextmanager
def progress_bar(weights: Mapping[str, float] | None = None) -> Iterator[Progress]:
    """Shows the share of all work, for commands that report it with each step.

    With `weights`, steps say how much of themselves is done: the share of all follows from these.
    """
    with _bar(total=1.0) as show:
        yield show if weights is None else weigh_steps(show, weights)


@contextmanager
def _bar(total: float | None) -> Iterator[Progress]:
    """The callback that draws the bar; it does nothing where stderr is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield ignore_progress
        return
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), _TimeLeft())
    highest = 0.0
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=total)

        def show(step: str, done: float) -> None:
            nonlocal highest
            highest = max(highest, done)
            share = done if total is None else highest
            name = escape(printable(step)[:_STEP_WIDTH])
            bars.update(task, description=f"{name} {100 * share:3.0f} %")
            if total is not None:
                bars.update(task, completed=highest)

        yield show
