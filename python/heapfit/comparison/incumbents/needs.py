# SPDX-License-Identifier: Apache-2.0
"""What recordings need in a heap, by one search, and the part that no run ever frees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, takewhile
from typing import Any

import numpy as np

from heapfit import _engine
from heapfit.comparison.incumbents.heap import Heap, ReplayableTrace, make_system_heap
from heapfit.comparison.incumbents.heap_names import describe_namesakes
from heapfit.comparison.incumbents.requests import Requests, remove_objects, requests_of
from heapfit.comparison.work import EVENTS_TO_TRY_ALL, limit_to_try_all
from heapfit.errors import HeapfitError
from heapfit.plan.plan import Plan
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import is_allocation


@dataclass(frozen=True, slots=True)
class Permanent:
    """Requests that every run begins with and none frees. Bytes."""

    objects: tuple[int, ...]  # which of each run's first requests
    size: int  # bytes asked for
    static: int  # the same as static memory, each aligned as a block
    saved: int | None  # of heap and static memory together; None: the heap serves no such run


@dataclass(frozen=True, slots=True)
class Need:
    """What one recording needs in a heap: bytes of its memory."""

    r_min: int | None  # the smallest that serves; None: none below 4 GiB that was tried
    r_safe: int | None  # the smallest from which every larger one tried serves
    search: _engine.RegionSearch  # its regions are of the plan
    events: int  # replayed to know it


@dataclass(frozen=True, slots=True)
class Needs:
    """What recordings need in one heap that is to serve them all. Bytes."""

    heap: Heap  # with the headers that it has at this size
    found: tuple[Need, ...]  # of each recording
    permanent: Permanent | None = None
    more_events: int = 0  # replayed beside those of `found`
    notes: tuple[str, ...] = ()  # what it is not, and what is asked for that it refuses

    @property
    def memories(self) -> tuple[int | None, ...]:
        """The memory for each recording, R_safe; None: no region serves it."""
        return tuple(one.r_safe for one in self.found)

    @property
    def most(self) -> int | None:
        """The memory for all recordings; None where one of them has no region."""
        return find_largest(self.memories)

    def require_most(self) -> int:
        """The memory for all recordings; HeapfitError where one of them has no region."""
        if self.most is None:
            raise HeapfitError(
                f"{self.heap.title or self.heap.name}: serves these recordings in no region below "
                "4 GiB"
            )
        return self.most

    @property
    def events(self) -> int:
        """The events that were replayed to know it."""
        return self.more_events + sum(one.events for one in self.found)


def find_largest(regions: Sequence[int | None]) -> int | None:
    """The largest of some regions; None if one of them is, or there are none.

    >>> find_largest([8, 16]), find_largest([8, None]), find_largest([])
    (16, None, None)
    """
    known = [one for one in regions if one is not None]
    return max(known, default=None) if len(known) == len(regions) else None


def search(
    heap: Heap,
    trial: _engine.Trial,
    *,
    progress: Progress = ignore_progress,
    also: int = 0,
    threads: int = 0,
    every_size: bool | None = None,
    is_safe_alone: bool = False,
    least: int = EVENTS_TO_TRY_ALL,
    known: dict[tuple[Any, ...], _engine.RegionSearch] | None = None,
) -> Need:
    """The smallest regions in which a trial of the heap serves; `measure` has the rules.

    `is_safe_alone`: R_min only where one run tells it. `known`: searches on this recording, of
    regions that begin alike; it is added to. `least`: events that trying more sizes may take.
    """
    step, events, known = f"compare {heap.name}", 0, {} if known is None else known
    most = limit_to_try_all(trial.event_count, least) if every_size is None else 0
    asked = (_identify(heap), also, every_size, most)
    found = known.get((*asked, False)) or known.get((*asked, is_safe_alone))

    def tell(done: int, total: int) -> None:
        progress(step, done / max(total, 1))

    if found is None:
        found = trial.scan(threads, tell, bool(every_size), also, is_safe_alone, most)
        known[*asked, is_safe_alone], events = found, found.events
    progress(step, 1.0)
    r_min, r_safe = (one and heap.memory(one) for one in (found.r_min, found.r_safe))
    need = Need(r_min, r_safe, found, events)
    # Memory and region may be further apart in some sizes than in others, by the heap's classes.
    tried = () if heap.is_ours else found.sizes.tolist()
    is_between = any(heap.set_to(heap.memory(one)) % 8 for one in tried)
    return _search_settings(heap, trial, need, also) if is_between and r_safe else need


def _search_settings(heap: Heap, trial: _engine.Trial, need: Need, also: int) -> Need:
    """The need by multiples of 8 B of what the heap's user sets, where our regions lie between.

    Each is tried where each of ours was; else the next from there on that serves is taken.
    """
    found, events, forked = need.search, [need.events], _engine.ForkedTrial(trial)

    def serves(setting: int) -> bool:
        tried = forked.run(heap.region(heap.memory_of(setting)))
        events.append(tried.events - tried.known)
        return tried.runs

    safe = found.r_safe or trial.smallest_region
    known = (found.r_min or safe, max(safe, also), found.sizes[-1])
    first, last, top = (-(-heap.set_to(heap.memory(int(one))) // 8) * 8 for one in known)
    if found.searched and not found.events_left and found.r_min:
        r_min, r_safe = try_every_size(serves, {}, range(top, 0, -8))
    elif found.searched and not found.events_left:
        r_min, r_safe = None, min(takewhile(serves, range(top, 0, -8)), default=None)
    else:
        r_safe = next((one for one in range(last, 2 * last, 8) if serves(one)), None)
        r_min = next((one for one in range(first, last, 8) if serves(one)), r_safe)
    r_min, r_safe = (one and heap.memory_of(one) for one in (found.r_min and r_min, r_safe))
    return Need(r_min, r_safe, found, sum(events))


def try_every_size(
    serves: Callable[[int], bool], runs: dict[int, bool], sizes: Iterable[int]
) -> tuple[int | None, int | None]:
    """R_min and R_safe after each of the sizes was tried, from the largest to 0.9 R_min.

    `runs` has which sizes were tried before, and if they served; it is added to.
    """
    r_min = min((one for one, is_served in runs.items() if is_served), default=None)
    for size in sizes:
        if r_min is not None and size < 0.9 * r_min:
            break
        runs[size] = serves(size)
        r_min = min(size, r_min or size) if runs[size] else r_min
    failing = max((one for one, is_served in runs.items() if not is_served), default=0)
    return r_min, min((one for one in runs if one > failing), default=None)


def measure(
    heap: Heap,
    recordings: Sequence[ReplayableTrace],
    *,
    progress: Progress = ignore_progress,
    base: int = 0,
    also: int = 0,
    every_size: bool | None = None,
    is_safe_alone: bool = True,
) -> Needs:
    """Searches the smallest regions in which a heap serves each recording.

    A region begins at a multiple of the largest alignment that the recording asks for, at least of
    `base`. Every multiple of 8 B is tried if `every_size`; by default as many of those above R_safe
    as are cheap: heaps whose placements depend on the region's end may fail in larger regions. Of
    several recordings, that is of those which need most, until all others serve in that memory. If
    `is_safe_alone`, R_min is known only where one run tells it. `also`: a region that failed
    elsewhere. Where a heap's longer headers fail in memories above one that serves, the need is
    with these. HeapfitError if the heap cannot serve a request.
    """

    how: dict[str, Any] = {"every_size": every_size, "is_safe_alone": is_safe_alone}

    def ask(one: ReplayableTrace, least: int = EVENTS_TO_TRY_ALL, failed: int = 0) -> Need:
        return search(
            heap,
            heap.trial(one, base),
            progress=progress,
            also=max(also, failed),
            threads=one.threads if isinstance(one, LoadedTrace) else 0,
            least=least,
            known=find_searches(one.found, max(base, one.largest_alignment), heap.plan)
            if isinstance(one, LoadedTrace)
            else None,
            **how,
        )

    found = [ask(one, EVENTS_TO_TRY_ALL // len(recordings)) for one in recordings]
    if every_size is None and len(recordings) > 1:
        _search_hardest(heap, recordings, found, base, ask)
    needs = Needs(heap, tuple(found))
    grown = grow_headers(heap, [None])
    if grown == heap:
        return needs
    again = measure(grown, recordings, progress=progress, base=base, also=also, **how)
    asked, other = (needs, again) if grow_headers(heap, again.memories) == heap else (again, needs)
    return replace(asked, more_events=other.events)


def _search_hardest(
    heap: Heap,
    recordings: Sequence[ReplayableTrace],
    needs: list[Need],
    base: int,
    ask: Callable[..., Need],
) -> None:
    """Searches what needs most as if it were alone, until all others serve in its need.

    The needs are changed in place.
    """
    left = {i for i, one in enumerate(needs) if one.search.events_left}
    again = failed = {i for i, one in enumerate(needs) if one.search.searched}
    while (again or failed) and (most := find_largest([one.r_safe for one in needs])) is not None:
        again = {i for i in left if needs[i].r_safe == most}
        tried = {
            i: heap.trial(recordings[i], base).run(heap.region(most))
            for i, one in enumerate(needs)
            if one.search.searched and one.r_safe != most and not again
        }
        failed = {i for i, one in tried.items() if not one.runs}
        left = left - again - failed
        for i, one in tried.items():
            needs[i] = replace(needs[i], events=needs[i].events + one.events)
        for i in again | failed:
            found = ask(recordings[i], failed=heap.region(most) if i in failed else 0)
            needs[i] = replace(found, events=found.events + needs[i].events)


def step_of(search: _engine.RegionSearch) -> int:
    """Bytes between the sizes from R_safe on that were tried; 0 where none had to be."""
    return _engine.REGION_UNIT if search.searched and not search.events_left else search.step


def find_searches(
    found: dict[tuple[Any, ...], Any], base: int, plan: Plan
) -> dict[tuple[Any, ...], _engine.RegionSearch]:
    """The searches that are among what was found of a recording, of regions that begin so."""
    key = ("regions", max(base, plan.alignment))
    known: dict[tuple[Any, ...], _engine.RegionSearch] = found.setdefault(key, {})
    return known


def find_known(heap: Heap, recording: LoadedTrace, base: int) -> int | None:
    """R_safe of a heap as it was found of a recording; None: it was not."""
    known = find_searches(recording.found, max(base, recording.largest_alignment), heap.plan)
    keys = [key for key in known if (key[0], key[2]) == (_identify(heap), None)]
    best = max(keys, key=lambda key: (key[1], key[3], not key[4]), default=None)
    r_safe = known[best].r_safe if best else None
    return r_safe and heap.memory(r_safe)


def _identify(heap: Heap) -> str:
    """A heap by what decides its placements."""
    return repr(replace(heap, name="", title=""))


def grow_headers(heap: Heap, memories: Sequence[int | None]) -> Heap:
    """The heap with the headers that it has where it needs so much memory; None: any."""
    most = heap.largest_short
    if not most or all(one is not None and heap.set_to(one) <= most for one in memories):
        return heap
    return make_system_heap(
        heap.name, heap.plan.alignment, header=heap.long_header, largest_short=0
    )


def measure_with_notes(
    heap: Heap,
    recordings: Sequence[ReplayableTrace],
    progress: Progress = ignore_progress,
    *,
    is_own: bool = True,
) -> Needs:
    """The needs with notes on what the heap is not, and with what no run ever frees.

    That is sought if the program has the heap: requests that begin all recordings, before any free,
    and stay until the end. Their saving is of the largest memory of all.
    """
    needs = measure(heap, recordings, progress=progress)
    requests = [*map(requests_of, recordings)]
    told = chain(describe_namesakes(heap.name), *map(heap.describe_requests, requests))
    needs = replace(needs, notes=tuple(dict.fromkeys(told)))
    objects = _find_permanent(requests) if is_own and needs.most is not None else ()
    if not objects or needs.most is None:
        return needs
    sizes, unit = [int(requests[0].size[one]) for one in objects], needs.heap.plan.alignment
    static = sum(-(-size // unit) * unit for size in sizes)
    base = max(one.largest_alignment for one in recordings)
    rest = measure(needs.heap, [remove_objects(one, objects) for one in requests], base=base)
    saved = None if rest.most is None else needs.most - rest.most - static
    permanent = Permanent(objects, sum(sizes), static, saved)
    return replace(needs, permanent=permanent, more_events=needs.more_events + rest.events)


def _find_permanent(recordings: Sequence[Requests]) -> tuple[int, ...]:
    common = min(int(np.argmin(np.append(is_allocation(one.op), False))) for one in recordings)
    first, is_kept = recordings[0], np.ones(common, np.bool_)
    for one in recordings:
        same = (one.size[:common] == first.size[:common]) & (
            one.alignment[:common] == first.alignment[:common]
        )
        is_kept &= np.cumprod(same).astype(np.bool_)
        touched = one.named[~is_allocation(one.op)]
        is_kept[touched[touched < common]] = False
    is_everything = all(int(is_allocation(one.op).sum()) == is_kept.sum() for one in recordings)
    return () if is_everything else tuple(np.flatnonzero(is_kept).tolist())
