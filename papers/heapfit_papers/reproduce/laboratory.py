# SPDX-License-Identifier: Apache-2.0
"""What rows share: measurements that are made once, work spread over workers, and effort."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from heapfit.progress import Progress, ignore_progress
from heapfit.sweep import Sweep

T = TypeVar("T")
R = TypeVar("R")


class Laboratory:
    """Where rows are measured.

    `is_small` asks for few seeds and short runs, as tests do. `sweep` is who does the work of
    `map`; without any it is done here.
    """

    def __init__(
        self,
        is_small: bool = False,
        sweep: Sweep | None = None,
        progress: Progress = ignore_progress,
    ) -> None:
        self.is_small = is_small
        self.sweep = sweep or Sweep(workers=1)
        self.progress = progress
        self._made: dict[Callable[..., Any], Any] = {}

    def measure_once(self, measure: Callable[[Laboratory], R]) -> R:
        """What `measure` gives, measured by the first row that asks."""
        if measure not in self._made:
            self._made[measure] = measure(self)
        made: R = self._made[measure]
        return made

    def provide(self, measure: Callable[[Laboratory], R], result: R) -> None:
        """Puts in what was measured elsewhere."""
        self._made[measure] = result

    def map(self, step: str, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """`work` on each item, results in the items' order whoever does it.

        `work` is a function of a module, and items and results can be pickled.
        """
        return self.sweep.map(step, work, items, self.progress)
