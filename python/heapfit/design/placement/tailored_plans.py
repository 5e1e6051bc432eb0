# SPDX-License-Identifier: Apache-2.0
"""The plans of `tailored` for a trace: its layouts as they are, then what is learned for them.

Each ingredient is a candidate of its own, so that its gain is measured like any other: on this
trace, and, of several traces, on hold-out traces.
"""

from __future__ import annotations

from dataclasses import replace

from heapfit.comparison.candidate import Candidate, NotApplicable
from heapfit.comparison.incumbents.heap import Heap
from heapfit.design.budgets import greedy_budgets
from heapfit.design.placement.learned import (
    LEAST_EVENTS,
    TRACES,
    LearnedPlacement,
    PlacedLayout,
    learn_placement,
)
from heapfit.design.placement.sites import learn_sites
from heapfit.design.plan_options import PlanOptions
from heapfit.design.pools import static_pools
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace

ALLOCATOR = "tailored"
BY_LIFETIME = "tailored_by_lifetime"
TWO_ENDS = "tailored_two_ends"
BY_SITE = "tailored_by_site"
LEAST_POINTS = 0.5  # percent of U_max: what is less did not hold elsewhere (decision 13)
STATIC_ZONES = "tailored_static_zones"
_MOST_STATIC = 1.02  # sum S_i P_i,max over U_max: what zones that are never full at once may cost
_COARSE = 8  # bytes: the granule that may serve where 4 B is asked for
_LEARNED = (BY_LIFETIME, TWO_ENDS)
NOT_LEARNED = "with --effort quick no placement is learned"


def layouts(alignment: int) -> dict[str, Plan]:
    """The layouts whose blocks have the alignment, by the names of their candidates.

    >>> list(layouts(4))[:2], list(layouts(8))[:1]
    (['tailored', 'tailored_8'], ['tailored'])
    >>> layouts(4)["tailored_pairs"].scalars
    {'alignment': 8, 'layout': 2}
    """
    granules = sorted({alignment, max(alignment, _COARSE)})
    found = {
        ALLOCATOR if granule == alignment else f"{ALLOCATOR}_{granule}": {"alignment": granule}
        for granule in granules
    }
    found[f"{ALLOCATOR}_headers"] = {"alignment": alignment, "layout": 1}
    found[f"{ALLOCATOR}_pairs"] = {"alignment": max(alignment, _COARSE), "layout": 2}
    return {name: Plan(ALLOCATOR, scalars) for name, scalars in found.items()}


def describe_layout(plan: Plan) -> str:
    """The layout of a plan of `tailored` in words.

    >>> describe_layout(Plan("tailored", {"layout": 1}))
    'layout 1, headers'
    """
    layout = plan.scalars.get("layout", 0)
    return f"layout {layout}, {('a map', 'headers', 'pairs')[layout]}"


def least_layout(loaded: LoadedTrace) -> Candidate:
    """The candidate of the bare name: the layout that serves the trace in the least region."""
    named = layouts(loaded.alignment)
    found = learn_placement(loaded, list(named.values()), most_events=0)
    plan = named[ALLOCATOR] if found is None else found.plain.plan
    replayed = 0 if found is None else found.replayed
    return Candidate(ALLOCATOR, Heap(ALLOCATOR, plan), f"as {layout_name(plan)}", False, replayed)


def layout_name(plan: Plan) -> str | None:
    """The name that a plain layout of `tailored` has among a fit's rows; None for other plans."""
    named = layouts(plan.scalars.get("alignment", _COARSE))
    return next((name for name, one in named.items() if one == plan), None)


def find_layout(plan: Plan) -> Plan:
    """The plain layout of a plan of `tailored`.

    >>> find_layout(Plan("tailored", {"alignment": 8, "layout": 2, "ends": 2})).scalars
    {'alignment': 8, 'layout': 2}
    """
    kept = {name: plan.scalars[name] for name in ("alignment", "layout") if name in plan.scalars}
    return Plan(plan.allocator, kept)


def make_tailored_candidates(
    loaded: LoadedTrace, options: PlanOptions | None = None, progress: Progress = ignore_progress
) -> list[Candidate | NotApplicable]:
    """The candidates of `tailored`, learned ones included, but for the plain allocator."""
    options, every = options or PlanOptions(), layouts(loaded.alignment)
    plain = {name: one for name, one in every.items() if options.layout in (None, one)}
    candidates: list[Candidate | NotApplicable] = [
        _static_zones(loaded),
        *(
            Candidate(name, Heap(name, plan), f"tailored: {describe_layout(plan)}", False)
            for name, plan in plain.items()
            if name != ALLOCATOR
        ),
    ]
    if not options.learns:
        return [*candidates, *(NotApplicable(name, NOT_LEARNED) for name in _LEARNED)]
    most = max(TRACES * len(loaded.events), LEAST_EVENTS)
    learned = learn_placement(
        loaded,
        list(plain.values()),
        most_events=most,
        seed=options.seed,
        progress=progress,
        climbs=options.climbs,
    )
    if learned is None:
        why = "no layout serves the trace, or none did before an interrupt"
        return candidates + [NotApplicable(name, why) for name in _LEARNED]
    layout = next(name for name, plan in plain.items() if plan == learned.plain.plan)
    steps, before = _learn_candidates(learned, (layout, learned.plain), loaded.profile.u_max)
    candidates += steps
    if not options.call_sites:
        return candidates
    by_site, replayed = learn_sites(loaded, learned.climbed, most, options.seed, progress)
    return [*candidates, replace(_judge_sites(loaded, by_site, before), replayed=replayed)]


def _learn_candidates(
    learned: LearnedPlacement, before: tuple[str, PlacedLayout], u_max: int
) -> tuple[list[Candidate | NotApplicable], tuple[str, PlacedLayout]]:
    """The candidates of the lifetimes, and of the climb that starts from them; and the last of
    these that saves enough, or the one before."""
    apart = "short-lived and long-lived blocks at different ends"
    by_lifetime = candidate_if_better(BY_LIFETIME, learned.by_lifetime, before, u_max, apart)
    climb = f"{learned.tried:,} plans tried"
    two_ends = (
        NotApplicable(TWO_ENDS, f"{climb}, none better than {BY_LIFETIME}", BY_LIFETIME)
        if learned.climbed == learned.by_lifetime
        else candidate_if_better(TWO_ENDS, learned.climbed, before, u_max, climb)
    )
    if isinstance(by_lifetime, Candidate):
        before = BY_LIFETIME, learned.by_lifetime
    if isinstance(two_ends, Candidate):
        before = TWO_ENDS, learned.climbed
    return [by_lifetime, replace(two_ends, replayed=learned.replayed)], before


def _judge_sites(
    loaded: LoadedTrace, by_site: PlacedLayout | None, before: tuple[str, PlacedLayout]
) -> Candidate | NotApplicable:
    if by_site is None:
        return NotApplicable(BY_SITE, "the trace has no call sites")
    sites = by_site.layout.sites
    what = "chains of callers" if loaded.trace.chains.keys() & sites.keys() else "call sites"
    learned_from = f"{len(sites)} {what} have tags"
    return candidate_if_better(BY_SITE, by_site, before, loaded.profile.u_max, learned_from)


def _static_zones(loaded: LoadedTrace) -> Candidate | NotApplicable:
    """The candidate with a zone for each size's most blocks, if all sizes peak together."""
    try:
        zones = static_pools.worst_case_plan(greedy_budgets.ALLOCATOR, loaded)
    except HeapfitError as error:
        return NotApplicable(STATIC_ZONES, str(error))
    over = sum(pool.size * pool.count for pool in zones.pools) / loaded.profile.u_max
    if over > _MOST_STATIC:
        why = f"zones of all sizes are {over:.2f} x U_max, as they are full at different times"
        return NotApplicable(STATIC_ZONES, why)
    plan = replace(zones, shared=Plan(ALLOCATOR, {"alignment": loaded.alignment}))
    reason = f"all sizes are at their most at once: zones of {over:.3f} x U_max"
    return Candidate(STATIC_ZONES, Heap(STATIC_ZONES, plan), reason, trained_on_this_trace=True)


def candidate_if_better(
    name: str, placed: PlacedLayout, before: tuple[str, PlacedLayout], u_max: int, learned_from: str
) -> Candidate | NotApplicable:
    """The candidate; NotApplicable if it saves too little over the one before to hold elsewhere."""
    points = 100 * (before[1].region - placed.region) / u_max
    if points < LEAST_POINTS:
        why = f"saves {points:.1f} % of U_max here, too little for other runs ({learned_from})"
        return NotApplicable(name, why, before[0])
    reason = f"saves {points:.1f} % of U_max over {before[0]} ({learned_from})"
    return Candidate(name, Heap(name, placed.plan), reason, trained_on_this_trace=True)
