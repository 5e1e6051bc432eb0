# SPDX-License-Identifier: Apache-2.0
"""The answer of a fit: what to set the heap to, and the sentences that say so."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit.comparison.incumbents.system_heap import SystemHeap
from heapfit.comparison.margin import ENOUGH_OF_SMALL, SMALL_PEAK, HeapSize, MarginBasis, is_enough


@dataclass(frozen=True, slots=True)
class Answer:
    """What to set the heap to, in a user's words."""

    size: HeapSize
    known: MarginBasis  # what the margin rests on
    asked_peak: int | None  # by the user
    kept: SystemHeap | None = None  # what is set; None: the fitted heap

    @property
    def is_enough(self) -> bool:
        """True if the recordings suffice for an answer."""
        return is_enough(self.known)

    @property
    def overhead(self) -> float:
        """Percent of the peak that goes to the allocator: metadata, rounding and holes."""
        return 100 * (self.size.r_safe / max(self.size.u_max, 1) - 1)

    def sentences(self) -> list[str]:
        """Sentences for the user: the answer, then what limits it."""
        what, region = "the heap", self.size.region
        if self.kept is not None:
            what, region = self.kept.setting, self.kept.set_to(region)
        size, runs = self.size, self.known.runs
        recordings = "1 recording" if runs == 1 else f"{runs} recordings"
        peak = f"your peak of {size.u_max:,}"
        if size.peak > size.u_max:
            peak = f"the peak of {size.peak:,} that you expect"
        parts = f"{peak}, {self.overhead:.1f} % for the allocator, {size.margin:g} % margin"
        if self.is_enough:
            answers = [f"Set {what} to {region:,} bytes: {parts}; from {recordings}."]
        else:
            answers = [
                f"{recordings} {'is' if runs == 1 else 'are'} too few for a heap below "
                f"{SMALL_PEAK // 1024} KiB, where runs differ most: record "
                f"{ENOUGH_OF_SMALL} and fit them together.",
                f"Until then, set {what} to {region:,} bytes: {parts}.",
            ]
        if self.asked_peak is not None and self.asked_peak < size.u_max:
            answers.append(
                f"Your --peak of {self.asked_peak:,} is below the recorded peak and changes "
                "nothing: smaller heaps are relatively more fragmented."
            )
        return answers
