# SPDX-License-Identifier: Apache-2.0
"""One piece of a sweep: what a worker gets, and how it does it."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heapfit.errors import HeapfitError


@dataclass(frozen=True, slots=True)
class Job:
    """A pure function of a module, with its argument and the files it reads.

    It is called as `work(argument, *paths)`: on another machine the files lie elsewhere. One that
    `tells` takes a progress callback, too, as `progress`.
    """

    name: str  # for people, should it fail
    work: Callable[..., Any]
    argument: Any  # can be pickled, as what `work` returns
    files: tuple[Path, ...] = ()
    events: int = 0  # how many it handles, roughly: tells whether starting a process pays
    tells: bool = False


class WorkerDiedError(Exception):
    """The worker went away, as when memory runs out. Not a word from the work itself."""


def perform(
    job: Job, paths: Sequence[Path], tell: Callable[[float], object] = lambda _: None
) -> Any:  # noqa: ANN401 (whatever the work returns)
    """Does a job, with its files at these paths; `tell` gets the share that is done.

    A fault of ours is raised with its place.
    """
    told = {"progress": lambda _, share: tell(share)} if job.tells else {}
    try:
        return job.work(job.argument, *paths, **told)
    except HeapfitError:
        raise
    except Exception as error:
        error.add_note(f"in {job.name}:\n{traceback.format_exc()}")
        raise
