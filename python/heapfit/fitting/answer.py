# SPDX-License-Identifier: Apache-2.0
"""The answer of a fit: what to set the heap to, what that saves, and the words that say so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.replacement import IncumbentVerdict
from heapfit.comparison.margin import ENOUGH_OF_SMALL, SMALL_PEAK, HeapSize, MarginBasis, is_enough
from heapfit.forecast.load import FEWEST_EVENTS
from heapfit.plan.quantities import format_count, format_share


@dataclass(frozen=True, slots=True)
class Answer:
    """What to set the heap to, in a user's words."""

    size: HeapSize
    known: MarginBasis  # what the margin rests on
    asked_peak: int | None  # by the user
    heap: Heap  # what is set: the fitted one, or one that is kept
    is_kept: bool = False
    is_known: bool = True  # the program has the heap that is kept; else it is one many have

    @property
    def is_enough(self) -> bool:
        """True if the recordings suffice for an answer."""
        return is_enough(self.known)

    def sentences(
        self, *, is_growing: bool = False, is_brief: bool = False, lasts: str = ""
    ) -> Iterator[str]:
        """Sentences for the user: the answer, and what limits it; briefly for the first screen.

        `is_growing`: no number of recordings makes it the size for longer runs; `lasts`: the
        horizon that it is set for.
        """
        load = self.known.load
        if load.is_start:
            yield (
                f"{format_count(load.events, 'event')} are too few for a size: record "
                f"{FEWEST_EVENTS} at least, of the program at its work. These need "
                f"{self.heap.set_to(self.size.r_safe):,} B of {self.heap.title}."
            )
            return
        runs = format_count(self.known.load.runs, "recording")
        setting = self._set_briefly() if is_brief else self._set_by_parts()
        are_few = not self.is_enough and not is_growing
        if are_few:
            low = f"{SMALL_PEAK // 1024} KiB"
            peak = f"a heap whose peak is below {low}, where runs differ most"
            yield (
                f"{runs} {'is' if self.known.load.runs == 1 else 'are'} too few for "
                f"{f'a peak below {low}' if is_brief else peak}: record {ENOUGH_OF_SMALL} and fit "
                "them together."
            )
        if is_growing or lasts:
            yield f"For a run {f'of {lasts}' if lasts else 'no longer than this'}: {setting}."
        elif are_few and not (is_brief and self.is_kept and not self.is_known):
            yield f"Until then, {setting}."
        else:
            yield f"{setting[0].upper()}{setting[1:]}{'' if is_brief else f'; from {runs}'}."
        if not is_brief and self._is_peak_low:
            yield (
                f"Your --peak of {self.asked_peak:,} is below the recorded peak and changes "
                "nothing: smaller heaps are relatively more fragmented."
            )

    def describe_parts(self) -> Iterator[str]:
        """The parts that add up to the answer; none where no size is set."""
        if self.known.load.is_start:
            return
        size, needed = self.size, self.size.region_with(0)
        yield (
            f"{size.peak:,} {'expected ' if size.peak > size.u_max else ''}peak + "
            f"{needed - size.peak:,} allocator + {size.region - needed:,} reserve "
            f"({size.margin:g} %: other runs, changes)."
        )
        if self._is_peak_low:
            yield f"Your --peak of {self.asked_peak:,} B is below it and changes nothing."

    @property
    def _is_peak_low(self) -> bool:
        return self.asked_peak is not None and self.asked_peak < self.size.u_max

    def _set_briefly(self) -> str:
        """What to set, as a clause."""
        kept, size = self.heap, self.size.region
        if not self.is_kept:
            return f"set the heap to {_format_size(size)}"
        if not self.is_known:
            return f"no new heap is worth it: {kept.title} at {_format_size(size)} does"
        region = kept.set_to(size)
        beside = f"; the heap takes {size - region:,} B beside it" if size > region else ""
        return f"keep {kept.name} and set {kept.setting} to {_format_size(region)}{beside}"

    def _set_by_parts(self) -> str:
        """What to set, and the three parts that add up to it, as a clause."""
        size, heap = self.size, self.heap
        peak = (
            f"the peak of {size.peak:,} that you expect"
            if size.peak > size.u_max
            else f"your peak of {size.u_max:,}"
        )
        needed = size.region_with(0)
        parts = (
            f"{peak}, {needed - size.peak:,} for the allocator, "
            f"{size.region - needed:,} of reserve ({size.margin:g} %)"
        )
        if self.is_kept and not self.is_known:
            return f"no new heap is worth it: {heap.title} at {size.region:,} bytes does: {parts}"
        what, region = heap.setting if self.is_kept else "the heap", heap.set_to(size.region)
        unset = size.region - region
        beside = f" (and {unset:,} beside it)" if unset else ""
        return f"set {what} to {region:,} bytes{beside}: {parts}"


def _format_size(size: int) -> str:
    return f"{size:,} B ({size / 1024:,.1f} KiB)"


def describe_saving(
    answer: Answer, today: IncumbentVerdict | None, others: Mapping[str, int]
) -> Iterator[str]:
    """The saving over the incumbent heap; where that is unknown, over heaps that many have.

    `others` are the regions of these by their titles.
    """
    if today is not None and (today.is_known or today.is_kept):
        yield _describe_replacement(answer, today)
    elif others:
        region = answer.size.region
        compared = (_compare_regions(region, other, title) for title, other in others.items())
        yield f"That is {' and '.join(compared)}, each with its own margin."


def _compare_regions(region: int, other: int, title: str) -> str:
    """A region compared with another heap's.

    >>> _compare_regions(80, 80, "TLSF"), _compare_regions(80, 100, "TLSF")
    ('as much as TLSF', '20 B (20.0 %) less than TLSF')
    """
    if region == other:
        return f"as much as {title}"
    change = f"{abs(other - region):,} B ({format_share(abs(1 - region / other))})"
    return f"{change} {'less' if region < other else 'more'} than {title}"


def _describe_replacement(answer: Answer, today: IncumbentVerdict) -> str:
    now, fitted = (cost.region for cost in today.costs)
    name, saved = today.heap.name, today.saved_with_margins
    if now is None or fitted is None or saved is None:
        return f"{name} serves these recordings in no region." if now is None else ""
    if today.is_kept:
        return _describe_kept(answer, today, now - fitted)
    less = sum(pair.saves for pair in today.pairs)
    runs = format_count(len(today.pairs), "recording")
    change = f"{format_share(abs(saved))} {'less' if saved >= 0 else 'more'}"
    found = f"needs {change} than {name}, and less on {less} of {runs}{today.describe_lasting()}"
    if today.is_foretold:
        return (
            f"It replaces {name} if `heapfit verify --now {name}` agrees: the fitted heap {found}. "
            "On a device, the heap changes the timing, and the timing changes the requests."
        )
    return f"It replaces {name}: the fitted heap {found}."


def _describe_kept(answer: Answer, today: IncumbentVerdict, saved: int) -> str:
    """What the fitted heap would save, and cost."""
    now, fitted = today.costs
    if now.name == fitted.name:
        return "The search found no heap that needs less."
    share = format_share(abs(today.saved_with_margins or 0))
    change = f"{abs(saved):,} B ({share}) {'less' if saved >= 0 else 'more'}"
    ratios = [
        f"{new / old:.1f} times the {what}"
        for new, old, what in (
            (fitted.instructions, now.instructions, "instructions"),
            (fitted.code, now.code, "flash"),
        )
        if new and old
    ]
    costs = f", at {' and '.join(ratios)}" if ratios else ""
    why = "" if answer.is_enough or not today.is_known else " Too few recordings to change."
    lasting = today.describe_lasting()
    return f"The fitted heap would need {fitted.region:,} B: {change}{costs}{lasting}.{why}"
