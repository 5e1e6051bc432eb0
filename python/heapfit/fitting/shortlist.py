# SPDX-License-Identifier: Apache-2.0
"""More recordings than a search takes: some of them are searched, each other one is replayed.

    all --one read each, where they lie--> peaks --> shortlist --> search --> heap --> replays
                                                         ^                                |
                                                         +-- those that need most of it <-+

Half of the shortlist has the highest peaks, half lies evenly below them. After MOST_SEARCHES the
reserve is raised instead, until it serves the one that needs most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.trial import serves_from
from heapfit.errors import HeapfitError
from heapfit.fitting.assessment import HoldoutResult
from heapfit.fitting.options import FitOptions
from heapfit.fitting.selection import Selection, decide_again, select_plan
from heapfit.fitting.workload import Place, Recording, Request, read_workload
from heapfit.importers import copy_here
from heapfit.importers.many import estimate_events
from heapfit.outputs.scratch import scratch_folder
from heapfit.sweep import Job, Sweep
from heapfit.trace.stored import MOST_IN_MEMORY

MOST_SEARCHES: Final = 3
_ADDED: Final = 8  # to the shortlist, of those that need more than was found
_MOST_EVENTS: Final = MOST_IN_MEMORY * 3 // 4  # of the shortlist: plans are made in memory
_UNSUSPECTED: Final = MOST_IN_MEMORY // 8  # events, by the length of files: some pack to a byte

# What one read of a source gave: a hash for each of its recordings, as for each start of a program,
# the most live bytes of each, and the events of all.
_Seen: TypeAlias = tuple[tuple[str, ...], tuple[int, ...], int]


def select_for_all(sources: Sequence[Path], request: Request) -> Selection:
    """The selection that serves all sources.

    HeapfitError names a source that is not any more what was read first.
    """
    options, many = request.options, len(sources)
    is_long = many > 1 and sum(map(estimate_events, sources)) > _UNSUSPECTED
    if options.most_events > MOST_IN_MEMORY or (many <= options.most_recordings and not is_long):
        return select_plan(sources, request)
    seen = _look(sources, request)
    shortlist, events = _make_shortlist(seen, options), 0
    for _ in range(MOST_SEARCHES):
        found = select_plan([sources[i] for i in sorted(shortlist)], request)
        selection = _tell_of_all(found, seen, len(shortlist), many)
        answer = selection.choice.answer
        others = {
            i: (options, answer.heap, answer.size.r_safe, contents)
            for i, (contents, *_) in seen.items()
            if i not in shortlist
        }
        needs = _ask("replay others", _find_need, others, sources, request)
        events += sum(replayed for _, replayed in needs.values())
        selection = replace(selection, others=HoldoutResult(len(needs), 0, events))
        events += found.choice.comparison.work.events
        needed = {i: need for i, (need, _) in needs.items() if need > answer.size.r_safe}
        if not needed:
            return selection
        shortlist += sorted(needed, key=lambda i: -needed[i])[:_ADDED]
    return _raise_reserve(selection, [*needed.values()])


def _look(sources: Sequence[Path], request: Request) -> dict[int, _Seen]:
    """What one read of each source gives, by its number; of equal ones the first counts."""
    asked = dict.fromkeys(range(len(sources)), request.options)
    found = _ask("look at recordings", _look_at, asked, sources, request)
    first = {contents: i for i, (contents, *_) in reversed(found.items())}
    return {i: found[i] for i in sorted(first.values())}


def _make_shortlist(seen: Mapping[int, _Seen], options: FitOptions) -> list[int]:
    """The numbers of the sources to search."""
    most, left = options.most_recordings, _MOST_EVENTS
    ranked = sorted(seen, key=lambda i: -max(seen[i][1]))
    half = (most + 1) // 2
    step = max(1, (len(ranked) - half) // max(most - half, 1))
    taken: list[int] = []
    for i in (*ranked[:half], *ranked[half::step][: most - half]):
        left -= min(seen[i][2], options.most_events)
        taken += [i] if left >= 0 or not taken else []
    return taken


def _tell_of_all(
    selection: Selection, seen: Mapping[int, _Seen], searched: int, given: int
) -> Selection:
    """The selection with the peaks of all recordings, which tell the reserve, and what is said."""
    told = [
        f"{searched:,} of {len(seen):,} recordings were searched, those of the highest peaks and "
        "some of all others; each of these was replayed in the heap that was found"
    ] * (searched < len(seen))
    if repeats := given - len(seen):
        told.append(f"{repeats:,} recordings repeat the requests of others: they count once")
    workload = selection.workload
    peaks = tuple(peak for _, some, _ in seen.values() for peak in some)
    workload = replace(workload, repeats=(*told, *workload.repeats))
    return decide_again(replace(selection, workload=workload), peaks=peaks)


def _raise_reserve(selection: Selection, needed: Sequence[int]) -> Selection:
    """The selection with the margin that serves recordings which need so much of its heap."""
    size, heap = selection.choice.answer.size, selection.choice.answer.heap
    margin = size.margin_to(heap.memory_of(heap.set_to(max(needed))))
    if selection.options.margin is None and margin > size.margin:
        selection = decide_again(selection, margin)
    refused = sum(need > selection.choice.answer.size.region for need in needed)
    return replace(selection, others=replace(selection.others, seen_refused=refused))


def _ask(
    step: str,
    work: Callable[[Any, Path], Any],
    asked: Mapping[int, Any],
    sources: Sequence[Path],
    request: Request,
) -> dict[int, Any]:
    """The answer of a job for each source that is asked."""
    jobs = [
        Job(sources[i].name, work, one, (sources[i],), estimate_events(sources[i]))
        for i, one in asked.items()
    ]
    progress = request.stages.part(step)
    with nullcontext(request.sweep) if request.sweep else Sweep() as sweep:
        return dict(zip(asked, sweep.run(step, jobs, progress), strict=True))


def _look_at(options: FitOptions, source: Path) -> _Seen:
    with _read(options, source) as recordings:
        return (
            tuple(one.read.content for one in recordings),
            tuple(one.read.profile.u_max for one in recordings),
            sum(one.trace.info.events for one in recordings),
        )


def _find_need(
    asked: tuple[FitOptions, Heap, int, tuple[str, ...]], source: Path
) -> tuple[int, int]:
    """The memory of a heap that serves a source, that which is asked for if it does; and events."""
    options, heap, memory, contents = asked
    with _read(options, source) as recordings:
        if tuple(one.read.content for one in recordings) != contents:
            raise HeapfitError(f"{source}: has changed since it was read first (run this again)")
        runs: list[Any] = [one.loaded or one.trace for one in recordings]
        tried = [serves_from(heap.trial(run), heap.region(memory)) for run in runs]
        refused = [run for run, (is_served, _) in zip(runs, tried, strict=True) if not is_served]
        needs = measure(heap, refused, threads=1, every_size=False)
    if None in needs.memories:
        raise HeapfitError(f"{source}: {heap.title or heap.name} serves it in no region")
    return max([memory, *filter(None, needs.memories)]), needs.events + sum(
        events for _, events in tried
    )


@contextmanager
def _read(options: FitOptions, source: Path) -> Iterator[Sequence[Recording]]:
    """The recordings of a source, read where this is done."""
    with scratch_folder() as folder, copy_here(source) as here:
        request = Request(Place(folder / "none", folder), options, Sweep(workers=1))
        yield read_workload([here], request).recordings
