# SPDX-License-Identifier: Apache-2.0
"""The plan for a workload, or the heap that the program or many have where that does as well.

Of more recordings than a search takes some are searched, and each other one is replayed:

    all --one read each, where they lie--> peaks --> shortlist --> search --> heap --> replays
                                                         ^                                |
                                                         +-- those that need most of it <-+

Half of the shortlist has the highest peaks, half lies evenly below them. After MOST_SEARCHES the
reserve is raised instead, until it serves the one that needs most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.incumbents.replacement import IncumbentVerdict
from heapfit.comparison.trial import serves_from
from heapfit.comparison.work import NO_WORK, Work
from heapfit.errors import HeapfitError
from heapfit.fitting.assessment import NO_RECORDING, HoldoutResult
from heapfit.fitting.choice import Choice, make_choice
from heapfit.fitting.choosing import choose, foretell_choice
from heapfit.fitting.excerpt_search import ExcerptInfo, choose_by_excerpts
from heapfit.fitting.incumbent import (
    Baselines,
    Judge,
    compare_baselines,
    find_own_heaps,
    keep_incumbent,
    measure_baselines,
)
from heapfit.fitting.options import FitOptions
from heapfit.fitting.workload import Place, Recording, Request, Workload, read_workload
from heapfit.importers import copy_here
from heapfit.importers.many import estimate_events
from heapfit.outputs.scratch import scratch_folder
from heapfit.progress import Progress, ignore_progress
from heapfit.sweep import Job, Sweep
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import Profile
from heapfit.trace.stored import MOST_IN_MEMORY

MOST_SEARCHES: Final = 3
_ADDED: Final = 8  # to the shortlist, of those that need more than was found
_MOST_EVENTS: Final = MOST_IN_MEMORY * 3 // 4  # of the shortlist: plans are made in memory
_UNSUSPECTED: Final = MOST_IN_MEMORY // 8  # events, by the length of files: some pack to a byte

_TRIED = 15  # changes, about: of the heap that there is
_REPLACED = 0.25  # of the heaps that programs have, about


@dataclass(frozen=True, slots=True)
class Selection:
    """The plan selected for a workload; later stages do not change it."""

    workload: Workload
    options: FitOptions  # with the margin for the horizon that is asked for
    searched: tuple[LoadedTrace, ...]  # each recording, or its excerpt
    fitted: Choice  # the plan, whatever heap there is
    choice: Choice  # its answer is for the heap there is, where that is kept
    profile: Profile  # of the whole recording that is shown
    excerpt: ExcerptInfo | None  # where a recording is too long to be searched whole
    baselines: Baselines
    today: IncumbentVerdict | None  # one of them compared with the plan
    judged: Work = NO_WORK  # to compare them
    others: HoldoutResult = NO_RECORDING  # that were not searched

    @property
    def needs(self) -> tuple[int | None, ...]:
        """What each recording needs in the heap that is set."""
        if self.choice.answer.is_kept and self.today is not None:
            return tuple(pair.now for pair in self.today.pairs)
        return self.choice.r_safe

    @property
    def writes_code(self) -> bool:
        """True if the fitted heap is written, as C and as the plan."""
        return not self.choice.answer.is_kept or self.options.code


def foretell(events: Sequence[int]) -> dict[str, float]:
    """The stages of a fit with about the seconds of each, for so many events a recording.

    Measured with 5,000 to 2,000,000 events; the compilers, which work beside the last stages, take
    no more for more.
    """
    total, runs = sum(events), len(events)
    size = total / 100_000
    return {
        "import": 0.01 + 0.05 * size,
        "read": 0.01 + 0.03 * size,
        "now": 0.04 + 0.12 * size,
        "choose": sum(foretell_choice(total, runs).values()),
        "judge": 0.02 + 0.05 * size,
        "reference": 0.05 + 0.12 * size,
        "hold": 0.02 + 0.01 * size,
        "write": 0.2 + 0.15 * size,
        "code": 0.95,
    }


def select_plan(sources: Sequence[Path], request: Request) -> Selection:
    """Selects the plan that serves all sources in the least memory, or a heap that there is.

    Of excerpts no heap but the program's own is kept, since it would not be tried on the whole.
    """
    workload = read_workload(sources, request)
    own = find_own_heaps(workload, request.options)
    seconds = foretell([one.trace.info.events for one in workload.recordings])
    seconds["code"] *= _REPLACED if own else 1
    request.stages.foretell(seconds)
    searched, choosing, excerpt = workload.loaded, request.stages.part("choose"), None
    if len(searched) < len(workload.recordings):
        choice, searched, profile, excerpt = choose_by_excerpts(workload, request, choosing)
    baselines = measure_baselines(own, searched, request)

    def judge(choice: Choice) -> tuple[IncumbentVerdict | None, Work]:
        judged = Judge(workload.recordings, searched, choice, request.options)
        return compare_baselines(baselines, judged), judged.work

    if excerpt is None:
        choice = choose(
            searched,
            workload.names,
            options=request.options,
            progress=choosing,
            sweep=request.sweep,
            systems=baselines.needs,
            judge=judge,
        )
        profile = choice.shown.profile
    options = request.options
    found = Selection(
        workload, options, searched, choice, choice, profile, excerpt, baselines, None
    )
    return _decide(found, request.stages.part("judge", steps=_TRIED))


def decide_again(
    selection: Selection, margin: float | None = None, *, peaks: tuple[int, ...] = ()
) -> Selection:
    """The selection as another margin makes it, in percent, or peaks; the fitted plan stays."""
    options, fitted = selection.options, selection.fitted
    options = options if margin is None else replace(options, margin=margin)
    load = fitted.row.load
    fitted = make_choice(
        replace(fitted.row, load=replace(load, peaks=peaks or load.peaks)),
        fitted.table,
        shown=(fitted.shown, fitted.comparison, fitted.winner),
        trained_on=fitted.plan_file.trained_on,
        options=options,
        verdict=fitted.verdict,
    )
    return _decide(replace(selection, options=options, fitted=fitted), ignore_progress)


def _decide(selection: Selection, progress: Progress) -> Selection:
    """Decides between the fitted plan and the heap there is."""
    baselines, fitted, excerpt = selection.baselines, selection.fitted, selection.excerpt
    if not baselines.needs or not (excerpt is None or baselines.is_known):
        return replace(selection, choice=fitted)
    options, recordings = selection.options, selection.workload.recordings
    judge = Judge(recordings, selection.searched, fitted, options, progress)
    today = compare_baselines(baselines, judge)
    choice = fitted if today is None else keep_incumbent(fitted, today, options)
    if excerpt is not None:
        excerpt = replace(excerpt, is_kept=choice.answer.is_kept)
    judged = selection.judged + judge.work
    return replace(selection, choice=choice, excerpt=excerpt, today=today, judged=judged)


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
        selection = replace(
            selection, others=HoldoutResult(len(needs), 0, events, sum(seen[i][2] for i in others))
        )
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
        needs = measure(heap, refused, every_size=False)
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
