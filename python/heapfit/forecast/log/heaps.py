# SPDX-License-Identifier: Apache-2.0
"""The heaps and pools of one log, the one that needs an answer first.

What a stack prints of its own pools names none of its settings: the rows of heaps.toml do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf

from heapfit.fact_files import read_facts
from heapfit.forecast.log.outlook import Finding, Outlook, find_outlook
from heapfit.forecast.log.states import TelemetryLog

_FACTS = read_facts(__file__, "heaps.toml")


def find_setting(name: str, text: str, *, is_row: bool) -> tuple[str, str, int]:
    """What a heap or pool of a log is counted in, what sets its size, and the bytes of one.

    "" and 0 where nobody knows.

    >>> find_setting("TCP_SEG", "MEM TCP_SEG", is_row=False)
    ('entries', 'MEMP_NUM_TCP_SEG', 16)
    """
    for stack in _FACTS["row" if is_row else "line"]:
        for pool, unit, setting, *each in stack["pools"]:
            match = re.match(pool, name)
            if match and re.search(stack["stack"], text, re.MULTILINE):
                return unit, match.expand(setting), sum(each)
    return "B", "", 0


def judge_heaps(log: TelemetryLog, needed: Sequence[int] = ()) -> list[Outlook]:
    """What each heap of a log shows: first the one that falls and ends first, then by the log.

    `needed`: sizes of requests that are to be dated, of what is counted in bytes.
    """
    return sorted(
        (find_outlook(one, needed if one.unit == "B" else ()) for one in (log, *log.other_heaps)),
        key=lambda one: one.run_out.after if one.finding is Finding.FALLS and one.run_out else inf,
    )
