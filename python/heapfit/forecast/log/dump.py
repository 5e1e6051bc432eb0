# SPDX-License-Identifier: Apache-2.0
"""The windows that a generated heap keeps, as a program prints them.

    heap windows REGION UNIT FULL CALLS DOUBLINGS: MOST-LEAST MOST-LEAST ...

Live bytes are in units of UNIT bytes. FULL windows, of 2 to the power of DOUBLINGS calls each, are
full; the next one has CALLS calls, and what stands behind it is old.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from heapfit.errors import HeapfitError
from heapfit.forecast.log.states import LARGEST_VALUE, Clock, HeapState, TelemetryLog

_DUMP = re.compile(r"heap windows (\d{1,10}) (\d{1,10}) (\d+) (\d+) (\d+):((?: \d{1,5}-\d{1,5})+)")
_MOST_DOUBLINGS = 31


def read_dump(name: str, lines: Sequence[tuple[int, str]]) -> TelemetryLog | None:
    """The states of the last windows in a log, two for each window; None if there are none."""
    found = [(number, match) for number, line in lines if (match := _DUMP.search(line))]
    if not found:
        return None
    number, match = found[-1]
    region, unit, full, _, doublings = map(int, match.groups()[:5])
    windows = [tuple(map(int, pair.split("-"))) for pair in match[6].split()][:full]
    place = f"{name}: line {number}: heap windows"
    if not 0 < full == len(windows):
        raise HeapfitError(f"{place}: {full} are full, and {len(windows)} are here (print all)")
    if doublings > _MOST_DOUBLINGS or not 0 < unit <= region <= LARGEST_VALUE:
        raise HeapfitError(f"{place}: the numbers before the colon make no sense")
    length = 1 << doublings  # calls
    for i, (most, least) in enumerate(windows, 1):
        if not least <= most <= region // unit:
            raise HeapfitError(f"{place}: window {i} has more live bytes than the region")
    states = [
        HeapState(number, 0, (i + part) * length, region - live, None, None, None, None)
        for i, (most, least) in enumerate(windows)
        # What the unit cuts off is added to the most.
        for part, live in ((0.25, least * unit), (0.75, min(region, (most + 1) * unit - 1)))
    ]
    return TelemetryLog("heap windows", states, Clock.CALLS, 0, (), region)
