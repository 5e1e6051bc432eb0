# SPDX-License-Identifier: Apache-2.0
"""The share of requests that a heap refuses where a program runs on, by size and call site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heapfit.checks.growth import MOST, Name, name_sites, size_classes
from heapfit.checks.system_run import place_requests
from heapfit.plan.plan_file import PlanFile
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace


@dataclass(frozen=True, slots=True)
class RefusedGroup:
    """The requests of a size class or call site, and those that are refused."""

    name: Name  # the largest size of a class in bytes, or a call site
    refused: int
    requests: int

    @property
    def share(self) -> float:
        """The refused share."""
        return self.refused / max(self.requests, 1)


@dataclass(frozen=True, slots=True)
class Refusals:
    """All requests of a recording that a heap refuses; the groups with most first."""

    refused: int
    requests: int
    sizes: tuple[RefusedGroup, ...]
    sites: tuple[RefusedGroup, ...]  # empty: none are recorded
    first: Name | None  # the call site of the first one; None: none are recorded

    @property
    def share(self) -> float:
        """The refused share of all requests."""
        return self.refused / max(self.requests, 1)


def count_refusals(
    loaded: LoadedTrace,
    plan: PlanFile,
    programs: Sequence[Path],
    progress: Progress = ignore_progress,
) -> Refusals:
    """Replays a recording past its refusals; twice where there are some."""
    placed = place_requests(loaded, plan, loaded.trace.base_alignment_for(plan.base_alignment))
    refused = placed.find_refused(progress)
    sizes = size_classes(placed.requests.size[placed.asked_at]).tolist()
    sites: list[Name] = []
    if len(loaded.sites):
        names = name_sites(loaded, programs)
        sites = [names[site] for site in loaded.sites[placed.asked_at].tolist()]
    groups = _group(sizes, refused), _group(sites, refused)
    first = sites[int(np.argmax(refused))] if sites and refused.any() else None
    return Refusals(int(refused.sum()), len(refused), *groups, first)


def _group(names: Sequence[Name], refused: NDArray[np.bool_]) -> tuple[RefusedGroup, ...]:
    if not names:
        return ()
    counts: dict[Name, list[int]] = {}
    for name, is_refused in zip(names, refused.tolist(), strict=True):
        count = counts.setdefault(name, [0, 0])
        count[0] += is_refused
        count[1] += 1
    groups = [RefusedGroup(name, *count) for name, count in counts.items() if count[0]]
    return tuple(sorted(groups, key=lambda one: (-one.refused, str(one.name)))[:MOST])
