# SPDX-License-Identifier: Apache-2.0
"""Progress callbacks: how work that takes long reports what share of it is done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TypeAlias

# Called with a step's name and the share of it that is done, from 0 to 1.
Progress: TypeAlias = Callable[[str, float], None]


def ignore_progress(step: str, done: float) -> None:
    """The callback of callers who do not watch: it does nothing."""


class WeightedProgress:
    """Progress of work in parts of known weight; the reported share is of all and never falls.

    Parts begin in the order of the weights; where one begins, those before it are done. What is
    done beside them comes last in that order. Several threads may report their parts.

    >>> log = []
    >>> weights = {"read": 1, "search": 3}
    >>> whole = WeightedProgress(lambda step, done: log.append((step, done)), weights)
    >>> whole.part("read")("a file", 0.5)
    >>> search = whole.part("search", steps=3)
    >>> for step in ("left", "right", "middle"):
    ...     search(step, 1.0)
    >>> log
    [('a file', 0.125), ('left', 0.5), ('right', 0.75), ('middle', 1.0)]
    """

    def __init__(self, progress: Progress, weights: Mapping[str, float]) -> None:
        self._progress = progress
        self._weights = weights
        self._highest = 0.0
        self._beside: dict[str, float] = {}  # what is done of parts beside the others
        self._place = 0.0  # what is done of these
        self._lock = threading.Lock()

    def part(self, name: str, steps: int | Mapping[str, float] | None = None) -> Progress:
        """The progress callback of a part.

        `steps`: about how many it has of equal weight, or their weights, which sum to 1; None: it
        reports the share of all of it, whatever the step.
        """
        done: dict[str, float] = {}

        def report(step: str, share: float) -> None:
            with self._lock:
                done[step] = max(share, done.get(step, 0.0))
                part = self._weights[name] * min(_share_of(done, step, steps), 1.0)
                self._place = self._weight_before(name) + part
                self._report(step)

        return report

    def part_beside(self, name: str) -> Progress:
        """The progress callback of a part done beside the others; it reports the share of it.

        >>> log = []
        >>> weights = {"read": 1, "search": 1, "compile": 2}
        >>> whole = WeightedProgress(lambda step, done: log.append(done), weights)
        >>> compile, search = whole.part_beside("compile"), whole.part("search")
        >>> compile("a file", 0.5)
        >>> search("left", 1.0)
        >>> compile("all", 1.0)
        >>> log
        [0.25, 0.75, 1.0]
        """

        def report(step: str, share: float) -> None:
            with self._lock:
                self._beside[name] = share
                self._report(step)

        return report

    def reweigh(self, weights: Mapping[str, float]) -> None:
        """Sets the weights of the parts anew, once more is known of the work."""
        self._weights = weights

    def _weight_before(self, name: str) -> float:
        names = list(self._weights)
        return sum(self._weights[one] for one in names[: names.index(name)])

    def _report(self, step: str) -> None:
        beside = sum(self._weights[name] * share for name, share in self._beside.items())
        share = (self._place + beside) / sum(self._weights.values())
        self._highest = min(max(self._highest, share), 1.0)
        self._progress(step, self._highest)


def weigh_steps(progress: Progress, weights: Mapping[str, float]) -> Progress:
    """A callback that weighs steps by name; steps without a weight are reported and weigh 0.

    >>> log = []
    >>> report = weigh_steps(lambda step, done: log.append((step, done)), {"read": 1, "search": 3})
    >>> for step in ("read", "look around", "search"):
    ...     report(step, 1.0)
    >>> log
    [('read', 0.25), ('look around', 0.25), ('search', 1.0)]
    """
    total = sum(weights.values())
    shares = {name: weight / total for name, weight in weights.items()}
    return WeightedProgress(progress, {"all": 1.0}).part("all", shares)


def count_steps(progress: Progress, step: str, steps: int) -> Progress:
    """A callback that reports `steps` steps of equal weight, whatever their names, as one step.

    >>> log = []
    >>> report = count_steps(lambda step, done: log.append((step, done)), "compare", 2)
    >>> for name in ("compare tlsf", "compare best_fit"):
    ...     report(name, 1.0)
    >>> log
    [('compare', 0.5), ('compare', 1.0)]
    """
    done: dict[str, float] = {}

    def report(name: str, share: float) -> None:
        done[name] = max(share, done.get(name, 0.0))
        progress(step, min(_share_of(done, name, steps), 1.0))

    return report


class RunProgress:
    """Progress of runs of which more may turn out to be needed; each takes a share of the rest.

    >>> log = []
    >>> runs = RunProgress(lambda step, done: log.append((step, done)), 2)
    >>> runs.done("run 1")
    >>> runs.expect(1)
    >>> runs.done("run 2")
    >>> log
    [('run 1', 0.5), ('run 2', 1.0)]
    """

    def __init__(self, progress: Progress, expected: int) -> None:
        self._progress = progress
        self._left = expected
        self._share = 0.0

    def expect(self, runs: int) -> None:
        """Sets how many runs are still to come, as far as is known now."""
        self._left = runs

    def done(self, step: str) -> None:
        """Reports that one more run has ended."""
        self._share += (1 - self._share) / max(self._left, 1)
        self._left -= 1
        self._progress(step, self._share)


def _share_of(
    done: Mapping[str, float], step: str, steps: int | Mapping[str, float] | None
) -> float:
    """The share of a part that is done, by the shares of its steps."""
    if steps is None:
        return done[step]
    if isinstance(steps, int):
        return sum(done.values()) / max(steps, 1)
    return sum(share * steps.get(name, 0.0) for name, share in done.items())
