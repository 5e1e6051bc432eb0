# SPDX-License-Identifier: Apache-2.0
"""Progress callbacks: how work that takes long reports what share of it is done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import takewhile
from time import monotonic
from typing import TypeAlias

# Called with a step's name and the share of it that is done, from 0 to 1.
Progress: TypeAlias = Callable[[str, float], None]


def ignore_progress(step: str, done: float) -> None:
    """The callback of callers who do not watch: it does nothing."""


_TRUST = 0.2  # so large a share of what is foretold counts as much as what was measured
_LITTLE = 0.1  # seconds: foretold where nothing is known of them


@dataclass(slots=True)
class _Part:
    """A part of some work. In seconds."""

    foretold: float
    spent: float = 0.0
    done: float = 0.0  # share of it

    def left(self, pace: float) -> float:
        """What is left, by what was spent so far; `pace`: seconds for one that was foretold."""
        whole = (self.spent + _TRUST * pace * self.foretold) / (self.done + _TRUST)
        return (1 - self.done) * whole


class WeightedProgress:
    """Progress of work in parts that take about so many seconds; the share is one of the time.

    Where parts take longer than foretold, the others are expected to do so, too, and the share
    rises more slowly. It never falls, and rises only when a part reports. Parts begin in the order
    in which they are named; where one begins, those before it are done. Several threads may report.

    >>> log, clock = [], iter([0, 1, 4, 6, 8])
    >>> foretold = {"read": 2, "search": 6}
    >>> whole = WeightedProgress(lambda *told: log.append(told), foretold, lambda: next(clock))
    >>> whole.part("read")("a file", 0.5)
    >>> search = whole.part("search", steps=3)
    >>> for step in ("left", "right", "middle"):
    ...     search(step, 1.0)
    >>> [(step, round(done, 2)) for step, done in log]
    [('a file', 0.12), ('left', 0.44), ('right', 0.72), ('middle', 1.0)]
    """

    def __init__(
        self,
        progress: Progress,
        foretold: Mapping[str, float],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._progress = progress
        self._clock = clock
        self._began = self._last = clock()
        self._share = 0.0
        self._parts = {name: _Part(seconds) for name, seconds in foretold.items()}
        self._at: _Part | None = None  # reported last, of those that are not done beside others
        self._lock = threading.Lock()

    def foretell(self, foretold: Mapping[str, float]) -> None:
        """Sets the seconds of parts anew, once more is known of the work."""
        for name, seconds in foretold.items():
            self._parts.setdefault(name, _Part(0.0)).foretold = seconds

    def part(self, name: str, steps: int | Mapping[str, float] | None = None) -> Progress:
        """The progress callback of a part, which begins anew if it was done; 0 s if not foretold.

        `steps`: about how many it has of equal weight, or their weights, which sum to 1; None: it
        reports the share of all of it, whatever the step.
        """
        part = self._parts.setdefault(name, _Part(0.0))
        part.spent = part.done = 0.0
        done: dict[str, float] = {}

        def report(step: str, share: float) -> None:
            with self._lock:
                done[step] = max(share, done.get(step, 0.0))
                part.done = max(part.done, min(_share_of(done, step, steps), 1.0))
                for before in takewhile(lambda one: one is not part, self._parts.values()):
                    before.done = 1.0
                self._at = part
                self._report(step)

        return report

    def part_beside(self, name: str) -> Progress:
        """The progress callback of a part that is done beside the others and named last.

        It reports the share of it; its seconds are those by which it delays the whole.
        """
        part = self._parts.setdefault(name, _Part(0.0))

        def report(step: str, share: float) -> None:
            with self._lock:
                part.done = max(part.done, share)
                part.spent = part.done * part.foretold  # the clock counts for the others
                self._report(step)

        return report

    def _report(self, step: str) -> None:
        now = self._clock()
        took, self._last = now - self._last, now
        if self._at is not None:
            self._at.spent += took
        pace = self._pace()
        left = sum(part.left(pace) for part in self._parts.values())
        passed = now - self._began
        if left > 0:
            slowly = self._share + (1 - self._share) * took / (took + left)
            self._share = max(passed / (passed + left), slowly)
        else:
            self._share = 1.0
        self._progress(step, self._share)

    def _pace(self) -> float:
        """The seconds that one foretold takes, by what was done; some is done as was foretold."""
        begun = [part for part in self._parts.values() if part.spent]
        trusted = _TRUST * sum(part.foretold for part in self._parts.values()) or 1.0
        spent = sum(part.spent for part in begun)
        return (spent + trusted) / (sum(part.done * part.foretold for part in begun) + trusted)


def weigh_steps(progress: Progress, weights: Mapping[str, float]) -> Progress:
    """A callback that weighs steps by name, in the order in which they begin; others weigh 0."""
    unit = _LITTLE / sum(weights.values())
    whole = WeightedProgress(progress, {name: unit * one for name, one in weights.items()})
    parts = {name: whole.part(name) for name in weights}

    def report(step: str, share: float) -> None:
        parts.setdefault(step, whole.part_beside(step))(step, share)

    return report


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


def _share_of(
    done: Mapping[str, float], step: str, steps: int | Mapping[str, float] | None
) -> float:
    """The share of a part that is done, by the shares of its steps."""
    if steps is None:
        return done[step]
    if isinstance(steps, int):
        return sum(done.values()) / max(steps, 1)
    return sum(share * steps.get(name, 0.0) for name, share in done.items())
