# SPDX-License-Identifier: Apache-2.0
"""The configurations of a trace: allocators x tunables x budgets, each plan once.

What `fit` tries comes first, and the verdict is about it; then what is searched further: every
combination of the values that descriptors give for their tunables, and the plans with pools over
each shared allocator. With the longest effort the verdict is about all of them.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import product

from heapfit import _engine
from heapfit.comparison.candidate import Candidate, NotApplicable, Portfolio
from heapfit.design.effort import Effort
from heapfit.design.plan_options import PlanOptions
from heapfit.design.portfolio import (
    SHARED_HEAPS,
    PortfolioEntry,
    build_portfolio,
    split_applicable,
    standard_portfolio,
)
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import (
    find_allocators,
    info_of,
    is_for_any_program,
    scalars_of,
    takes,
)
from heapfit.plan.plan import Plan
from heapfit.plan.quantities import LARGEST_REGION
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace

SHORT = 20_000  # events; on no shorter trace is a configuration too slow
MOST_ACCESSES = 100  # a call, over the trace
_ROOM = 4  # times U_max, for heaps that fragment over time


def portfolio_of(
    loaded: LoadedTrace, options: PlanOptions, progress: Progress = ignore_progress
) -> Portfolio:
    """The candidates of a verdict, by its effort."""
    if options.effort == Effort.LONG:
        return configurations(loaded, options, progress)
    return standard_portfolio(loaded, options, progress)


def configurations(
    loaded: LoadedTrace,
    options: PlanOptions | None = None,
    progress: Progress = ignore_progress,
    allocators: Container[str] | None = None,
) -> Portfolio:
    """Every configuration, or those of some allocators, and the kinds that the trace cannot use."""
    made = every_plan(loaded, options or PlanOptions(), progress, allocators)
    kept = [entry for entry in made if isinstance(entry, Candidate) or entry.same_as is None]
    return split_applicable(kept)


def every_plan(
    loaded: LoadedTrace,
    options: PlanOptions,
    progress: Progress = ignore_progress,
    allocators: Container[str] | None = None,
) -> list[PortfolioEntry]:
    """All configurations, and an entry for each that equals an earlier one of another name."""
    standard = standard_portfolio(loaded, options, progress)
    named = build_portfolio(loaded, list(_grid_names()), [])
    both = *standard.candidates, *named.candidates
    # Beyond the standard ones: the grid, then pools over each other heap.
    further = *named.candidates, *(over for one in both for over in _vary_shared_heap(one))
    is_further = options.effort != Effort.LONG
    candidates = *standard.candidates, *(_mark(candidate, is_further) for candidate in further)
    wanted = [one for one in candidates if allocators is None or one.plan.allocator in allocators]
    usual = {candidate.name for candidate in standard.candidates}
    judged = [one if one.name in usual else _skip_slow(one, loaded) for one in _drop_equal(wanted)]
    if allocators is not None:
        return judged
    left_out = {entry.name: entry for entry in (*standard.not_applicable, *named.not_applicable)}
    return [*(entry for entry in left_out.values() if ":" not in entry.name), *judged]


def configurations_by_name(
    loaded: LoadedTrace,
    names: Sequence[str],
    options: PlanOptions | None = None,
    progress: Progress = ignore_progress,
) -> Portfolio:
    """The configurations of these allocators; NAME:TUNABLE=VALUE,... is one alone."""
    wanted = {name for name in names if ":" not in name}
    find_allocators(sorted(wanted))
    space = configurations(loaded, options, progress, wanted) if wanted else Portfolio((), ())
    missing = wanted - {candidate.plan.allocator for candidate in space.candidates}
    alone = build_portfolio(loaded, [n for n in names if ":" in n or n in missing], [])
    both = split_applicable(_drop_equal([*space.candidates, *alone.candidates]))
    asked = [drop_standard_values(candidate.plan) for candidate in alone.candidates]
    candidates = [
        _mark(one, one.is_searched_further and drop_standard_values(one.plan) not in asked)
        for one in both.candidates
    ]
    return Portfolio(tuple(candidates), (*space.not_applicable, *alone.not_applicable))


def _mark(candidate: Candidate, is_searched_further: bool) -> Candidate:
    return replace(candidate, is_searched_further=is_searched_further)


def _skip_slow(entry: PortfolioEntry, loaded: LoadedTrace) -> PortfolioEntry:
    """The candidate, or NotApplicable if its search is so long that its replays would not end.

    Judged by accesses, not by a clock, so that every machine tries the same configurations.
    """
    events = len(loaded.events)
    if isinstance(entry, NotApplicable) or events <= SHORT:
        return entry
    base = loaded.trace.base_alignment_for(loaded.alignment)
    region = min(_ROOM * loaded.profile.u_max + (1 << 20), LARGEST_REGION)
    trial = _engine.Trial(entry.plan.engine(), loaded.events, base)
    replayed = entry.replayed + events  # at most
    if not trial.exceeds(region, MOST_ACCESSES * events):
        return replace(entry, replayed=replayed)
    why = f"more than {MOST_ACCESSES} metadata accesses a call (named alone it is tried)"
    return NotApplicable(entry.name, why, replayed=replayed)


def _is_valid(plan: Plan) -> bool:
    """False for values of tunables that exclude each other."""
    try:
        plan.engine()
    except HeapfitError:
        return False
    return True


def _grid_names() -> Iterator[str]:
    """The names of all combinations of tunables, as a user types them, standard values omitted."""
    for info in filter(is_for_any_program, _engine.allocators()):
        tunables = {tunable.name: tunable for tunable in info.tunables}
        names = [name for name, _ in info.grid]
        for values in product(*(values for _, values in info.grid)):
            scalars = dict(zip(names, values, strict=True))
            if not takes(info, "pools") and not _is_valid(Plan(info.name, scalars)):
                continue
            # Designs of pools have values of their own, so here all values are written.
            given = [
                f"{name}={value}"
                for name, value in scalars.items()
                if value != tunables[name].standard or takes(info, "pools")
            ]
            if given:
                yield f"{info.name}:{','.join(given)}"


def _vary_shared_heap(candidate: Candidate) -> Iterator[Candidate]:
    """The candidate's pools over each other shared allocator; nothing if it has no pools."""
    if candidate.plan.shared is None or not candidate.plan.pools:
        return
    for name in SHARED_HEAPS:
        if name != candidate.plan.shared.allocator:
            yield move_over(candidate, name, f":shared={name}")


def move_over(one: Candidate, shared: str, ending: str) -> Candidate:
    """The candidate's pools over another shared allocator, which the ending of its name tells."""
    alignment = {"alignment": scalars_of(one.plan)["alignment"]}
    plan = replace(one.plan, shared=Plan(shared, alignment))
    heap, reason = replace(one.heap, plan=plan), f"{one.reason}; over {shared}"
    return replace(one, name=f"{one.name}{ending}", heap=heap, reason=reason)


def _drop_equal(candidates: Sequence[Candidate]) -> list[PortfolioEntry]:
    """The first candidate of each plan; NotApplicable, naming the first, for later equal ones."""
    kept: list[tuple[Plan, str]] = []
    made: list[PortfolioEntry] = []
    for one in candidates:
        plan = drop_standard_values(one.plan)
        name = next((before for other, before in kept if other == plan), None)
        if name is None:
            kept.append((plan, one.name))
            made.append(one)
        elif name != one.name:
            made.append(NotApplicable(one.name, f"the same plan as {name}", name, one.replayed))
    return made


def drop_standard_values(plan: Plan) -> Plan:
    """The same plan without the scalars that have their standard value."""
    standards = {tunable.name: tunable.standard for tunable in info_of(plan).tunables}
    scalars = {name: value for name, value in plan.scalars.items() if value != standards.get(name)}
    shared = None if plan.shared is None else drop_standard_values(plan.shared)
    return replace(plan, scalars=scalars, shared=shared)
