# SPDX-License-Identifier: Apache-2.0
"""What a program saves that passes its call sites, where these are recorded and were not asked for.

The plan starts from the best that was found without, in its layout, and is learned from fewer
replays than `--call-sites` takes. It is told only if what it did not learn from needs less, too:

    one recording     | half 1 | half 2 |     learned of either half, replayed on the other
    several           learned of the one that needs most, replayed on the others

It is compared with the answer, or with the fitted heap where one is kept that needs more. That heap
has seen all of these, and holds as many changes of the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.costs.heap_costs import estimate_costs
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.margin import MarginKind
from heapfit.comparison.work import NO_WORK, Work, total_work
from heapfit.design.placement.learned import PlacedLayout
from heapfit.design.placement.sites import learn_sites
from heapfit.design.placement.tailored_plans import ALLOCATOR, BY_SITE
from heapfit.fitting.choice import Choice, compute_size
from heapfit.fitting.parts import cut_recording, total_need
from heapfit.fitting.selection import Selection
from heapfit.plan.quantities import format_share
from heapfit.trace.loaded import LoadedTrace

_TIMES: Final = 25  # all events: what is replayed to learn; twice as many find no more there
_LEAST_EVENTS: Final = 500_000
_LEAST_SAVED: Final = 0.02
_UNITS: Final = {"flash": "B flash", "mean": "instr./call", "stack": "B stack"}


@dataclass(frozen=True, slots=True)
class BySite:
    """A plan by call site, beside a heap. Bytes, with the reserve that each of both needs."""

    region: int
    saved: int
    over: str  # the heap that it is compared with
    costs: Mapping[str, float]  # more than that heap's, of HeapCosts; left out: not measured

    def sentence(self) -> str:
        """What passing the call sites saves, and what it costs."""
        share = format_share(self.saved / (self.saved + self.region))
        told = ", ".join(f"{cost:+,.0f} {_UNITS[name]}" for name, cost in self.costs.items())
        return (
            f"fit --call-sites saves about {self.saved:,} B ({share}) over {self.over} if the "
            f"program passes them{told and f', for {told}'}."
        )


def find_by_site(selection: Selection) -> tuple[BySite | None, Work]:
    """What the call sites save over the least heap told; None: nothing that lasts; and the work."""
    choice = min(selection.choice, selection.fitted, key=lambda one: one.answer.size.region)
    selection, start = replace(selection, choice=choice), _find_start(selection)
    if start is None:
        return None, NO_WORK
    size, searched = choice.answer.size, selection.searched
    learned, work = _learn(choice.shown, start)
    if learned is None or not _pays(learned.region, size.r_safe):
        return None, work
    heap = Heap(BY_SITE, learned.plan)
    lasts, judged = _judge(selection, start, learned)
    if not lasts:
        return None, work + judged
    needs = measure(heap, searched, every_size=False)
    needed = needs.most or learned.region
    work += judged + Work(regions=needs.events)
    known = replace(choice.answer.known, kind=MarginKind.PLACED, changes=0.0)
    tested = ChangedPrograms.from_recordings(searched).test(heap, needed, known)
    known = replace(known, changes=tested.needed if choice.row.changes else 0.0)
    region = compute_size(needed, known, selection.options).region
    over = choice.answer.heap.title if choice.answer.is_kept else "the fitted heap"
    found = BySite(region, size.region - region, over, _compare_costs(choice, heap, needed))
    return (found if _pays(region, size.region) else None), work + Work(changed=tested.events)


def _find_start(selection: Selection) -> PlacedLayout | None:
    """The best plan without call sites of the allocator that takes these; None: none is looked for.

    Of excerpts the whole would need other regions.
    """
    options, choice = selection.options, selection.choice
    is_open = options.is_by_memory and options.learns and not options.allocators
    if options.call_sites or not is_open or selection.excerpt or choice.answer.known.load.is_start:
        return None
    plans = [row.plan for row in (choice.winner, *choice.comparison.rows)]
    able = (one for one in plans if one.allocator == ALLOCATOR and not one.pools)
    return next(map(PlacedLayout.of_plan, able), None)


def _learn(recording: LoadedTrace, start: PlacedLayout) -> tuple[PlacedLayout | None, Work]:
    most = max(_TIMES * len(recording.events), _LEAST_EVENTS)
    learned, replayed = learn_sites(recording, start, most)
    return learned, Work(plans=replayed)


def _judge(selection: Selection, start: PlacedLayout, learned: PlacedLayout) -> tuple[bool, Work]:
    """True if recordings, or halves, that a plan did not learn from need less of it, too."""
    choice = selection.choice
    known = zip(selection.searched, selection.needs, strict=True)
    others = [(one, need) for one, need in known if one is not choice.shown]
    if others:
        by_site = measure(Heap(BY_SITE, learned.plan), [one for one, _ in others], every_size=False)
        without = total_need([need for _, need in others])
        return _pays(total_need(by_site.memories), without), Work(regions=by_site.events)
    halves = cut_recording(choice.shown).halves
    found = [_learn(half, start) for half in halves]
    needs = [
        measure(heap, [half], every_size=False)
        for (plan, _), half in zip(found, halves[::-1], strict=True)
        for heap in (Heap(BY_SITE, (plan or start).plan), choice.answer.heap)
    ]
    by_halves, without = (total_need([one.most for one in needs[i::2]]) for i in (0, 1))
    replayed = Work(regions=sum(one.events for one in needs))
    return _pays(by_halves, without), total_work([replayed, *(work for _, work in found)])


def _compare_costs(choice: Choice, heap: Heap, needed: int) -> dict[str, float]:
    """What the heap costs in these bytes beyond the choice's, of what was measured of both."""
    answer, shown = choice.answer, choice.shown
    costs = (
        estimate_costs(heap, shown, needed),
        estimate_costs(answer.heap, shown, answer.size.r_safe),
    )
    pairs = {name: [getattr(one, name) for one in costs] for name in _UNITS}
    return {
        name: by_site - now for name, (by_site, now) in pairs.items() if None not in (by_site, now)
    }


def _pays(by_site: float, without: float) -> bool:
    return by_site <= (1 - _LEAST_SAVED) * without
