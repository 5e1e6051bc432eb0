# SPDX-License-Identifier: Apache-2.0
"""One piece of a sweep: what a worker gets, and what becomes of it."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

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


@dataclass(frozen=True, slots=True)
class Done:
    """What the work returned."""

    value: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """The work ended in an error, which ends the sweep."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Died:
    """The worker went away, as when memory runs out. Not a word from the work itself."""


@dataclass(frozen=True, slots=True)
class Told:
    """The work goes on."""

    share: float  # of it that is done


Outcome: TypeAlias = Done | Raised | Died | Told


def perform(
    job: Job, paths: Sequence[Path], tell: Callable[[Told], None] = lambda _: None
) -> Done | Raised:
    """Does a job, with its files at these paths; a fault of ours is handed over with its place."""
    try:
        if job.tells:
            return Done(job.work(job.argument, *paths, progress=lambda _, one: tell(Told(one))))
        return Done(job.work(job.argument, *paths))
    except HeapfitError as error:
        return Raised(error)
    except Exception as error:
        error.add_note(f"in {job.name}:\n{traceback.format_exc()}")
        return Raised(error)
