# SPDX-License-Identifier: Apache-2.0
"""What a device should log next, so that more can be said."""

from __future__ import annotations

from collections.abc import Iterator

from heapfit.forecast.log.clock import Clock
from heapfit.forecast.log.outlook import FEWEST_WINDOWS, Finding, Outlook

_LARGEST = (
    "the largest free block, which shows fragmentation: heap_caps_get_largest_free_block, "
    "vPortGetHeapStats, ESP.getMaxFreeBlockSize"
)
_LEAST = (
    "the least ever free, which shows bursts between two states: heap_caps_get_minimum_free_size, "
    "xPortGetMinimumEverFreeHeapSize, max_allocated_bytes of sys_heap_runtime_stats_get"
)


def suggest_records(outlook: Outlook) -> tuple[str, ...]:
    """What to record next, most useful first."""
    return tuple(_suggest(outlook))


def _suggest(outlook: Outlook) -> Iterator[str]:
    states = outlook.log.states
    if outlook.finding in (Finding.TOO_SHORT, Finding.UNCLEAR) or len(outlook.boot) == 1:
        yield (
            f"more states at equal distances: at least {FEWEST_WINDOWS} in one boot, and longer "
            "than any cycle of the load"
        )
    if outlook.finding is Finding.FALLS:
        yield "who asks: heapfit record on the device, then heapfit sites RUN names what grows"
    if outlook.finding in (Finding.FRAGMENTED, Finding.SHRINKS):
        yield "the requests: heapfit record on the device, then heapfit fit RUN finds a better heap"
    if outlook.log.clock is Clock.CALLS:
        return  # a heap's windows hold what they can
    if all(one.seconds is None for one in states):
        yield "the time of each state: without it there is no date"
    if all(one.largest is None for one in states):
        yield _LARGEST
    if all(one.least is None for one in states):
        yield _LEAST
