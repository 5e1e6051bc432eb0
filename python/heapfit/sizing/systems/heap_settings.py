# SPDX-License-Identifier: Apache-2.0
"""Settings from recordings of a heap: its size, and a pool for each size that has a name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from heapfit.comparison.incumbents.heap import Heap, make_system_heap
from heapfit.comparison.incumbents.requests import remove_objects, requests_of
from heapfit.comparison.margin import MarginBasis, MarginKind
from heapfit.errors import HeapfitError
from heapfit.fitting.answer import Answer
from heapfit.fitting.incumbent import measure_incumbent, size_incumbent
from heapfit.fitting.longer_runs import find_kinds
from heapfit.fitting.options import FitOptions
from heapfit.fitting.workload import Workload
from heapfit.forecast.load import Load
from heapfit.progress import Progress
from heapfit.sizing.demand import Assign, measure_demands
from heapfit.sizing.run_out import least_count
from heapfit.sizing.settings import Setting, SettingsOptions, SizedSettings
from heapfit.sizing.systems.facts import Facts, Values, add_terms, standard_assumptions
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import Integers, is_allocation
from heapfit.trace.profile import profile_events
from heapfit.trace.stored import Trace


def size_from_heap(
    facts: Facts, workload: Workload, options: SettingsOptions, known: Values, progress: Progress
) -> SizedSettings:
    """The setting of a system's heap behind those of pools with names, or such pools alone."""
    traces = [one.trace for one in workload.recordings]
    objects = facts.get("objects", {})
    if objects and not options.named:
        name = next(iter(objects))
        raise HeapfitError(f"assume: pools of objects need their sizes, such as 160={name}")
    pools = _size_named_pools(traces, options, objects, progress)
    settings = [setting for setting, _ in pools]
    if objects:
        return SizedSettings(tuple(settings), sum(size * one.value for one, size in pools))
    made = _make_heap(facts, known)
    heap, answer = size_heap(made, workload.loaded, options.named, progress)
    beside = facts.get("beside_pools") if pools else None
    if beside:
        settings.insert(
            0, Setting(beside["name"], beside["value"], beside["default"], None, beside["why"])
        )
    size, unit = answer.size, heap.plan.alignment
    kinds = find_kinds(
        [(one.trace, one.profile) for one in workload.loaded], traces[0], heap.title, size, ()
    )
    if kinds.shown.is_leak:
        raise HeapfitError(f"{facts['name']}: no size lasts. {' '.join(kinds.growth)}")
    why = " ".join([*answer.sentences(), facts["why"]])
    settings.append(Setting(facts["name"], heap.set_to(size.region), facts["default"], None, why))
    return SizedSettings(
        tuple(settings),
        size.region + sum(-(-size // unit) * unit * one.value for one, size in pools),
        remarks=(
            f"{made.name} is kept, as these are its settings: `heapfit fit --now {made.name}` says "
            "whether a fitted heap takes less",
        ),
    )


def _make_heap(facts: Facts, known: Values) -> Heap:
    """The system's heap; its headers grow with its size where nothing else is assumed of them."""
    floors = facts.get("floors", {})
    alignment = max(floors.get("alignment", 0), known.get("alignment", 4))
    own = {one.name: one.value for one in standard_assumptions(facts)}
    is_changed = any(known[name] != own[name] for name in own.keys() - {"alignment"})
    changed = {
        fact: max(floors.get(fact, 0), add_terms(terms, known))
        for fact, terms in facts.get("changes", {}).items()
        if is_changed
    }
    is_own = alignment == own.get("alignment", alignment)
    name = facts["heap"] if is_own else f"{facts['heap']}:alignment={alignment}"
    return replace(make_system_heap(name, alignment, **changed), setting=facts["name"])


def _size_named_pools(
    traces: Sequence[Trace],
    options: SettingsOptions,
    standards: Mapping[str, str],
    progress: Progress,
) -> tuple[tuple[Setting, int], ...]:
    """A pool for each size of requests that the user knows by name: its setting, and the size."""
    sizes = sorted(options.named)
    if not sizes:
        return ()
    demands = measure_demands(traces, len(sizes), _assign_exact_sizes(sizes), progress)
    pools = []
    for size, demand in zip(sizes, demands, strict=True):
        if demand.requests == 0:
            raise HeapfitError(f"name: no recording asks for {size} bytes ({options.named[size]})")
        name, run_out = options.named[size], least_count(demand, options.admission)
        why = f"Blocks of {size} bytes at once."
        pools.append(
            (
                Setting(name, run_out.count, standards.get(name, "see the system"), run_out, why),
                size,
            )
        )
    return tuple(pools)


def _assign_exact_sizes(sizes: list[int]) -> Assign:
    """A pool for each of the sizes, ascending, and none for any other."""
    known = np.array(sizes, dtype=np.int64)

    def assign(requests: Integers) -> tuple[Integers, Integers]:
        pool = np.minimum(np.searchsorted(known, requests), len(known) - 1)
        pool = np.where(known[pool] == requests, pool, -1)
        return pool, np.ones(len(requests), dtype=np.int64)

    return assign


def size_heap(
    heap: Heap, recordings: Sequence[LoadedTrace], elsewhere: Collection[int], progress: Progress
) -> tuple[Heap, Answer]:
    """The answer for a heap that serves all recordings but for blocks of the sizes `elsewhere`.

    With the heap, whose headers may depend on its size.
    """
    served = [_drop_sizes(one, elsewhere) for one in recordings]
    known = MarginBasis(Load.of([one.profile for one in served]), MarginKind.UNKNOWN)
    needs = measure_incumbent(heap, served, progress)
    needs.require_most()
    needs, size, known, _ = size_incumbent(needs, served, known=known, options=FitOptions())
    return needs.heap, Answer(size, known, None, needs.heap, is_kept=True)


def _drop_sizes(loaded: LoadedTrace, sizes: Collection[int]) -> LoadedTrace:
    if not sizes:
        return loaded
    requests = requests_of(loaded)
    asked = requests.size[is_allocation(requests.op)]
    elsewhere = np.isin(asked, np.array(sorted(sizes), dtype=np.uint64))
    if elsewhere.all():
        raise HeapfitError(f"{loaded.trace.given}: no request is left for the heap")
    events = remove_objects(requests, np.flatnonzero(elsewhere).tolist()).engine()
    no_sites = np.zeros(0, np.uint32)
    return replace(loaded, events=events, sites=no_sites, profile=profile_events(events), found={})
