# SPDX-License-Identifier: Apache-2.0
"""What a page of a check shows: its recordings read once more, and their heaps replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

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
from heapfit.importers import open_trace
from heapfit.plan.allocators import splits_blocks
from heapfit.programs.site_names import site_names
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.names import source_name


@dataclass(frozen=True, slots=True)
class ShownCheck:
    """A check, and one of its recordings in full."""

    check: Check
    recording: CheckedRecording  # the first that is out of memory, else that of the highest peak
    shown: LoadedTrace  # it
    heap_map: HeapMap | None  # None: the heap's blocks may lie in pieces
    event: int  # after which it is out of memory, or its peak
    use: PeakUse  # of the heap's bytes then
    sites: Mapping[int, str]  # call sites by name, where known


def read_shown(check: Check, sources: Sequence[Source]) -> ShownCheck:
    """Reads the recording of a check that a page shows, and replays it some six times."""
    importing, place = check.options.importing, _select_shown(check)
    with ExitStack() as opened:
        trace = opened.enter_context(open_trace(sources[place], importing))
        shown = load_trace(trace, check.plan.plan.alignment)
        recording = check.recordings[place]
        sites: Mapping[int, str] = site_names(shown, check.options.programs)
        heap_map: HeapMap | None
        if check.is_comparison:
            base = load_trace(opened.enter_context(open_trace(_base_source(check), importing)))
            subject, heap_map, sites = _map_both(check, recording, (base, shown), sites)
        else:
            subject = subject_of_plan(check.plan.name, shown, check.plan)
            need = recording.needed.r_safe if recording.needed else None
            also = [] if need is None else [need]
            heap_map = None if splits_blocks(check.plan.plan) else map_of(shown, [subject], also)
        refusal = recording.run.refusal
        is_refused = refusal is not None and refusal.event > 0
        event = refusal.event - 1 if refusal and is_refused else shown.profile.u_max_event
        use = subject.measure_use(event)
        return ShownCheck(check, recording, shown, heap_map, event, use, sites)


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


def _base_source(check: Check) -> Source:
    """The recording of the base that the others are compared with."""
    assert check.base is not None, "a comparison has a base"
    for source in check.options.base:
        if source_name(path_of(source)) == check.base.name:
            return source
    raise AssertionError("the base's name is of one of its recordings")
