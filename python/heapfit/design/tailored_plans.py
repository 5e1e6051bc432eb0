# SPDX-License-Identifier: Apache-2.0
"""The plans of `tailored` for a trace: its layouts as they are, then with what is learned of it.

Each ingredient is a candidate of its own, so that its gain is measured like any other: on this
trace, and, of several traces, on those that a plan has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heapfit.allocators import find_allocators
from heapfit.design.candidates import Candidate, NotApplicable
from heapfit.design.placement import LEAST_EVENTS, TRACES, Placed, Placement, learn_placement
from heapfit.design.site_placement import learn_sites
from heapfit.plan import Plan
from heapfit.progress import Progress, no_progress

if TYPE_CHECKING:
    from heapfit.design.workload import Workload

ALLOCATOR = "tailored"
BY_LIFETIME = "tailored_by_lifetime"
TWO_ENDS = "tailored_two_ends"
BY_SITE = "tailored_by_site"
LEAST_POINTS = 0.5  # percent of U_max: what is less did not hold elsewhere (docs/decisions/0013)
_COARSE = 8  # bytes: the granule that may serve where 4 B is asked for


def layouts(alignment: int) -> dict[str, Plan]:
    """Every layout whose blocks are aligned as asked, by the name of its candidate.

    >>> list(layouts(4))[:2], list(layouts(8))[:1]
    (['tailored', 'tailored_8'], ['tailored'])
    """
    (info,) = find_allocators([ALLOCATOR])
    granules = sorted({alignment, max(alignment, _COARSE)})
    found = {
        ALLOCATOR if granule == alignment else f"{ALLOCATOR}_{granule}": {"alignment": granule}
        for granule in granules
    }
    if any(tunable.name == "layout" for tunable in info.tunables):
        found[f"{ALLOCATOR}_headers"] = {"alignment": alignment, "layout": 1}
    return {name: Plan(ALLOCATOR, scalars) for name, scalars in found.items()}


def tailored_candidates(
    workload: Workload,
    seed: int = 1,
    progress: Progress = no_progress,
    call_sites: bool = False,
) -> list[Candidate | NotApplicable]:
    """Beside plain `tailored`, which is there as every allocator is.

    `call_sites`: the program can hand over from where it asks, so that may decide, too.
    """
    plain = layouts(workload.alignment)
    found: list[Candidate | NotApplicable] = [
        Candidate(name, plan, "another layout of tailored", trained_on_this_trace=False)
        for name, plan in plain.items()
        if name != ALLOCATOR
    ]
    most_events = max(TRACES * len(workload.events), LEAST_EVENTS)
    learned = learn_placement(workload, list(plain.values()), most_events, seed, progress)
    if learned is None:
        why = "no layout serves the trace, or none did before an interrupt"
        return found + [NotApplicable(name, why) for name in (BY_LIFETIME, TWO_ENDS)]
    layout = next(name for name, plan in plain.items() if plan == learned.plain.plan)
    by_lifetime, climbed = learned.by_lifetime, learned.climbed
    gains = _Gains(learned, layout, workload.profile.u_max)
    found.append(gains.candidate(BY_LIFETIME, by_lifetime, "blocks that come and go at one end"))
    if climbed != by_lifetime:
        told = f"by lifetime {gains.points(by_lifetime):.1f}, then {learned.tried:,} plans tried"
        stopped = ", interrupted" if learned.is_stopped else ""
        found.append(gains.candidate(TWO_ENDS, climbed, told + stopped))
    else:
        why = f"{learned.tried:,} plans tried, none better than {BY_LIFETIME}"
        found.append(NotApplicable(TWO_ENDS, why, BY_LIFETIME))
    if call_sites:
        by_site = learn_sites(workload, climbed, most_events, seed, progress)
        found.append(_by_site(by_site, climbed, gains))
    return found


def _by_site(by_site: Placed | None, by_class: Placed, gains: _Gains) -> Candidate | NotApplicable:
    """The plan, unless it saves too little of the one that goes by size classes alone."""
    if by_site is None:
        return NotApplicable(BY_SITE, "the trace does not tell where requests come from")
    points = gains.points(by_site) - gains.points(by_class)
    if points < LEAST_POINTS:
        why = f"call sites save {points:.1f} points of U_max more than size classes"
        return NotApplicable(BY_SITE, why)
    told = f"{points:.1f} more than size classes; {len(by_site.layout.sites)} call sites have tags"
    return gains.candidate(BY_SITE, by_site, told)


@dataclass(frozen=True, slots=True)
class _Gains:
    """What a plan saves of the best layout as it is."""

    learned: Placement
    layout: str  # its candidate's name
    u_max: int

    def points(self, placed: Placed) -> float:
        """In percent of U_max."""
        return 100 * (self.learned.plain.region - placed.region) / self.u_max

    def candidate(self, name: str, placed: Placed, told: str) -> Candidate | NotApplicable:
        """The plan, unless it saves too little to hold on another run."""
        points = self.points(placed)
        if points < LEAST_POINTS:
            why = f"two ends save {points:.1f} points of U_max here: too few to hold elsewhere"
            return NotApplicable(name, why, self.layout)
        reason = f"two ends save {points:.1f} points of U_max of {self.layout} ({told})"
        return Candidate(name, placed.plan, reason, trained_on_this_trace=True)
