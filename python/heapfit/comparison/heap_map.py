# SPDX-License-Identifier: Apache-2.0
"""The replays of the heap map: each block's offset in two heaps, each in many regions.

A heap is replayed in the region that it needs, and in every one of a row of regions, the same for
both, up to the first request that is refused there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.comparison.case import ReportCase
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.incumbents.served import ServedRequests
from heapfit.comparison.row import Row
from heapfit.comparison.trial import Refusal
from heapfit.errors import HeapfitError
from heapfit.forecast.time_units import MICROSECONDS
from heapfit.outputs.scratch import scratch_folder
from heapfit.progress import Progress, count_steps, ignore_progress
from heapfit.sweep.threads import map_in_threads
from heapfit.trace.live import LiveHeap
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import TraceInfo, write_trace

_FIRST_REGION = 1 << 16  # bytes, of a live heap whose region is not given
REGIONS = 24  # that both heaps are replayed in
_UNIT = _engine.REGION_UNIT
_LONGEST_GAP = 3_600_000_000  # microseconds; more counts as one second
ELSEWHERE = np.uint64(2**31)  # the offset of a block in another heap: above every region drawn
_MOST_HEAPS = 6  # whose bytes at the peak are compared
LEAST_HOLE = 32  # bytes: what is less between blocks may be the rest of one
_MOST_ROUNDING = 0.02  # of what blocks have; beyond it what lies between may be parts of them
_MOST_ACCESSES = 500  # an event: a heap that makes more is too slow to be searched for a page

Offsets = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class RegionReplay:
    """A replay of a heap in one region."""

    region: int  # bytes, as its user sets them
    offsets: Offsets  # of the trace's lifetimes in their order, up to the refusal
    refused: Refusal | None  # None: nothing was

    @property
    def runs(self) -> bool:
        """True if the whole trace was served."""
        return self.refused is None


@dataclass(frozen=True, slots=True)
class MappedHeap:
    """A heap in the region that it needs, and in the regions of the row."""

    name: str
    own: RegionReplay
    row: tuple[RegionReplay, ...]
    events: int  # of the recording
    peak: int  # the event at which the most bytes are live


@dataclass(frozen=True, slots=True)
class Hole:
    """Free bytes between what lies below them and above them, in words."""

    address: int
    size: int
    below: str
    above: str


@dataclass(frozen=True, slots=True)
class PeakUse:
    """The use of a heap's bytes when the most are live; the parts sum to its region."""

    name: str
    payload: int  # asked for
    rounding: int  # within live blocks, not requested
    largest_free: int  # in one piece
    holes: int  # other free bytes, idle blocks of pools among them
    control: int  # headers, map and tables

    @property
    def region(self) -> int:
        """Bytes of the region: the sum of all parts."""
        return self.payload + self.rounding + self.largest_free + self.holes + self.control


@dataclass(frozen=True, slots=True)
class HeapMap:
    """The heaps of the map: the incumbent first, if it serves the trace, the chosen one last."""

    heaps: tuple[MappedHeap, ...]
    lifetimes: _engine.Lifetimes  # of the trace that is shown
    sites: NDArray[np.uint32]  # call site of each; empty if none is recorded
    gaps: NDArray[np.uint64] | None  # microseconds from each event to the next, where known
    is_divided: bool = False  # each heap has a part of the blocks, in a memory of its own
    has_own_scales: bool = False  # each heap is drawn to its own height, not to the largest's
    note: str = ""  # a sentence on the scale, where it is divided

    @property
    def events(self) -> int:
        """The length of the axis in events."""
        return max(one.events for one in self.heaps)

    @property
    def peak(self) -> int:
        """The event at which the most bytes are live, of the last heap's recording."""
        return self.heaps[-1].peak


MappedCase: TypeAlias = tuple[HeapMap | None, tuple[PeakUse, ...]]  # the heaps of a case


@dataclass(frozen=True, slots=True)
class ReplaySubject:
    """A heap to replay."""

    name: str
    plan: _engine.Plan
    events: _engine.EventArray
    base: int  # alignment of the region
    region: int  # of the plan, that it needs
    shift: int = 0  # from an offset in our region to one in the memory of its user
    asked: ServedRequests | None = None  # where `events` are not those of the trace

    @classmethod
    def of_heap(
        cls, name: str, heap: Heap, shown: LoadedTrace, region: tuple[int, int]
    ) -> ReplaySubject:
        """A heap in a region of its plan and a base alignment, both in bytes."""
        events, plan = heap.events(shown), heap.plan.engine()
        size, base = region
        return cls(
            *(name, plan, events, base, size, heap.memory(size) - size),
            None if heap.is_ours else ServedRequests.of(heap, shown),
        )

    def measure_use(self, peak: int) -> PeakUse:
        """The use of the heap's bytes in the region that it needs, after this event."""
        replay = _engine.Replay(self.plan, self.region, base_alignment=self.base)
        replay.feed(self.events, self._count_events_until(peak))
        blocks, memory = replay.blocks(), self.region + self.shift
        return PeakUse(
            name=self.name,
            payload=replay.live,
            rounding=blocks.used - replay.live,
            largest_free=blocks.largest_free,
            holes=blocks.free - blocks.largest_free,
            control=memory - blocks.used - blocks.free,
        )

    def replay(self, memory: int) -> RegionReplay:
        """The replay in so many bytes of its memory."""
        region = memory - self.shift
        if region < self.plan.smallest_region:  # the plan takes no such region
            return RegionReplay(memory, np.zeros(0, np.uint64), Refusal(0, 0, 0, memory, 0))
        replay = _engine.Replay(self.plan, region, base_alignment=self.base, keep_offsets=True)
        runs = replay.feed(self.events)
        refused = None if runs else self._find_failed_request(replay, len(replay.offsets))
        return RegionReplay(memory, self._offsets_of(replay), refused)

    def find_holes(self, shown: LoadedTrace, event: int) -> tuple[Hole, ...] | None:
        """The holes between two blocks after an event of the trace, the largest first.

        Bytes beside what separates other blocks, their headers; by the blocks' places alone. None
        for a heap that gives much more than is asked for: where blocks end is not known.
        """
        replay = _engine.Replay(self.plan, self.region, base_alignment=self.base, keep_offsets=True)
        replay.feed(self.events, self._count_events_until(event))
        offsets, lives = self._offsets_of(replay), _engine.Lifetimes(shown.events)
        count, used = len(offsets), replay.blocks().used
        is_live = (lives.starts[:count] <= event) & (lives.ends[:count] > event)
        order = np.argsort(offsets[is_live])
        places = offsets[is_live][order].astype(np.int64)
        asked = lives.sizes[:count][is_live][order].astype(np.int64)
        whole = -(-asked // self.plan.alignment) * self.plan.alignment
        gaps = np.diff(places) - whole[:-1]
        if len(gaps) == 0 or gaps.min() < 0 or used - whole.sum() > _MOST_ROUNDING * used:
            return None
        free = gaps - min(gaps.min(), LEAST_HOLE)
        found = np.argsort(-free, kind="stable")[: np.count_nonzero(free >= LEAST_HOLE)]
        return tuple(
            Hole(int(places[i] + whole[i]), int(free[i]), f"{asked[i]:,} B", f"{asked[i + 1]:,} B")
            for i in found.tolist()
        )

    def _offsets_of(self, replay: _engine.Replay) -> Offsets:
        """The offsets of the lifetimes placed so far, from the start of its user's memory."""
        offsets = replay.offsets
        if self.asked is not None:
            asked_at = self.asked.asked_at[: len(offsets)]
            offsets = offsets[self.asked.requests.size[asked_at] > 0]  # others are no lifetimes
        return offsets + np.uint64(self.shift % 2**64)

    def _count_events_until(self, event: int) -> int:
        """The number of events a heap replays until an allocating event of the trace is done."""
        if self.asked is None:
            return event + 1
        place = int(np.searchsorted(self.asked.asked_at, event, side="right")) - 1
        return int(self.asked.served_at[place]) + 1

    def _find_failed_request(self, replay: _engine.Replay, placed: int) -> Refusal:
        """The request that stopped a replay, with the number of its event in the trace."""
        result, blocks = replay.result(), replay.blocks()
        assert result.failed_event is not None
        assert result.failed_size is not None
        event = result.failed_event if self.asked is None else int(self.asked.asked_at[placed])
        return Refusal(event, result.failed_size, replay.live, blocks.free, blocks.largest_free)


def subjects_of(case: ReportCase) -> tuple[ReplaySubject, ...]:
    """The heaps to replay: the incumbent if it serves the trace, and the chosen one last.

    Beside an incumbent that is kept it is the fitted heap. None of them where the chosen heap's
    blocks may lie in pieces, which have no one place.
    """
    winner, base = case.winner, case.comparison.base_alignment
    if winner.is_in_pieces or winner.replay_region is None:
        return ()
    is_other = case.fitted is None and not _is_beside(winner, case)
    others = _incumbent_subjects(case) if is_other else []
    rows = [winner] if case.fitted is None else [case.fitted, winner]
    return (*others, *filter(None, (subject_from_row(row, case.shown, base) for row in rows)))


def _is_beside(row: Row, case: ReportCase) -> bool:
    """True for the row of the very heap that the map has beside the chosen one."""
    return row.heap.name == case.beside.name


def measure_case(case: ReportCase, progress: Progress = ignore_progress) -> MappedCase:
    """The map of a case's heaps, if their blocks have one place, and their bytes at the peak."""
    subjects = subjects_of(case)
    found = map_of(case.shown, subjects, progress=progress) if subjects else None
    return found, _measure_peaks(case, subjects)


def _measure_peaks(case: ReportCase, subjects: Sequence[ReplaySubject]) -> tuple[PeakUse, ...]:
    """The peak in the incumbent, the winner, and the best plans that are not trace-specific."""
    base = case.comparison.base_alignment
    others = [
        subject
        for row in case.comparison.rows
        if row is not case.winner
        and row is not case.fitted
        and not (len(subjects) > 1 and _is_beside(row, case))
        and not row.is_cut_to_trace
        and not row.is_in_pieces
        if (subject := subject_from_row(row, case.shown, base)) is not None
    ]
    event, shown = case.shown.profile.u_max_event, [*subjects, *others][:_MOST_HEAPS]
    return tuple(map_in_threads(case.shown.threads, lambda one: one.measure_use(event), shown))


def map_live(live: LiveHeap, progress: Progress = ignore_progress) -> HeapMap | None:
    """The map of what was recorded so far; None where that is nothing.

    A heap whose region is not given has the first of 64 KiB, 128 KiB and so on that serves it all.
    An error that `progress` raises ends the drawing soon.
    """
    batches = live.recording.columns() if live.recording else iter(())
    first = next(batches, None)
    if first is None:
        return None
    with scratch_folder() as folder:
        trace = write_trace(Path(folder) / "live.parquet", chain((first,), batches), TraceInfo())
        shown, heap = load_trace(trace), Heap(live.plan.allocator, live.plan)
        trial, region = heap.trial(shown, live.base), live.region or _FIRST_REGION
        while not (live.region or trial.run(region).runs):
            progress("draw the heap map", 0.0)
            region *= 2
        subject = ReplaySubject.of_heap(heap.name, heap, shown, (region, live.base))
        return map_of(shown, [subject], progress=progress)


def map_of(
    shown: LoadedTrace,
    subjects: Sequence[ReplaySubject],
    also: Sequence[int] = (),
    progress: Progress = ignore_progress,
) -> HeapMap:
    """The map of one or more heaps in regions up to what they need, and in those of `also`."""
    needed = [one.region + one.shift for one in subjects]
    row = regions_of([*needed, *also], shown.profile.u_max)
    wanted = [
        (one, region) for one, own in zip(subjects, needed, strict=True) for region in (own, *row)
    ]
    counted = count_steps(progress, "draw the heap map", len(wanted))

    def replay(place: int) -> RegionReplay:
        subject, region = wanted[place]
        done = subject.replay(region)
        counted(str(place), 1.0)
        return done

    replays = map_in_threads(shown.threads, replay, range(len(wanted)))
    end, peak = len(shown.events), shown.profile.u_max_event
    heaps = (
        MappedHeap(one.name, next(replays), tuple(islice(replays, len(row))), end, peak)
        for one in subjects
    )
    lifetimes = _engine.Lifetimes(shown.events)
    return HeapMap(tuple(heaps), lifetimes, sites_of(shown, lifetimes), find_gaps(shown))


def map_recordings(pairs: Sequence[tuple[LoadedTrace, ReplaySubject]]) -> HeapMap:
    """The map of several recordings, each with its blocks in a heap of its own, over events."""
    all_lives = [_engine.Lifetimes(shown.events) for shown, _ in pairs]
    starts, ends, sizes = (
        np.concatenate([getattr(one, name) for one in all_lives])
        for name in ("starts", "ends", "sizes")
    )
    order = np.argsort(starts, kind="stable")
    owner = np.repeat(np.arange(len(pairs)), [len(one) for one in all_lives])[order]
    heaps = []
    for number, (shown, subject) in enumerate(pairs):
        replay = subject.replay(subject.region + subject.shift)
        offsets = np.full(len(order), ELSEWHERE)
        offsets[owner == number] = replay.offsets
        own = RegionReplay(replay.region, offsets, replay.refused)
        peak = shown.profile.u_max_event
        heaps.append(MappedHeap(subject.name, own, (own,), len(shown.events), peak))
    found = [sites_of(shown, one) for (shown, _), one in zip(pairs, all_lives, strict=True)]
    sites = np.concatenate(found)[order] if all(map(len, found)) else found[0][:0]
    lifetimes = _engine.Lifetimes(starts[order], ends[order], sizes[order])
    note = "Each recording in the heap that it needs, both to the same scale, event by event."
    return HeapMap(tuple(heaps), lifetimes, sites, None, is_divided=True, note=note)


def sites_of(shown: LoadedTrace, lifetimes: _engine.Lifetimes) -> NDArray[np.uint32]:
    """The call site of each lifetime; empty if none is recorded."""
    return shown.sites[lifetimes.starts.astype(np.int64)] if len(shown.sites) else shown.sites


def share_sites(
    sites: NDArray[np.uint32], old: Mapping[int, str], new: Mapping[int, str]
) -> NDArray[np.uint32]:
    """Call sites of two builds, where those of one function have one number.

    >>> share_sites(np.array([7, 9], np.uint32), {7: "f, a.c:1"}, {9: "f, a.c:3"}).tolist()
    [9, 9]
    """
    now = {name.partition(",")[0]: site for site, name in new.items()}
    moved = {site: now.get(name.partition(",")[0], site) for site, name in old.items()}
    distinct, place = np.unique(sites, return_inverse=True)
    shared = [moved.get(one, one) if one not in new else one for one in distinct.tolist()]
    return np.array(shared, np.uint32)[place]


def find_gaps(shown: LoadedTrace) -> NDArray[np.uint64] | None:
    """Microseconds from each event to the next; None where no time is known."""
    times = np.concatenate([batch["time"] for batch in shown.trace.batches(("time",))])
    if int(times[-1]) == 0:
        return None
    gaps = np.diff(times, prepend=times[:1])
    return np.where(gaps > _LONGEST_GAP, np.uint64(MICROSECONDS), gaps)


def regions_of(needed: Sequence[int], u_max: int) -> tuple[int, ...]:
    """Regions from U_max to a little above what is needed, these among them, ascending.

    >>> len(regions_of([97_160, 90_296], 87_384)) >= REGIONS
    True
    """
    low, high = -(-u_max // _UNIT) * _UNIT, max(needed)
    high = max(high + (high - low) // 8, low + REGIONS * _UNIT)
    steps = {low + (high - low) * i // (REGIONS - 1) // _UNIT * _UNIT for i in range(REGIONS)}
    return tuple(sorted(steps | set(needed)))


def subject_from_row(row: Row, shown: LoadedTrace, base: int) -> ReplaySubject | None:
    """The plan of a row in the region that it needs; None if it has none."""
    if row.replay_region is None:
        return None
    return ReplaySubject.of_heap(row.name, row.heap, shown, (row.replay_region, base))


def _incumbent_subjects(case: ReportCase) -> list[ReplaySubject]:
    """The user's heap, else a simulated FreeRTOS heap_4; empty if it cannot serve the trace."""
    shown, heap = case.shown, case.beside
    try:
        trial = heap.trial(shown)
    except HeapfitError:
        return []
    if trial.exceeds(2 * case.comparison.u_max, _MOST_ACCESSES * trial.event_count):
        return []
    needs = measure(heap, [shown])
    if needs.most is None:
        return []
    region = needs.heap.region(needs.most)
    return [ReplaySubject.of_heap(heap.title, needs.heap, shown, (region, shown.largest_alignment))]
