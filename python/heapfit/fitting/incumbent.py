# SPDX-License-Identifier: Apache-2.0
"""The fitted heap compared with its baseline: the heap that the program has, or one many have."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from heapfit.comparison.change_results import ChangeTest
from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.costs.measures import measures_of
from heapfit.comparison.incumbents.heap import Heap, find_heap
from heapfit.comparison.incumbents.heap_names import OWN_TLSF, TLSF, name_system_heap
from heapfit.comparison.incumbents.needs import (
    Needs,
    grow_headers,
    measure,
    measure_with_notes,
)
from heapfit.comparison.incumbents.replacement import LEAST_SAVED, IncumbentVerdict, Pair
from heapfit.comparison.margin import HeapSize, MarginBasis, adapt_basis, enough_recordings
from heapfit.comparison.row import Row
from heapfit.comparison.work import NO_WORK, Work
from heapfit.design.offers import MOST_MEMORY, Offer, is_dominated
from heapfit.errors import HeapfitError
from heapfit.fitting.answer import Answer
from heapfit.fitting.choice import (
    Choice,
    basis_of,
    compute_size,
    cost_heap,
    list_rival_offers,
)
from heapfit.fitting.options import FitOptions
from heapfit.fitting.parts import cut_parts
from heapfit.fitting.workload import Recording, Request, Workload
from heapfit.plan.energy import load_sram
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace


@dataclass(frozen=True, slots=True)
class Baselines:
    """The heaps that a fitted one has to be better than, measured on each recording."""

    needs: tuple[Needs, ...] = ()  # of the incumbent alone, or of heaps that many have
    is_known: bool = False  # it is the program's own

    @property
    def incumbent(self) -> Needs | None:
        """The needs of the program's own heap; None if it is not known."""
        return self.needs[0] if self.is_known else None

    @property
    def events(self) -> int:
        """The events that were replayed to measure them."""
        return sum(one.events for one in self.needs)


def measure_baselines(
    own: Sequence[Heap], searched: Sequence[LoadedTrace], request: Request
) -> Baselines:
    """Measures the incumbent, which a user named or the recordings do; else heaps that many have.

    None where a user names the allocators to try.
    """
    options, progress = request.options, request.stages.part("now")
    if own and options.now is not None:
        return Baselines((measure_incumbent(own[0], searched, progress),), True)
    if options.allocators:
        return Baselines()
    found = list[Needs]()
    tlsf = replace(find_heap(TLSF, options.alignment), title=OWN_TLSF)
    for heap in (*own, find_heap("heap_4", options.alignment), tlsf):
        is_own = heap in own
        with suppress(HeapfitError):  # it does not have what they ask for
            found.append(measure_incumbent(heap, searched, progress, is_own=is_own))
        if is_own and found and found[0].most is not None:
            return Baselines((found[0],), True)
    return Baselines(tuple(one for one in found if one.most is not None))


def find_own_heaps(workload: Workload, options: FitOptions) -> list[Heap]:
    """The heap that is named, or of the one system that all recordings come from; else none."""
    if options.now is not None:
        return [find_heap(options.now, options.alignment)]
    names = {name_system_heap(one.trace.info.source) for one in workload.recordings}
    known = [name for name in names if name is not None and len(names) == 1]
    return [find_heap(name, options.alignment) for name in known]


def measure_incumbent(
    heap: Heap,
    searched: Sequence[LoadedTrace],
    progress: Progress,
    *,
    is_own: bool = True,
) -> Needs:
    """Measures what each recording needs in a heap, and what of it no run ever frees.

    That not of one that the program may not have.
    """
    try:
        return measure_with_notes(heap, searched, progress, is_own=is_own)
    except HeapfitError as error:
        raise HeapfitError(f"{heap.name}: {error}") from error


def size_incumbent(
    needs: Needs,
    searched: Sequence[LoadedTrace],
    *,
    known: MarginBasis,
    options: FitOptions,
    progress: Progress = ignore_progress,
    is_tried: bool = True,
) -> tuple[Needs, HeapSize, MarginBasis, ChangeTest | None]:
    """The size of a heap, tried on changes of the programs `searched`, if that is asked for.

    Some memory serves all recordings. `known` may be that of another heap for the same ones; then
    what the size's margin rests on, and the trials. First the needs, measured again where a heap of
    this size has longer headers.
    """
    known, most, changes = adapt_basis(known, needs.heap.plan), needs.most or 0, None
    grown = grow_headers(needs.heap, [compute_size(most, known, options).region])
    if grown != needs.heap:
        again = measure_incumbent(grown, searched, progress, is_own=bool(needs.permanent))
        return size_incumbent(
            again, searched, known=known, options=options, progress=progress, is_tried=is_tried
        )
    if is_tried:
        changes = ChangedPrograms.from_recordings(searched, progress).test(needs.heap, most, known)
        known = replace(known, changes=changes.needed)
    return needs, compute_size(most, known, options), known, changes


@dataclass(slots=True)
class Judge:
    """What baselines are compared on, and the work that took."""

    recordings: Sequence[Recording]
    searched: Sequence[LoadedTrace]  # the recordings, or excerpts of long ones
    choice: Choice
    options: FitOptions
    progress: Progress = ignore_progress
    work: Work = NO_WORK

    def compare(self, needs: Needs, *, is_known: bool, is_tried: bool) -> IncumbentVerdict:
        """A heap against the fitted one on each recording; `is_tried`: on changed programs, too."""
        choice, size, changes = self.choice, None, None
        if needs.most is not None:
            needs, size, _, changes = size_incumbent(
                needs,
                self.searched,
                known=choice.answer.known,
                options=self.options,
                progress=self.progress,
                is_tried=is_tried,
            )
            self.work += Work(changed=0 if changes is None else changes.events)
        heap, names = needs.heap, [one.name for one in self.recordings]
        columns = zip(names, choice.u_max, needs.memories, choice.unseen, strict=True)
        row, fitted = choice.winner, choice.answer.size
        costs = (
            cost_heap(heap.name, heap, choice.shown, size),
            cost_heap(row.name, row.heap, choice.shown, fitted, drop_in=heap.drop_in),
        )
        verdict = IncumbentVerdict(
            heap,
            tuple(Pair(*column) for column in columns),
            costs,
            needs.permanent,
            wanted=enough_recordings(max(choice.u_max)) if is_known else 1,
            changes=changes,
            is_foretold=is_known and any(one.trace.info.is_from_target for one in self.recordings),
            is_known=is_known,
            is_preferred=self._is_preferred(needs, size, is_known=is_known),
        )
        if verdict.is_kept and not is_known:  # whatever parts say, which can only save less
            return verdict
        return replace(verdict, halves=self._pair_halves(needs.heap))

    def _pair_halves(self, heap: Heap) -> tuple[Pair, ...]:
        """Both heaps on each half of one recording, where the fitted one was measured on parts."""
        cut = cut_parts(self.choice.shown) if self.choice.row.parts else None
        if cut is None:
            return ()
        fitted, work = cut.measure(self.choice.row, self.options, cut.halves)
        needs = measure(heap, cut.halves, every_size=False)
        self.work += work + Work(beside=needs.events)
        both = zip(cut.halves, needs.memories, fitted, strict=True)
        return tuple(Pair("half", one.profile.u_max, *pair) for one, *pair in both)

    def _is_preferred(self, needs: Needs, size: HeapSize | None, *, is_known: bool) -> bool | None:
        """True if the fitted heap has clearly less of what is preferred; None for memory.

        True, too, if the program may not have the other heap, whose `size` is out of reach.
        """
        prefer = self.options.prefer
        if self.options.is_by_memory or size is None:
            return None
        offer = replace(self.offers([needs])[0], region=size.region)
        if not is_known and not self.is_in_reach(offer):
            return True
        old = offer.figure(prefer)
        row, region = self.choice.winner, self.choice.answer.size.region
        costs = measures_of(row, self.choice.shown, load_sram())
        new = Offer(row.name, region, costs).figure(prefer)
        return None if new is None or old is None else 100 * (old - new) > LEAST_SAVED * old

    def is_in_reach(self, offer: Offer) -> bool:
        """True if an offer needs no more memory than any preference may cost."""
        least = min((region for _, region in self._advisable_rows()), default=offer.region)
        return offer.region <= MOST_MEMORY * least

    def offers(self, systems: Sequence[Needs]) -> list[Offer]:
        """Heaps of systems as offers; all serve the recordings."""
        return list_rival_offers(systems, self.choice.answer.known, self.choice.shown, self.options)

    def row_offers(self, most: int) -> list[Offer]:
        """The rows that need at most so many bytes, but those whose blocks were counted."""
        shown, sram = self.choice.shown, load_sram()
        return [
            Offer(row.name, region, measures_of(row, shown, sram))
            for row, region in self._advisable_rows()
            if region <= most
        ]

    def _advisable_rows(self) -> Iterator[tuple[Row, int]]:
        """The rows that serve the recordings, with the bytes to set; not if blocks were counted."""
        for row in self.choice.comparison.rows:
            needed = self.choice.needs.get(row.name)
            if needed is None or row.is_cut_to_trace or row.lasts is False:
                continue
            yield row, compute_size(needed, basis_of(self.choice, row), self.options).region


def compare_baselines(baselines: Baselines, judge: Judge) -> IncumbentVerdict | None:
    """The verdict on the incumbent; where none is known, on the best of the heaps many have.

    One that a row of the comparison dominates is no reason to do without a new heap, so the next is
    asked; None where that is all. One that would do is tried on changed programs first, and if it
    fails there, the next.
    """
    if baselines.is_known:
        return judge.compare(baselines.needs[0], is_known=True, is_tried=True)

    def rank(pair: tuple[Offer, Needs]) -> tuple[bool, float]:
        figure = pair[0].figure(judge.options.prefer)
        return not judge.is_in_reach(pair[0]), math.inf if figure is None else figure

    best: IncumbentVerdict | None = None
    pairs = zip(judge.offers(baselines.needs), baselines.needs, strict=True)
    for offer, needs in sorted(pairs, key=rank):
        found = judge.compare(needs, is_known=False, is_tried=False)
        if found.is_kept:
            if is_dominated(offer, judge.row_offers(offer.region)):
                continue
            found = judge.compare(needs, is_known=False, is_tried=True)
        elif best is not None:
            return best
        if found.is_kept or found.changes is None:
            return found
        best = best or found
    return best


def keep_incumbent(choice: Choice, today: IncumbentVerdict, options: FitOptions) -> Choice:
    """The choice; its answer is for the baseline, where that is kept."""
    choice = replace(choice, verdict=f"{today.sentence()} {choice.verdict}")
    if not today.is_kept:
        return choice
    size = today.costs[0].size
    if size is None:
        raise HeapfitError(f"--now {today.heap.name}: serves these recordings in no region")
    needed = 0.0 if today.changes is None else today.changes.needed
    known = adapt_basis(choice.answer.known, today.heap.plan, needed)
    answer = Answer(
        size,
        known,
        options.peak,
        today.heap,
        is_kept=True,
        is_known=today.is_known,
        is_open=today.awaits_recordings,
    )
    return replace(choice, answer=answer)
