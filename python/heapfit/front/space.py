# SPDX-License-Identifier: Apache-2.0
"""The configurations of a trace: allocators x tunables x budgets, each plan once.

What `fit` tries comes first, and the verdict is about it; then what is searched further: every
combination of the values that descriptors give for their tunables, the plans with pools over each
shared allocator, and pools that grow.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import product

from heapfit import _engine
from heapfit.compare.candidate import Candidate, NotApplicable, Portfolio
from heapfit.design.portfolio import SHARED_HEAPS, named_portfolio, standard_portfolio
from heapfit.plan.allocators import find_allocators, is_for_any_program, takes_pools
from heapfit.plan.plan import LARGEST_REGION, Plan, Pool
from heapfit.progress import Progress, no_progress
from heapfit.trace.loaded import LoadedTrace

GROWTH = (4, 16)  # blocks that a pool gets at a time where it begins with none
SHORT = 20_000  # events; on no shorter trace is a configuration too slow
MOST_ACCESSES = 100  # a call, over the trace
_ROOM = 4  # times U_max, for heaps that wear down


def configurations(
    loaded: LoadedTrace,
    progress: Progress = no_progress,
    allocators: Container[str] | None = None,
) -> Portfolio:
    """Every configuration, or those of some allocators, and the kinds that the trace cannot use."""
    standard = standard_portfolio(loaded, progress=progress)
    named = named_portfolio(loaded, list(_grid_names()), [])
    both = [*standard.candidates, *named.candidates]
    further = [*named.candidates, *(other for one in both for other in _over_other_heaps(one))]
    further += [other for one in named.candidates for other in _grown(one, loaded)]
    candidates = [*standard.candidates, *(_marked(one, True) for one in further)]
    wanted = [one for one in candidates if allocators is None or one.plan.allocator in allocators]
    left_out = {one.name: one for one in (*standard.not_applicable, *named.not_applicable)}
    why = [
        one
        for one in left_out.values()
        if allocators is None and one.same_as is None and ":" not in one.name
    ]
    usual = {one.name for one in standard.candidates}
    judged = [one if one.name in usual else _judged(one, loaded) for one in _each_once(wanted)]
    why += [one for one in judged if isinstance(one, NotApplicable)]
    return Portfolio(tuple(one for one in judged if isinstance(one, Candidate)), tuple(why))


def named_configurations(
    loaded: LoadedTrace, names: Sequence[str], progress: Progress = no_progress
) -> Portfolio:
    """Those of the allocators named; NAME:TUNABLE=VALUE,... stands for one alone; no name: all."""
    if not names:
        return configurations(loaded, progress)
    wanted = {name for name in names if ":" not in name}
    find_allocators(sorted(wanted))
    space = configurations(loaded, allocators=wanted) if wanted else Portfolio((), ())
    missing = wanted - {one.plan.allocator for one in space.candidates}
    alone = named_portfolio(loaded, [n for n in names if ":" in n or n in missing], [])
    candidates = _each_once([*space.candidates, *alone.candidates])
    asked = [without_standards(one.plan) for one in alone.candidates]
    candidates = [
        _marked(one, one.is_searched_further and without_standards(one.plan) not in asked)
        for one in candidates
    ]
    return Portfolio(tuple(candidates), (*space.not_applicable, *alone.not_applicable))


def _marked(candidate: Candidate, is_searched_further: bool) -> Candidate:
    return replace(candidate, is_searched_further=is_searched_further)


def _judged(candidate: Candidate, loaded: LoadedTrace) -> Candidate | NotApplicable:
    """The candidate, unless it searches so long that its replays, some 130, would never end.

    Told by accesses, not by a clock, so that every machine tries the same configurations.
    """
    if len(loaded.events) <= SHORT:
        return candidate
    base = max(loaded.alignment, loaded.trace.largest_alignment)
    region = min(_ROOM * loaded.profile.u_max + (1 << 20), LARGEST_REGION)
    trial = _engine.Trial(candidate.plan.engine(), loaded.events, base)
    if not trial.exceeds(region, MOST_ACCESSES * len(loaded.events)):
        return candidate
    why = f"more than {MOST_ACCESSES} metadata accesses a call (named alone it is tried)"
    return NotApplicable(candidate.name, why)


def _grid_names() -> Iterator[str]:
    """As a user would type them, the standard values left out."""
    for info in filter(is_for_any_program, _engine.allocators()):
        tunables = {one.name: one for one in info.tunables}
        names = [name for name, _ in info.grid]
        for values in product(*(values for _, values in info.grid)):
            # Design's own pools have other values, so that those of pools are all given.
            given = [
                f"{name}={value}"
                for name, value in zip(names, values, strict=True)
                if value != tunables[name].standard or takes_pools(info)
            ]
            if given:
                yield f"{info.name}:{','.join(given)}"


def _over_other_heaps(candidate: Candidate) -> Iterator[Candidate]:
    """A plan with pools over each other shared allocator."""
    if candidate.plan.shared is None or not candidate.plan.pools:
        return
    for name in SHARED_HEAPS:
        if name != candidate.plan.shared.allocator:
            shared = Plan(name, {"alignment": candidate.plan.alignment})
            reason = f"{candidate.reason}; over {name}"
            plan = replace(candidate.plan, shared=shared)
            yield replace(
                candidate, name=f"{candidate.name}:shared={name}", plan=plan, reason=reason
            )


def _grown(candidate: Candidate, loaded: LoadedTrace) -> Iterator[Candidate]:
    """Pools that begin with one block and get more from the shared allocator as they need them."""
    (info,) = find_allocators([candidate.plan.allocator])
    most_steps = {t.name: t.highest for t in info.tunables}.get("growth_steps")
    if most_steps is None:
        return
    for growth in GROWTH:
        pools = tuple(Pool(pool.size, 1, pool.is_exact) for pool in candidate.plan.pools)
        steps = sum(-(-max(pool.count - 1, 0) // growth) for pool in candidate.plan.pools)
        grows = {"growth": growth, "growth_steps": min(max(steps, 1), most_steps)}
        plan = replace(
            candidate.plan,
            scalars={**candidate.plan.scalars, **grows},
            pools=pools,
            shared=Plan(SHARED_HEAPS[0], {"alignment": loaded.alignment}),
        )
        reason = f"{candidate.reason}; blocks added {growth} at a time"
        yield replace(candidate, name=f"{candidate.name}:growth={growth}", plan=plan, reason=reason)


def _each_once(candidates: Sequence[Candidate]) -> list[Candidate]:
    seen: list[Plan] = []
    kept: list[Candidate] = []
    for one in candidates:
        plan = without_standards(one.plan)
        if plan not in seen:
            seen.append(plan)
            kept.append(one)
    return kept


def without_standards(plan: Plan) -> Plan:
    """The same plan without the scalars that have their standard value."""
    (info,) = find_allocators([plan.allocator])
    standards = {tunable.name: tunable.standard for tunable in info.tunables}
    scalars = {name: value for name, value in plan.scalars.items() if value != standards.get(name)}
    shared = None if plan.shared is None else without_standards(plan.shared)
    return replace(plan, scalars=scalars, shared=shared)
