# SPDX-License-Identifier: Apache-2.0
"""One plan's smallest regions on a trace, and what its metadata accesses cost in them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from heapfit import _engine
from heapfit.comparison.candidate import Candidate
from heapfit.comparison.incumbents.needs import Need, find_searches, grow_headers, search, step_of
from heapfit.comparison.row import Row
from heapfit.comparison.work import Work
from heapfit.forecast.load import Load
from heapfit.plan.allocators import splits_blocks
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace


@dataclass(frozen=True, slots=True)
class Precision:
    """How exactly R_min and R_safe are to be known (decision 19)."""

    # Each multiple of 8 B of the window; None: as many of those next to R_safe as are cheap.
    every_size: bool | None = None
    is_of_all: bool = True  # else R_safe only of plans that may win (pruning.py)


STANDARD_PRECISION = Precision()
EXACT = Precision(every_size=True)


def measure_candidate(
    candidate: Candidate,
    loaded: LoadedTrace,
    *,
    base_alignment: int,
    precision: Precision = STANDARD_PRECISION,
    packing: int = 0,
    progress: Progress = ignore_progress,
) -> Row:
    """One plan's smallest regions on a trace, and a metered replay in R_safe.

    Every region begins at a multiple of `base_alignment`. `packing`: bytes of an offline packing
    that replays may beat.
    """
    plan, heap, events = candidate.plan.engine(), candidate.heap, candidate.heap.events(loaded)
    trial = _engine.Trial(plan, events, base_alignment)
    need = search(
        replace(heap, name=candidate.name),
        trial,
        progress=progress,
        threads=loaded.threads,
        every_size=precision.every_size,
        is_safe_alone=not precision.is_of_all,
        known=find_searches(loaded.found, base_alignment, candidate.plan),
    )
    if (grown := grow_headers(heap, [None])) != heap:
        row = measure_candidate(
            replace(candidate, heap=grown),
            loaded,
            base_alignment=base_alignment,
            precision=precision,
            packing=packing,
            progress=progress,
        )
        is_short = grow_headers(heap, [need.r_min]) == heap
        if grow_headers(heap, [row.r_safe]) != heap:  # above some that serve with short ones
            return replace(row, r_min=need.r_min) if is_short else row
    memory = need.r_min if need.r_safe is None else need.r_safe
    counted, room = heap.with_links(0 if memory is None else heap.region(memory))
    replay = None if memory is None else replay_in(counted, events, (room, base_alignment))
    return replace(
        make_row(candidate, load_of(loaded)),
        r_min=need.r_min,
        r_safe=need.r_safe,
        step=step_of(need.search),
        replay=replay,
        events_left=need.search.events_left,
        placed=_lower_placement(candidate, events, trial, need.search, packing),
        work=_work_of(need, replay, precision),
    )


def make_row(candidate: Candidate, load: Load) -> Row:
    """The row of a candidate before anything is known of its regions."""
    return Row(
        name=candidate.name,
        reason=candidate.reason,
        heap=candidate.heap,
        alignment=candidate.plan.engine().alignment,
        r_min=None,
        r_safe=None,
        step=0,
        load=load,
        trained_on_this_trace=candidate.trained_on_this_trace,
        replay=None,
        is_searched_further=candidate.is_searched_further,
        notes=candidate.notes,
    )


def load_of(loaded: LoadedTrace) -> Load:
    """The load of a trace, on which its margins rest."""
    return loaded.once((Load,), lambda: Load.of([loaded.foretelling]))


def try_limit(candidate: Candidate, loaded: LoadedTrace, base_alignment: int, limit: int) -> Row:
    """The row of a plan after one replay in `limit` bytes, which shows if it needs more."""
    tried = candidate.heap.trial(loaded, base_alignment).run(limit)
    return replace(
        make_row(candidate, load_of(loaded)),
        r_safe_at_least=None if tried.runs else limit + _engine.REGION_UNIT,
        work=Work(regions=tried.events),
    )


def _work_of(need: Need, replay: _engine.ReplayResult | None, precision: Precision) -> Work:
    is_whole = precision.every_size and need.search.searched
    return Work(
        regions=0 if is_whole else need.events,
        every_size=need.events if is_whole else 0,
        metered=0 if replay is None else replay.events,
        walked=0 if replay is None else replay.blocks_walked,
    )


def _lower_placement(
    candidate: Candidate,
    events: _engine.EventArray,
    trial: _engine.Trial,
    search: _engine.RegionSearch,
    packing: int,
) -> int | None:
    """The checked height of the search's lowest placement if it is below `packing`, else None.

    Only of heaps whose blocks lie in one piece each.
    """
    is_lower = search.height_region and search.height < packing
    if not (is_lower and candidate.heap.is_ours) or splits_blocks(candidate.plan):
        return None
    return _engine.check_placement(_engine.Lifetimes(events), trial.placement(search.height_region))


def replay_in(
    plan: _engine.Plan, events: _engine.EventArray, region: tuple[int, int], samples: int = 0
) -> _engine.ReplayResult:
    """Replays a whole trace, metered, in a region: its size and its base's alignment in bytes."""
    size, base_alignment = region
    replay = _engine.Replay(
        plan, size, base_alignment=base_alignment, samples=samples, expected_events=len(events)
    )
    replay.feed(events)
    return replay.result()
