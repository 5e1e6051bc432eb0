# SPDX-License-Identifier: Apache-2.0
"""The answer of a fit: what to set the heap to, and the sentences that say so."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.margin import ENOUGH_OF_SMALL, SMALL_PEAK, HeapSize, MarginBasis, is_enough


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

    @property
    def overhead(self) -> float:
        """Percent of the peak that goes to the allocator: metadata, rounding and holes."""
        return 100 * (self.size.r_safe / max(self.size.u_max, 1) - 1)

    def sentences(self, *, is_growing: bool = False) -> list[str]:
        """Sentences for the user: the answer, then what limits it.

        `is_growing`: no number of recordings makes it the size for longer runs.
        """
        size, runs = self.size, self.known.runs
        recordings = "1 recording" if runs == 1 else f"{runs} recordings"
        setting = self._describe_setting()
        if is_growing:
            answers = [f"For a run no longer than this: {setting}."]
        elif self.is_enough:
            answers = [f"{setting[0].upper()}{setting[1:]}; from {recordings}."]
        else:
            answers = [
                f"{recordings} {'is' if runs == 1 else 'are'} too few for a heap whose peak is "
                f"below {SMALL_PEAK // 1024} KiB, where runs differ most: record "
                f"{ENOUGH_OF_SMALL} and fit them together.",
                f"Until then, {setting}.",
            ]
        if self.asked_peak is not None and self.asked_peak < size.u_max:
            answers.append(
                f"Your --peak of {self.asked_peak:,} is below the recorded peak and changes "
                "nothing: smaller heaps are relatively more fragmented."
            )
        return answers

    def _describe_setting(self) -> str:
        """What to set, and the three parts that add up to it, as a clause."""
        size, heap = self.size, self.heap
        peak = f"your peak of {size.u_max:,}"
        if size.peak > size.u_max:
            peak = f"the peak of {size.peak:,} that you expect"
        needed = size.region_with(0)
        parts = (
            f"{peak}, {needed - size.peak:,} for the allocator, "
            f"{size.region - needed:,} of margin ({size.margin:g} %)"
        )
        if self.is_kept and not self.is_known:
            return f"no new heap is worth it: {heap.title} at {size.region:,} bytes does: {parts}"
        what, region = heap.setting if self.is_kept else "the heap", heap.set_to(size.region)
        unset = size.region - region
        beside = f" (and {unset:,} beside it)" if unset else ""
        return f"set {what} to {region:,} bytes{beside}: {parts}"
