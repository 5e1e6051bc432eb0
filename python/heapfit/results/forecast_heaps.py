# SPDX-License-Identifier: Apache-2.0
"""What a log says of each of its heaps and pools, and of a request that failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf

from heapfit.drawing.parts import which_hold
from heapfit.forecast.log.outlook import Outlook
from heapfit.forecast.log.states import TelemetryLog
from heapfit.plan.quantities import format_count

_LISTED, _MOST_LISTED = 12, 32  # heaps beside the first; of those that fall
_MORE = 1.2  # times as much is free beside the largest block where memory breaks up, not is lost


def describe_dry_pools(seen: Sequence[Outlook]) -> list[str]:
    """A sentence on each pool or heap that had nothing left, or refused requests; worst first."""
    return [
        f"{one.log.name or 'The heap'} ran dry{_find_dry(one.log)}: {_describe_left(one.log)}."
        f"{_advise_size(one.log)}"
        for one in sorted(seen, key=lambda one: -one.log.failures)
        if one.log.is_dry
    ]


def _find_dry(log: TelemetryLog) -> str:
    """The first line of a log that shows a pool dry, where that is not its last state."""
    dry = next(one for one in log.states if one.lowest == 0 or one.failures)
    return "" if dry is log.states[-1] else f" by line {dry.line:,}"


def _advise_size(log: TelemetryLog) -> str:
    """To how many buffers a dry pool should be raised, and what that costs.

    No more than all that failed were missing at once. Where more failed than it has buffers, most
    came one after the other: it is doubled, and that is logged.
    """
    size, missing = log.region or 0, log.failures
    if not size or log.unit == "B":
        return ""
    more = missing if 0 < missing <= size else size
    cost = f" ({more * log.each:,} bytes more, {log.each} each)" if log.each else ""
    then = "; then none would have failed" if more == missing else ", and log again"
    return f" Raise it to {size + more:,}{cost}{then}."


def describe_others(seen: Sequence[Outlook], trend: Callable[[Outlook], str]) -> list[str]:
    """The other heaps and pools: what falls as it ends, by `trend`; then the fullest first."""
    lines = [
        f"  {one.log.name or 'unnamed'}: {_describe_left(one.log)}; {trend(one)}"
        for one in sorted(seen, key=lambda one: one.run_out is None and 1 + one.log.share)
        if not one.log.is_dry
    ]
    most = min(max(_LISTED, sum(one.run_out is not None for one in seen)), _MOST_LISTED)
    left_out = len(lines) - most
    lines[most:] = [f"  and {left_out:,} more (--json has them)"] * (left_out > 0)
    return [*which_hold((lines, "Other heaps and pools in the log:")), *lines]


def describe_failure(seen: Outlook) -> list[str]:
    """Why the last request with a size failed, where the finding does not say it."""
    last = next((one for one in reversed(seen.log.states) if one.failed is not None), None)
    if last is None or last.failed is None:
        return []
    found = f"A request of {last.failed:,} B failed with {last.free:,} B free"
    known = [one for one in seen.boot if one.largest is not None]
    beside = [one.free - (one.largest or 0) for one in (*known[:1], last)]
    apart = " What is free is fragmented." * (
        2 * beside[-1] > last.free and (len(known) < 2 or beside[-1] > _MORE * beside[0])
    )
    step = max((a - b for a, b in pairwise(one.largest or 0 for one in known)), default=0)
    is_enough = last.largest is not None and last.free >= last.failed <= last.largest
    is_near = is_enough and (last.largest or 0) - last.failed < step
    return which_hold(
        (
            last.failed > last.free,
            f"{found}: memory was used up, and {last.failed - last.free:,} B more would have been "
            "enough.",
        ),
        (
            seen.decline and last.free >= last.failed > (last.largest or inf),
            f"{found}: the largest block was {last.largest or 0:,} B.{apart}",
        ),
        (
            is_near,
            f"{found}: the largest block, {last.largest or 0:,} B in the nearest state, falls by "
            f"up to {step:,} B between two states, and was too small.{apart}",
        ),
        (
            is_enough and not is_near,
            f"{found}, in a block of {last.largest or 0:,} B: both are enough. So it was asked of "
            "another memory, such as internal RAM, or at another moment.",
        ),
    )


def _describe_left(log: TelemetryLog) -> str:
    """What is free, at last and at least, what failed, and what sets the size."""
    size = f" of {log.region:,}" if log.region else ""
    left = f"{log.states[-1].free:,}{size} {log.unit} free at last, {log.least:,} at least"
    failed = (log.failures, f", {format_count(log.failures, 'request')} failed")
    return "".join(which_hold((True, left), failed, (log.setting, f" (its size: {log.setting})")))
