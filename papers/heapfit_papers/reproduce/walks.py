# SPDX-License-Identifier: Apache-2.0
"""Traces to budget, and their memory profile P_i(t) counted by hand.

The counts here are the slow, obvious ones that the engine's budgets are held against.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.trace.operations import ALLOC, FREE

Counts = NDArray[np.int64]

ALIGNMENT = 8


@dataclass(frozen=True, slots=True)
class Walked:
    """A trace of few sizes with its profile. Sizes in bytes, rounded up to the alignment."""

    events: _engine.EventArray
    sizes: Counts  # S_i, descending
    live: Counts  # P_i(t): a row for each event, a column for each size

    @property
    def used(self) -> Counts:
        """U(t), equation 2."""
        total: Counts = self.live @ self.sizes
        return total

    @property
    def u_max(self) -> int:
        """Most bytes live at once."""
        return int(self.used.max())

    @property
    def peaks(self) -> Counts:
        """The most live blocks of each size, P_i,max."""
        most: Counts = self.live.max(axis=0)
        return most

    def compute_used(self, budgets: Sequence[int]) -> Counts:
        """U^B(t), equation 4."""
        total: Counts = np.maximum(self.live, np.array(budgets)) @ self.sizes
        return total

    def greedy(self) -> list[int]:
        """The greedy budgets that the engine finds."""
        return list(_engine.greedy_budgets(self.events, self.sizes.tolist(), ALIGNMENT))


def trace_walk(requests: Sequence[tuple[int, int]]) -> Walked:
    """The events of (object, size) for a request and (object, 0) for its free, in order."""
    objects = np.array([one for one, _ in requests], np.uint32)
    asked = np.array([size for _, size in requests], np.uint64)
    events = _engine.EventArray()
    events.append(np.where(asked > 0, ALLOC, FREE).astype(np.uint8), objects, asked)
    size_of = {one: -(-size // ALIGNMENT) * ALIGNMENT for one, size in requests if size}
    sizes = np.array(sorted(set(size_of.values()), reverse=True), np.int64)
    steps = np.zeros((len(requests), len(sizes)), np.int64)
    columns = {int(size): column for column, size in enumerate(sizes)}
    for row, (one, size) in enumerate(requests):
        steps[row, columns[size_of[one]]] = 1 if size else -1
    return Walked(events, sizes, steps.cumsum(axis=0))


def draw_capped_walk(sizes: Sequence[int], limit: int, events: int, seed: int) -> Walked:
    """Draws a walk as the workloads of table 2 do: uniform sizes, a coin, a random victim."""
    draw = random.Random(seed)
    live: dict[int, list[int]] = {size: [] for size in sizes}
    requests: list[tuple[int, int]] = []
    born = 0
    for _ in range(events):
        size = draw.choice(list(live))
        blocks = live[size]
        if not blocks or (len(blocks) < limit and draw.random() < 0.5):
            requests.append((born, size))
            blocks.append(born)
            born += 1
        else:
            requests.append((blocks.pop(draw.randrange(len(blocks))), 0))
    return trace_walk(requests)


def greedy_by_the_equations(walk: Walked) -> list[int]:
    """Equations 17 and 18, literally."""
    budgets: list[int] = []
    for i, size in enumerate(walk.sizes.tolist()):
        before = np.maximum(walk.live[:, :i], np.array(budgets, np.int64)) @ walk.sizes[:i]
        after = walk.live[:, i + 1 :] @ walk.sizes[i + 1 :]
        least = int((walk.u_max - before - after).min())  # M_i,min
        budgets.append(min(int(walk.peaks[i]), least // size))
    return budgets


def count_greedy_steps(walk: Walked) -> tuple[int, int]:
    """Counts the steps of finding `greedy_by_the_equations`, in plain loops.

    Once a step is M_i(t) at one moment, from a sum that is kept, and that sum raised; once it is
    another size added up for M_i(t), as figure 4 has it.
    """
    sizes, live, peaks = walk.sizes.tolist(), walk.live.tolist(), walk.peaks.tolist()
    used = walk.used.tolist()  # U(t), then U^B(t) with the budgets found so far
    running = literal = 0
    for i, size in enumerate(sizes):
        least = walk.u_max
        for at, sum_of_all in zip(live, used, strict=True):
            least = min(least, walk.u_max - (sum_of_all - size * at[i]))
            running += 1
            literal += sum(1 for other in range(len(sizes)) if other != i)
        budget = min(peaks[i], least // size)
        used = [
            sum_of_all + size * max(budget - at[i], 0)
            for at, sum_of_all in zip(live, used, strict=True)
        ]
    return running, literal
