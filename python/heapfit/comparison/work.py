# SPDX-License-Identifier: Apache-2.0
"""The work behind an answer: events replayed, by the purpose of the replay.

Counts, not seconds: equal inputs give equal counts on every machine, so that a change of the search
is judged by them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

# A block looked at takes 1/5 to 1/23 of the time of an event replayed, 1/7 in the median of twelve
# plans and recordings (lua-words-b, redis-bench, gcc-cc1-O2):
BLOCKS_AN_EVENT = 8

# What it may take to try every size: so many times the trace, and a third of a second of one core.
TIMES_TO_TRY_ALL = 30
EVENTS_TO_TRY_ALL = 3_000_000


def limit_to_try_all(events: int, least: int = EVENTS_TO_TRY_ALL) -> int:
    """Events replayed at most to try every size of a region on a trace of `events`."""
    return max(TIMES_TO_TRY_ALL * events, least)


@dataclass(frozen=True, slots=True)
class Work:
    """Events replayed by purpose, and blocks visited between them."""

    plans: int = 0  # to find plans worth measuring
    regions: int = 0  # to find R_min and R_safe of each
    every_size: int = 0  # likewise, of the few of which each multiple of 8 B is tried
    metered: int = 0  # to count accesses
    walked: int = 0  # blocks, for what is drawn over time
    beside: int = 0  # for the reference heaps of an answer
    judged: int = 0  # to see which runs its region serves
    changed: int = 0  # to see what changed programs need

    def __add__(self, other: Work) -> Work:
        """The sum of two works, field by field.

        >>> (Work(plans=1) + Work(plans=2, metered=3)).events
        6
        """
        return Work(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(Work)))

    @property
    def events(self) -> int:
        """The whole work as a number of events replayed.

        >>> Work(regions=10, walked=16).events
        12
        """
        searched = self.plans + self.regions + self.every_size + self.metered
        return searched + self.beside + self.judged + self.changed + self.walked // BLOCKS_AN_EVENT


NO_WORK = Work()


def total_work(parts: Iterable[Work]) -> Work:
    """The sum of several works."""
    return sum(parts, NO_WORK)
