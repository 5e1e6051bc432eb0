# SPDX-License-Identifier: Apache-2.0
"""What a page of a check shows: its recordings read once more, and their heaps replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from heapfit import _engine
from heapfit.checks.check import Check, CheckedRecording, Source, path_of
from heapfit.checks.run import subject_of_plan
from heapfit.comparison.heap_map import (
    HeapMap,
    PeakUse,
    ReplaySubject,
    map_of,
    map_recordings,
    share_sites,
)
from heapfit.comparison.incumbents.heap_plans import heap_of_plan
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.trial import least_region
from heapfit.importers import open_trace
from heapfit.importers.site_names import site_names
from heapfit.plan.allocators import find_allocators
from heapfit.plan.plan_file import PlanFile
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.names import source_name

_SIZES = 32  # up to the plan's region: the least is found in which a recording runs


@dataclass(frozen=True, slots=True)
class RegionNeed:
    """The region that a recording needs on the plan."""

    region: int | None  # bytes; None: more than was tried
    is_seen: bool  # the plan was made from it
    is_bound: bool = False  # it was not searched: the least of some sizes up to the plan's


@dataclass(frozen=True, slots=True)
class ShownCheck:
    """A check, and one of its recordings in full."""

    check: Check
    recording: CheckedRecording  # the first that is out of memory, else that of the highest peak
    shown: LoadedTrace  # it
    needed: tuple[RegionNeed, ...]  # of all recordings
    heap_map: HeapMap | None  # None: the heap's blocks may lie in pieces
    event: int  # after which it is out of memory, or its peak
    use: PeakUse  # of the heap's bytes then
    sites: Mapping[int, str]  # call sites by name, where known


def read_shown(check: Check, sources: Sequence[Source]) -> ShownCheck:
    """Reads each recording of a check once more and replays it some six times."""
    importing, place, shown, needed = check.options.importing, _select_shown(check), None, []
    with ExitStack() as opened:
        for number, (source, one) in enumerate(zip(sources, check.recordings, strict=True)):
            trace = opened.enter_context(open_trace(source, importing))
            loaded = load_trace(trace, check.plan.plan.alignment)
            needed.append(_measure_need(loaded, check.plan, one))
            shown = loaded if number == place else shown
        assert shown is not None, "a check has one recording at least"
        recording = check.recordings[place]
        sites: Mapping[int, str] = site_names(shown, check.options.programs)
        heap_map: HeapMap | None
        if check.is_comparison:
            base = load_trace(opened.enter_context(open_trace(_base_source(check), importing)))
            subject, heap_map, sites = _map_both(check, recording, (base, shown), sites)
        else:
            subject = subject_of_plan(check.plan.name, shown, check.plan)
            (info,) = find_allocators([check.plan.plan.allocator])
            also = [] if needed[place].region is None else [needed[place].region or 0]
            heap_map = None if info.in_pieces else map_of(shown, [subject], also)
        refusal = recording.run.refusal
        is_refused = refusal is not None and refusal.event > 0
        event = refusal.event - 1 if refusal and is_refused else shown.profile.u_max_event
        use = subject.measure_use(event)
        return ShownCheck(check, recording, shown, tuple(needed), heap_map, event, use, sites)


def _map_both(
    check: Check,
    recording: CheckedRecording,
    pair: tuple[LoadedTrace, LoadedTrace],
    names: Mapping[int, str],
) -> tuple[ReplaySubject, HeapMap, Mapping[int, str]]:
    """The later of two recordings, both maps at one scale, and the call sites of both by name."""
    (base, shown), options = pair, check.options
    old_names = site_names(base, options.base_programs or options.programs)
    assert check.base is not None and recording.needed is not None, "both were measured"
    old = subject_of_plan(check.base.name, base, check.plan, check.base.needed)
    new = subject_of_plan(recording.run.name, shown, check.plan, recording.needed.r_safe)
    both = map_recordings([(base, old), (shown, new)])
    sites = share_sites(both.sites, old_names, names)
    return new, replace(both, sites=sites), {**old_names, **names}


def _select_shown(check: Check) -> int:
    """The index of the failed recording that needs most, else of the highest peak."""
    shown = (check.failed or sorted(check.recordings, key=lambda one: -one.run.peak))[0]
    return next(i for i, one in enumerate(check.recordings) if one is shown)


def _measure_need(loaded: LoadedTrace, plan: PlanFile, checked: CheckedRecording) -> RegionNeed:
    is_seen = plan.trained_on.has_seen(loaded.content)
    if checked.needed is not None:
        return RegionNeed(checked.needed.r_safe, is_seen)
    heap, region = heap_of_plan(plan), plan.region or 0
    if not heap.is_ours:
        needs = measure(heap, [loaded])
        memory = None if needs.most is None else needs.heap.set_to(needs.most)
        return RegionNeed(memory, is_seen)
    trial = heap.trial(loaded, plan.base_alignment)
    low = min(checked.run.peak, region)
    unit = _engine.REGION_UNIT
    sizes = sorted({(low + (region - low) * i // _SIZES) // unit * unit for i in range(_SIZES)})
    least = least_region(trial, trial.run(region), [*sizes, region])
    return RegionNeed(least, is_seen, is_bound=True)


def _base_source(check: Check) -> Source:
    """The recording of the base that the others are compared with."""
    assert check.base is not None, "a comparison has a base"
    for source in check.options.base:
        if source_name(path_of(source)) == check.base.name:
            return source
    raise AssertionError("the base's name is of one of its recordings")
