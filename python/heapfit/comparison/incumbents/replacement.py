# SPDX-License-Identifier: Apache-2.0
"""The verdict on an incumbent heap: keep or replace it, by pairs of measurements and in all."""

from __future__ import annotations

from dataclasses import dataclass, replace

from heapfit.comparison.change_results import ChangeTest
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.needs import Permanent
from heapfit.comparison.margin import HeapSize
from heapfit.plan.quantities import format_count, format_saving, format_share

# What a change of heap has to save to be named. Recordings of one seed over two heaps differed by
# 2.2 % of U_max by timing alone, so less than this is no more than another run.
LEAST_SAVED = 2  # percent, with the margins of both heaps and without
_FEW = 2  # recordings: the fitted heap has to need less on each


@dataclass(frozen=True, slots=True)
class Pair:
    """One recording in both heaps; bytes of memory, None where no size serves."""

    name: str
    u_max: int
    now: int | None
    fitted: int | None  # of a plan made without the recording, where it learns from recordings

    @property
    def saves(self) -> bool:
        """True if the fitted heap needs less than the incumbent."""
        return self.fitted is not None and (self.now is None or self.fitted < self.now)

    @property
    def saved(self) -> float | None:
        """The share of the incumbent's memory that is saved; below 0 the fitted heap needs more."""
        return None if self.now is None or self.fitted is None else 1 - self.fitted / self.now


@dataclass(frozen=True, slots=True)
class HeapCost:
    """The memory, code and instructions of one of the two heaps."""

    name: str
    size: HeapSize | None  # memory for all recordings, with its own margin; None: none serves
    code: int | None  # bytes of text
    instructions: float | None  # a call, in the mean

    @property
    def memory(self) -> int | None:
        """Bytes for all recordings, without margin."""
        return None if self.size is None else self.size.r_safe

    @property
    def region(self) -> int | None:
        """Bytes for all recordings, with the margin."""
        return None if self.size is None else self.size.region


@dataclass(frozen=True, slots=True)
class IncumbentVerdict:
    """The incumbent heap's needs, and the verdict to keep or to replace it."""

    heap: Heap
    pairs: tuple[Pair, ...]
    costs: tuple[HeapCost, HeapCost]  # today's, then the fitted one
    permanent: Permanent | None
    wanted: int  # recordings that carry an answer for heaps of this size
    changes: ChangeTest | None = None  # the heap tried on changed programs; None: no size serves
    is_foretold: bool = False  # of a target: over another heap its requests come otherwise
    is_known: bool = True  # the program has it; else many do
    is_preferred: bool | None = None  # the fitted heap has less of what a user prefers to memory
    halves: tuple[Pair, ...] = ()  # of one recording, each of a plan made without it

    @property
    def needed(self) -> int | None:
        """Memory for all recordings in the incumbent heap."""
        return self.costs[0].memory

    @property
    def saved(self) -> float | None:
        """The share of the incumbent's memory that the fitted heap saves, without margins."""
        return _share_saved(*(one.memory for one in self.costs))

    @property
    def lasting(self) -> float | None:
        """The share that longer runs are to save: the least of some, as luck has a part in each.

        Of the recording and of its halves. Of several recordings: of all, of those with the higher
        peaks together, and of the most that any of them needs.
        """
        pairs = sorted(self.pairs, key=lambda one: -one.u_max)
        now = [one.now for one in pairs if one.now is not None]
        fitted = [one.fitted for one in pairs if one.fitted is not None]
        if self.saved is None or len(now) < len(pairs) or len(fitted) < len(pairs):
            return self.saved
        high = (len(pairs) + 1) // 2
        of_high = 1 - sum(fitted[:high]) / sum(now[:high])
        of_halves = [one.saved for one in self.halves if one.saved is not None]
        return min(self.saved, of_high, 1 - max(fitted) / max(now), *of_halves)

    @property
    def saved_with_margins(self) -> float | None:
        """The share that it saves where each has the margin of its own kind."""
        return _share_saved(*(one.region for one in self.costs))

    @property
    def is_kept(self) -> bool:
        """True unless the fitted heap needs less on all recordings but one, and for all of them.

        Of one or two recordings it has to need less on each. Too few change nothing. If a user
        prefers another measure to memory, that decides. A heap that the program may not have is not
        proposed either if with its margin, changed programs included, it needs clearly more.
        """
        if self.saved is None:
            return self.needed is not None
        if len(self.pairs) < self.wanted:
            return True
        if self.is_preferred is not None:
            return not self.is_preferred
        wanted = len(self.pairs) if len(self.pairs) <= _FEW else len(self.pairs) - 1
        is_clear = self._is_clear_with_margins
        if not self.is_known and self.changes is not None and is_clear:
            return False
        saves = is_clear and 100 * (self.lasting or 0) > LEAST_SAVED
        return sum(pair.saves for pair in self.pairs) < wanted or not saves

    @property
    def awaits_recordings(self) -> bool:
        """True if the incumbent is kept as recordings are too few, though those there are save."""
        return len(self.pairs) < self.wanted and not replace(self, wanted=0).is_kept

    @property
    def is_in_doubt(self) -> bool:
        """True if the baseline is kept though the plan saves clearly: that may be luck."""
        is_open = self.is_preferred is None and self._is_clear_with_margins
        return self.is_kept and is_open and len(self.pairs) >= self.wanted

    @property
    def _is_clear_with_margins(self) -> bool:
        return 100 * (self.saved_with_margins or 0) > LEAST_SAVED

    def sentence(self) -> str:
        """The verdict as a sentence."""
        now, fitted = self.costs
        if self.needed is None:
            return f"Replace {now.name}: it serves these recordings in no region."
        if self.saved is None or fitted.memory is None:
            return f"Keep {now.name}: {fitted.name} serves these recordings in no region."
        found = (
            f"{fitted.name} needs less on {self.describe_wins()}, and {fitted.memory:,} B for all, "
            f"{format_saving(self.saved)} than {self.needed:,} B{self.describe_lasting()}"
        )
        if not self.is_known:
            kept = f"{self.heap.title} at {now.region:,} B does; {self._bar()}"
            return (
                f"No fitted heap is worth it: {kept}."
                if self.is_kept
                else f"A fitted heap is worth it: {found} of {self.heap.title}."
            )
        if not self.is_kept:
            bar = f" if `heapfit verify --now {now.name}` agrees" if self.is_foretold else ""
            return f"Replace {now.name}{bar}: {found}."
        if self.awaits_recordings:
            return f"Keep {now.name} until you have {self.wanted} recordings: {found}."
        return f"Keep {now.name}: {found}; {self._bar()}."

    def describe_wins(self) -> str:
        """On how many of the recordings the fitted heap needs less."""
        wins = sum(pair.saves for pair in self.pairs)
        return f"{wins} of {format_count(len(self.pairs), 'recording')}"

    def describe_lasting(self) -> str:
        """The clause on what longer runs are to save, where halves of the recording tell it."""
        if not self.halves or self.lasting is None:
            return ""
        share, verb = format_share(abs(self.lasting)), "save" if self.lasting >= 0 else "lose"
        return f"; longer runs are to {verb} {share}"

    def _bar(self) -> str:
        if self.is_preferred is not None:
            return f"a replacement has to save more than {LEAST_SAVED} % of what is preferred"
        where = " and need less on all recordings but one" if len(self.pairs) > _FEW else ""
        return (
            f"a replacement has to save more than {LEAST_SAVED} % with and without margins{where}"
        )


def _share_saved(now: int | None, fitted: int | None) -> float | None:
    return None if now is None or fitted is None else 1 - fitted / now
