# SPDX-License-Identifier: Apache-2.0
"""The share of requests that a heap refuses where a program runs on, by size and call site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heapfit.checks.growth import MOST, Name, name_sites, size_classes, sum_by_name
from heapfit.checks.system_run import place_in_region
from heapfit.plan.plan_file import PlanFile
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace


@dataclass(frozen=True, slots=True)
class RefusedGroup:
    """The requests of a size class or call site, and those that are refused."""

    refused: int
    requests: int
    name: Name  # the largest size of a class in bytes, or a call site


@dataclass(frozen=True, slots=True)
class Refusals:
    """All requests of a recording that a heap refuses; the groups with most first."""

    refused: int
    requests: int
    sizes: tuple[RefusedGroup, ...]
    sites: tuple[RefusedGroup, ...]  # empty: none are recorded
    first: Name | None  # the call site of the first one; None: none are recorded


def count_refusals(
    loaded: LoadedTrace,
    plan: PlanFile,
    programs: Sequence[Path],
    progress: Progress = ignore_progress,
) -> Refusals:
    """Replays a recording past its refusals."""
    placed = place_in_region(loaded, plan, loaded.trace.base_alignment_for(plan.base_alignment))
    refused, asked = placed.find_refused(progress), placed.asked
    sizes = _group(size_classes(asked.requests.size[asked.asked_at]), {}, refused)
    first, by_site = None, tuple[RefusedGroup, ...]()
    if len(loaded.sites):
        names, sites = name_sites(loaded, programs), loaded.sites[asked.asked_at]
        first = names[int(sites[np.argmax(refused)])] if refused.any() else None
        by_site = _group(sites, names, refused)
    return Refusals(int(refused.sum()), len(refused), sizes, by_site, first)


def _group(
    keys: NDArray[Any], names: Mapping[int, str], refused: NDArray[np.bool_]
) -> tuple[RefusedGroup, ...]:
    """The groups of each key, or of those that share a name."""
    sums = sum_by_name(keys, names, refused, np.ones(len(refused)))
    groups = (RefusedGroup(int(lost), int(asked), name) for name, (lost, asked) in sums.items())
    ranked = sorted(groups, key=lambda one: (-one.refused, str(one.name)))
    return tuple(one for one in ranked if one.refused)[:MOST]
