# SPDX-License-Identifier: Apache-2.0
"""How long work tells how far it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TypeAlias

# Called with a step's name and the share of it that is done, from 0 to 1.
Progress: TypeAlias = Callable[[str, float], None]


def no_progress(step: str, done: float) -> None:
    """For callers who do not watch."""


class WeightedProgress:
    """Work in parts of known weight: what it tells is the share of all of it, and never falls.

    Parts begin in the order of the weights; where one begins, those before it are done. Several
    threads may tell of theirs.

    >>> told = []
    >>> weights = {"read": 1, "search": 3}
    >>> whole = WeightedProgress(lambda step, done: told.append((step, done)), weights)
    >>> whole.part("read")("a file", 0.5)
    >>> search = whole.part("search", steps=3)
    >>> for step in ("left", "right", "middle"):
    ...     search(step, 1.0)
    >>> told
    [('a file', 0.125), ('left', 0.5), ('right', 0.75), ('middle', 1.0)]
    """

    def __init__(self, progress: Progress, weights: Mapping[str, float]) -> None:
        self._progress = progress
        self._weights = weights
        self._highest = 0.0
        self._lock = threading.Lock()

    def part(self, name: str, steps: int | Mapping[str, float] | None = None) -> Progress:
        """What a part tells its progress to.

        `steps`: about how many it has of equal weight, or their weights, which sum to 1; None: it
        tells the share of all of it, whatever the step.
        """
        before = self._before(name)
        weight = self._weights[name] / sum(self._weights.values())
        done: dict[str, float] = {}

        def tell(step: str, share: float) -> None:
            with self._lock:
                done[step] = max(share, done.get(step, 0.0))
                self._tell(step, before + weight * min(_share_of(done, step, steps), 1.0))

        return tell

    def _before(self, name: str) -> float:
        names = list(self._weights)
        earlier = names[: names.index(name)]
        return sum(self._weights[one] for one in earlier) / sum(self._weights.values())

    def _tell(self, step: str, share: float) -> None:
        self._highest = max(self._highest, share)
        self._progress(step, self._highest)


def by_steps(progress: Progress, weights: Mapping[str, float]) -> Progress:
    """What steps of known weight tell, as the share of all; others are named and weigh nothing.

    >>> told = []
    >>> tell = by_steps(lambda step, done: told.append((step, done)), {"read": 1, "search": 3})
    >>> for step in ("read", "look around", "search"):
    ...     tell(step, 1.0)
    >>> told
    [('read', 0.25), ('look around', 0.25), ('search', 1.0)]
    """
    total = sum(weights.values())
    shares = {name: weight / total for name, weight in weights.items()}
    return WeightedProgress(progress, {"all": 1.0}).part("all", shares)


def counted(progress: Progress, step: str, steps: int) -> Progress:
    """So many steps of equal weight, whatever their names, told as one.

    >>> told = []
    >>> tell = counted(lambda step, done: told.append((step, done)), "compare", 2)
    >>> for name in ("compare tlsf", "compare best_fit"):
    ...     tell(name, 1.0)
    >>> told
    [('compare', 0.5), ('compare', 1.0)]
    """
    done: dict[str, float] = {}

    def tell(name: str, share: float) -> None:
        done[name] = max(share, done.get(name, 0.0))
        progress(step, min(_share_of(done, name, steps), 1.0))

    return tell


class Runs:
    """Runs of which more may be needed than was thought: each is a share of what is left.

    >>> told = []
    >>> runs = Runs(lambda step, done: told.append((step, done)), 2)
    >>> runs.done("run 1")
    >>> runs.expect(1)
    >>> runs.done("run 2")
    >>> told
    [('run 1', 0.5), ('run 2', 1.0)]
    """

    def __init__(self, progress: Progress, expected: int) -> None:
        self._progress = progress
        self._left = expected
        self._share = 0.0

    def expect(self, runs: int) -> None:
        """So many are to come yet, as far as is known now."""
        self._left = runs

    def done(self, step: str) -> None:
        """One more has come to its end."""
        self._share += (1 - self._share) / max(self._left, 1)
        self._left -= 1
        self._progress(step, self._share)


def _share_of(
    done: Mapping[str, float], step: str, steps: int | Mapping[str, float] | None
) -> float:
    """Of a part, after all that its steps have told."""
    if steps is None:
        return done[step]
    if isinstance(steps, int):
        return sum(done.values()) / max(steps, 1)
    return sum(share * steps.get(name, 0.0) for name, share in done.items())
