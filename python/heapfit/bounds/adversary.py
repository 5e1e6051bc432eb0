# SPDX-License-Identifier: Apache-2.0
"""The adversary: requests within a trace's limits that a plan serves worst.

    U_max  <=  R on the trace  <=  the largest region broken  <  the proven worst case

A program that keeps to the limits may do what was found, and none can do more than what is proven.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heapfit import _engine
from heapfit.bounds.worst_cases import Limits, WorstCase, worst_case
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, ignore_progress

STANDARD_EVENTS = 20_000_000  # replayed for each plan


@dataclass(frozen=True, slots=True)
class Attack:
    """The result of the search on one plan. Sizes in bytes."""

    name: str  # the allocator's, or what the caller calls the plan
    region: int  # that was to be broken
    broken: int | None  # the largest region found that refuses a request; None: none was
    breaks_any: bool  # no region there can be serves what was found
    proven: WorstCase | None  # what suffices whatever comes within the limits
    plays: int  # sequences tried; 0: none, as the region is proven to serve all
    events: int  # of all of them
    is_stopped: bool  # by an interrupt


def attack_plan(
    plan: Plan,
    limits: Limits,
    *,
    region: int | None = None,
    seed: int = 1,
    events: int = STANDARD_EVENTS,
    base_alignment: int = 0,
    progress: Progress = ignore_progress,
) -> Attack:
    """Searches a sequence within the limits that the plan does not serve in the region.

    Without a region it is the smallest that the plan and the live bytes fit into.
    """
    engine = plan.engine()
    proven = worst_case(plan, limits)
    region = region or max(engine.smallest_region, limits.live)
    if proven is not None and proven.size <= region:
        return Attack(plan.allocator, region, None, False, proven, 0, 0, is_stopped=False)
    found = _engine.find_adversary(
        engine,
        limits.sizes.astype(np.uint64),
        limits.peaks.astype(np.uint64),
        limits.live,
        region,
        seed=seed,
        events=events,
        base_alignment=base_alignment,
        progress=lambda share: progress("attack", share),
    )
    return Attack(
        name=plan.allocator,
        region=region,
        broken=found.region or None,
        breaks_any=found.breaks_any,
        proven=proven,
        plays=found.plays,
        events=found.replayed,
        is_stopped=found.is_stopped,
    )
