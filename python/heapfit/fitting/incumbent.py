# SPDX-License-Identifier: Apache-2.0
"""The fitted heap compared with its baseline: the heap that the program has, or one many have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from heapfit.comparison.costs.measures import measures_of
from heapfit.comparison.incumbents.heaps import COMMON_HEAPS, find_heap, name_system_heap
from heapfit.comparison.incumbents.needs import Needs, measure_memories, measure_memory_needs
from heapfit.comparison.incumbents.replacement import (
    LEAST_SAVED,
    HeapCost,
    IncumbentVerdict,
    Pair,
)
from heapfit.comparison.incumbents.requests import requests_of
from heapfit.comparison.incumbents.system_heap import SystemHeap
from heapfit.comparison.margin import enough_recordings, margin_kind
from heapfit.design.front.offers import Offer, is_dominated
from heapfit.design.front.preference import Preference
from heapfit.design.robust.objective import LARGEST
from heapfit.errors import HeapfitError
from heapfit.fitting.answer import Answer
from heapfit.fitting.choice import Choice, basis_of, compute_size, list_rival_offers
from heapfit.fitting.options import FitOptions
from heapfit.fitting.workload import Recording, Request, Workload
from heapfit.plan.energy import load_sram
from heapfit.progress import Progress
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
    workload: Workload,
    searched: Sequence[LoadedTrace],
    request: Request,
    named: SystemHeap | None,
    progress: Progress,
) -> Baselines:
    """Measures the incumbent, which a user named or the recordings do; else heaps that many have.

    None where the objective leaves recordings out, or a user names the allocators to try.
    """
    if named is not None:
        try:
            return Baselines((_measure_needs(named, searched, progress),), True)
        except HeapfitError as error:
            raise HeapfitError(f"--now {named.name}: {error}") from error
    options = request.options
    if options.objective != LARGEST or options.allocators:
        return Baselines()
    heap = _find_own_heap(workload, options)
    own = None if heap is None else _try_needs(heap, searched, progress)
    if own is not None and own.most is not None:
        return Baselines((own,), True)
    common = [find_heap(name, options.alignment) for name in COMMON_HEAPS]
    found = [_try_needs(one, searched, progress, has_permanent=False) for one in common]
    return Baselines(tuple(one for one in found if one is not None and one.most is not None))


def _find_own_heap(workload: Workload, options: FitOptions) -> SystemHeap | None:
    """The heap of the one system that all recordings come from."""
    names = {name_system_heap(one.trace.info.source) for one in workload.recordings}
    name = names.pop() if len(names) == 1 else None
    return None if name is None else find_heap(name, options.alignment)


def _measure_needs(
    heap: SystemHeap,
    searched: Sequence[LoadedTrace],
    progress: Progress,
    *,
    has_permanent: bool = True,
) -> Needs:
    requests = [requests_of(loaded) for loaded in searched]
    bases = [loaded.largest_alignment for loaded in searched]
    if has_permanent:
        return measure_memory_needs(heap, requests, bases, progress)
    grown, memories, events = measure_memories(heap, requests, bases, progress)
    return Needs(grown, memories, None, events)


def _try_needs(
    heap: SystemHeap,
    searched: Sequence[LoadedTrace],
    progress: Progress,
    *,
    has_permanent: bool = True,
) -> Needs | None:
    """What each recording needs in a heap; None if they ask for what it does not have."""
    try:
        return _measure_needs(heap, searched, progress, has_permanent=has_permanent)
    except HeapfitError:
        return None


def compare_baselines(
    baselines: Baselines, recordings: Sequence[Recording], choice: Choice, options: FitOptions
) -> IncumbentVerdict | None:
    """The verdict on the incumbent; where none is known, on the best of the heaps many have.

    Of these, one that a row of the comparison dominates is no reason to do without a new heap.
    """
    known = basis_of(choice, choice.answer.known.kind)
    offers = list_rival_offers(baselines.needs, known, options)
    verdicts = [
        (offer, _compare(needs, offer, recordings, choice, options, is_known=baselines.is_known))
        for needs, offer in zip(baselines.needs, offers, strict=True)
    ]
    if baselines.is_known:
        return verdicts[0][1]
    rows = _list_row_offers(choice, options, max((one.region for one in offers), default=0))
    able = [pair for pair in verdicts if not is_dominated(pair[0], rows)]

    def figure(pair: tuple[Offer, IncumbentVerdict]) -> float:
        return pair[0].figure(options.prefer) or pair[0].region

    return min(able, key=figure)[1] if able else None


def _list_row_offers(choice: Choice, options: FitOptions, most: int) -> list[Offer]:
    """The rows that need at most so many bytes, but those whose blocks were counted on a run."""
    offers = []
    base, sram = choice.comparison.base_alignment, load_sram()
    for row in choice.comparison.rows:
        needed = choice.needs.get(row.name)
        if needed is None or row.is_cut_to_trace or row.known.is_trace_specific:
            continue
        known = basis_of(choice, row.known.kind, row.known.changes)
        size = compute_size(needed, known, options)
        if size.region <= most:
            offers.append(Offer(row.name, size.region, measures_of(row, choice.shown, sram, base)))
    return offers


def _compare(
    needs: Needs,
    offer: Offer,
    recordings: Sequence[Recording],
    choice: Choice,
    options: FitOptions,
    *,
    is_known: bool,
) -> IncumbentVerdict:
    heap, names = needs.heap, [recording.name for recording in recordings]
    columns = zip(names, choice.u_max, needs.memories, choice.unseen, strict=True)
    pairs = tuple(Pair(*column) for column in columns)
    known = basis_of(choice, margin_kind(heap.plan, False))
    size = None if needs.most is None else compute_size(needs.most, known, options)
    today = HeapCost(heap.name, size, heap.code, heap.instructions)
    fitted = _measure_fitted_cost(choice)
    return IncumbentVerdict(
        heap,
        pairs,
        (today, fitted),
        needs.permanent,
        wanted=enough_recordings(max(choice.u_max)) if is_known else 1,
        is_foretold=is_known and any(one.trace.info.is_from_target for one in recordings),
        is_known=is_known,
        is_preferred=_is_preferred(offer, choice, fitted, options),
    )


def _is_preferred(
    offer: Offer, choice: Choice, fitted: HeapCost, options: FitOptions
) -> bool | None:
    """True if the fitted heap has clearly less of what is preferred; None for memory."""
    if options.prefer is Preference.RAM:
        return None
    row, base = choice.winner, choice.comparison.base_alignment
    costs = measures_of(row, choice.shown, load_sram(), base)
    region = 0 if fitted.region is None else fitted.region
    new, old = (one.figure(options.prefer) for one in (Offer(row.name, region, costs), offer))
    return None if new is None or old is None else 100 * (old - new) > LEAST_SAVED * old


def _measure_fitted_cost(choice: Choice) -> HeapCost:
    row = choice.winner
    base = choice.comparison.base_alignment
    costs = measures_of(row, choice.shown, load_sram(), base)
    return HeapCost(row.name, choice.answer.size, costs.size, costs.time)


def keep_incumbent(choice: Choice, today: IncumbentVerdict, options: FitOptions) -> Choice:
    """The choice; its answer is for the baseline, where that is kept."""
    if not today.is_kept:
        return replace(choice, verdict=f"{today.sentence()} {choice.verdict}")
    size = today.costs[0].size
    if size is None:
        raise HeapfitError(f"--now {today.heap.name}: serves these recordings in no region")
    known = basis_of(choice, margin_kind(today.heap.plan, False))
    answer = Answer(size, known, options.peak, today.heap, is_known=today.is_known)
    return replace(choice, answer=answer, verdict=today.sentence())
