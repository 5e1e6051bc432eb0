# SPDX-License-Identifier: Apache-2.0
"""The answer of a fit: what to set the heap to, what that saves, and the words that say so."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.replacement import IncumbentVerdict
from heapfit.comparison.margin import ENOUGH_OF_SMALL, SMALL_PEAK, HeapSize, MarginBasis
from heapfit.forecast.kind import FEWEST_FOR_SIZE
from heapfit.plan.quantities import format_count, format_saving, format_share


@dataclass(frozen=True, slots=True)
class Answer:
    """What to set the heap to, in a user's words."""

    size: HeapSize
    known: MarginBasis  # what the margin rests on
    asked_peak: int | None  # by the user
    heap: Heap  # what is set: the fitted one, or one that is kept
    is_kept: bool = False
    is_known: bool = True  # the program has the heap that is kept; else it is one many have
    is_open: bool = False  # more recordings may replace the heap that is kept

    def headline(self, *, lasts: str = "", saving: str = "") -> str:
        """The answer as a sentence; `lasts`: the horizon it is set for, `saving`: over what."""
        load, heap, size = self.known.load, self.heap, self.size.region
        if load.is_start:
            return (
                f"{format_count(load.events, 'event')} cannot tell a size: record "
                f"{FEWEST_FOR_SIZE} at least, of the program at its work."
            )
        if self.is_kept and not self.is_known:
            why = f" for a run of {lasts}" if lasts else ""
            return f"No fitted heap is worth it{why}: {heap.title} at {_format_size(size)} does."
        when = f"for a run of {lasts} " if lasts else "" if self.known.is_enough else "for now "
        region = heap.set_to(size) if self.is_kept else size
        keep = f"keep {heap.name} and " if self.is_kept else ""
        start = f"{when}{keep}" if lasts or self.is_open else f"{keep}{when}"
        what = f"set {heap.setting if self.is_kept else 'the heap'} to {_format_size(region)}"
        beside = f"; the heap takes {size - region:,} B beside it" if size > region else ""
        text = f"{start}{what}{beside}{saving and f': {saving}'}."
        return f"{text[0].upper()}{text[1:]}"

    def describe_parts(self) -> list[str]:
        """The parts that add up to the answer, and its share of the peak; none without a size."""
        if self.known.load.is_start:
            needed, name = self.heap.set_to(self.size.r_safe), self.heap.title or self.heap.name
            return [f"These need {needed:,} B of {name}; sizes below have a reserve for so few."]
        size, needed = self.size, self.size.region_with(0)
        peak = max(size.peak, size.u_max, 1)
        return [
            f"{size.peak:,} {'expected ' if size.peak > size.u_max else ''}peak + "
            f"{needed - size.peak:,} allocator + {size.region - needed:,} reserve "
            "(other runs and changes)",
            f"It needs {needed / peak:.3f} of the peak; with the reserve {size.region / peak:.3f}.",
        ]

    def describe_limits(self) -> list[str]:
        """What limits the answer: few recordings, a peak that is asked for and too low."""
        runs, limits = self.known.load.runs, []
        if not self.known.is_enough and not self.known.load.is_start:
            limits.append(
                f"{format_count(runs, 'recording')} {'is' if runs == 1 else 'are'} too few for a "
                f"peak below {SMALL_PEAK // 1024} KiB: record {ENOUGH_OF_SMALL} and fit them "
                "together."
            )
        if self.asked_peak is not None and self.asked_peak < self.size.u_max:
            limits.append(
                f"Your --peak of {self.asked_peak:,} B is below the recorded one and changes "
                "nothing: smaller heaps are relatively more fragmented."
            )
        return limits

    def sentences(self, *, lasts: str = "") -> list[str]:
        """The answer in sentences: what to set, its parts, and what limits it."""
        headline = self.headline(lasts=lasts)
        parts = (f"{one.removesuffix('.')}." for one in self.describe_parts())
        return [headline, *parts, *self.describe_limits()]


def _format_size(size: int) -> str:
    return f"{size:,} B ({size / 1024:,.1f} KiB)"


def compare_regions(region: int, other: int, title: str) -> str:
    """A region compared with another heap's.

    >>> compare_regions(80, 80, "TLSF"), compare_regions(80, 100, "TLSF")
    ('as much as TLSF', '20.0 % less than TLSF')
    """
    if region == other:
        return f"as much as {title}"
    return f"{format_saving(1 - region / other)} than {title}"


def describe_replacement(today: IncumbentVerdict) -> str:
    """A sentence on replacing the incumbent and what that saves; "": it has no need.

    Of a heap that the program may not have: only where that is kept.
    """
    now, fitted = (cost.region for cost in today.costs)
    name, saved = today.heap.name, today.saved_with_margins
    if now is None or fitted is None or saved is None:
        return f"{name} serves these recordings in no region." if now is None else ""
    if today.is_kept:
        return _describe_kept(today, now - fitted)
    if not today.is_known:
        return ""
    less = f"{format_saving(saved)} than {name}, and less on {today.describe_wins()}"
    found = f"needs {less}{today.describe_lasting()}"
    if today.is_foretold:
        return (
            f"It replaces {name} if `heapfit verify --now {name}` agrees: the fitted heap {found}."
        )
    setting = f" and its {today.heap.setting}" * today.heap.setting.isidentifier()
    return f"It replaces {name}{setting}: the fitted heap {found}."


def _describe_kept(today: IncumbentVerdict, saved: int) -> str:
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
    why = " Too few recordings to change." if today.awaits_recordings else ""
    return (
        f"The fitted heap would need {fitted.region:,} B: {change}{costs}"
        f"{today.describe_lasting()}.{why}"
    )
