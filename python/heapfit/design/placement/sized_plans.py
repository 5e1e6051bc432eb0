# SPDX-License-Identifier: Apache-2.0
"""The plan of `sized` whose two ends are learned, for programs with sized deallocation.

Placement is learned as that of `tailored` is: its size classes are the same.
"""

from __future__ import annotations

from heapfit.comparison.candidate import Candidate, NotApplicable
from heapfit.design.placement.learned import LEAST_EVENTS, TRACES, learn_placement
from heapfit.design.placement.tailored_plans import candidate_if_better
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace

ALLOCATOR = "sized"
HOLE_LIMIT = 8  # curl-multi 1.32 -> 1.03; duktape-mix 1.05 -> 1.29, so none is tried, too
LIMITED = f"{ALLOCATOR}:hole_limit={HOLE_LIMIT}"
TWO_ENDS = "sized_two_ends"


def learn_sized_ends(
    loaded: LoadedTrace, seed: int = 1, progress: Progress = ignore_progress
) -> Candidate | NotApplicable:
    """The candidate with learned ends, over plain `sized` or HOLE_LIMIT, whichever is better."""
    scalars = {"alignment": loaded.alignment}
    names = {
        ALLOCATOR: Plan(ALLOCATOR, scalars),
        LIMITED: Plan(ALLOCATOR, {**scalars, "hole_limit": HOLE_LIMIT}),
    }
    work = max(TRACES * len(loaded.events), LEAST_EVENTS)
    learned = learn_placement(
        loaded, list(names.values()), most_events=work, seed=seed, progress=progress
    )
    if learned is None:
        return NotApplicable(TWO_ENDS, "sized does not serve the trace")
    before = next(name for name, plan in names.items() if plan == learned.plain.plan)
    tried = f"{learned.tried:,} plans tried"
    return candidate_if_better(
        TWO_ENDS, learned.climbed, (before, learned.plain), loaded.profile.u_max, tried
    )
