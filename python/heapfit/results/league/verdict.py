# SPDX-License-Identifier: Apache-2.0
"""What a league found, in a sentence for each field: who needs the least memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from heapfit.league import Standing
from heapfit.league.rows import UNSIZED

LEARNED = {
    "plain": "nothing learned",
    "this run": "learned from the recording itself",
    "another run": "learned from another run of the program",
}


def verdicts(standings: Sequence[Standing]) -> Iterator[str]:
    """The best heap that needs no size at free, for each alignment and kind of learning.

    Only those compete that serve as many recordings as any; the largest alignment comes first.
    """
    for alignment in sorted({one.alignment for one in standings}, reverse=True):
        for learned, learning in LEARNED.items():
            field = [
                one
                for one in standings
                if (one.alignment, one.learned, one.interface) == (alignment, learned, UNSIZED)
            ]
            most = max((one.served for one in field), default=0)
            ranked = [one for one in field if one.served == most and one.median is not None]
            if ranked:
                first = min(ranked, key=lambda one: one.median or 0)
                yield f"Aligned to {alignment} B, {learning}: {_describe_leader(first)}"


def _describe_leader(first: Standing) -> str:
    count = "its one recording" if first.served == 1 else f"the median of {first.served} recordings"
    return (
        f"{first.entrant} needs the least, {first.median:.3f} times the peak in {count}, "
        f"{first.worst:.3f} times in the worst case."
    )
