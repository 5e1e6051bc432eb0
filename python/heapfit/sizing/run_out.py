# SPDX-License-Identifier: Apache-2.0
"""The least count of a pool for an admission, and how often it still runs out, with an interval.

    share of requests that need more than `count`, on pools that never refuse
    |
    |*
    | **                          seen: from the trace itself
    |    ****
    |- - - - -*- - - - - - - - -  3 / looks: rarer than that a trace cannot show
    |           \\
    |             \\               extrapolated: the tail goes on as it fell last
    +--------------+----------- count

docs/sizing.md has the definitions.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.simulation.statistics import student_t
from heapfit.sizing.demand import Demand

CONFIDENCE_PERCENT = 95
_RULE_OF_THREE = 3.0  # none in n: below 3 / n with 95 % confidence
_DECADES = 1.5  # of the tail that an extrapolation goes on from


@dataclass(frozen=True, slots=True)
class Chance:
    """How often requests run out, of all pools or of one."""

    share: float  # in the trace, or extrapolated
    lowest: float  # of the interval of 95 %
    highest: float

    @classmethod
    def of(cls, share: float, stretches: NDArray[np.float64], none_seen: float) -> Chance:
        """The 95 % interval of a share: Student's t over the trace's stretches, and above no
        narrower than as many independent looks allow. `none_seen` is 3 events in them, `share` so
        many.
        """
        if len(stretches) < 2:
            return cls(share, 0.0, 1.0)
        above = share + none_seen + 2 * math.sqrt(share * none_seen / _RULE_OF_THREE)
        width = student_t(CONFIDENCE_PERCENT / 100, len(stretches) - 1) / math.sqrt(len(stretches))
        half = width * float(stretches.std(ddof=1))
        return cls(share, max(0.0, share - half), min(1.0, max(above, share + half)))


@dataclass(frozen=True, slots=True)
class RunOut(Chance):
    """How often a pool of a count runs out. Shares of the requests to the pool."""

    count: int
    is_beyond: bool  # so rare that the trace cannot show it: count or share is extrapolated
    requests: float  # to the pool in a recording
    requests_a_day: float | None  # None without times
    independent: float  # share by Erlang-B, of requests that come one by one, each of some units
    in_bursts: float  # share by Hayward's model, of bursts as the trace has them
    peak: int  # the most units that were needed at once

    def count_refused(self, share: float) -> tuple[float, str]:
        """How many requests find none left at this share, and in what time: day or recording."""
        if self.requests_a_day is None:
            return share * self.requests, "recording"
        return share * self.requests_a_day, "day"


def check_admission(admission: float, *, may_be_all: bool = False) -> None:
    """HeapfitError unless it is a share above 0 and below 1, or 1 where that has a meaning."""
    if not 0 < admission < 1 and not (may_be_all and admission == 1):
        raise HeapfitError(
            f"admission: {admission:g} must be above 0 and below 1 (0.999: one request in 1,000 "
            f"may fail{'; 1: none of the recorded ones' if may_be_all else ''})"
        )


def looks(demand: Demand) -> float:
    """How many independent looks the pool's requests amount to: the lesser of two estimates.

    By Little's law a block lives `mean_live` requests on average, and two looks closer than twice
    that see much the same blocks. And the more the stretches' means differ, against the needs'
    own variance, the fewer looks there are in each: bursts and queues last longer than a block.
    """
    by_turnover = demand.requests / max(1.0, 2 * demand.mean_live)
    return max(1.0, min(by_turnover, demand.looks_by_variance()))


def rarest_shown(demand: Demand) -> float:
    """The share of requests below which the trace cannot show that a pool runs out.

    None seen in n independent looks: below 3 / n with 95 % confidence.
    """
    return min(1.0, _RULE_OF_THREE / looks(demand))


def least_count(demand: Demand, admission: float) -> RunOut:
    """The least count by which at least that share of the requests is admitted; 1: the peak."""
    refused = round(1 - admission, 15)
    if admission == 1 or refused >= rarest_shown(demand):
        return run_out(demand, least_seen(demand, refused))
    found = run_out(demand, extrapolate_count(demand, refused))
    return replace(found, share=refused, lowest=0.0, is_beyond=True)


def run_out(demand: Demand, count: int) -> RunOut:
    """How often a pool of `count` units runs out in the trace."""
    share = demand.share_above(count)
    found = Chance.of(share, demand.shares_above(count), rarest_shown(demand))
    own, (_, variance) = demand.own_units, demand.spread
    return RunOut(
        count=count,
        share=share,
        lowest=found.lowest,
        highest=found.highest,
        is_beyond=False,
        requests=demand.requests / demand.recordings,
        requests_a_day=demand.requests / demand.days if demand.days else None,
        independent=block_share(count, own * demand.offered, own * own * demand.offered),
        in_bursts=block_share(count, own * demand.mean_live, variance),
        peak=demand.peak,
    )


def block_share(count: int, mean: float, variance: float) -> float:
    """The share of requests that a pool refuses, by Hayward's approximation of bursts.

    Bursts make what is live vary more than its mean, which it equals where requests come one by
    one. `variance` / `mean` such units come together, so that many fewer pools of as many fewer
    requests block alike; Erlang-B of a count that is no whole number lies between its neighbours'.
    """
    if mean <= 0:
        return 0.0
    together = max(variance / mean, 1e-6)
    servers, offered = count / together, mean / together
    below = int(servers)
    low, high = (math.log(_engine.erlang_b(n, offered) or 1e-300) for n in (below, below + 1))
    return math.exp(low + (high - low) * (servers - below))


def least_seen(demand: Demand, refused: float) -> int:
    """The least count of which the trace itself refuses at most such a share.

    On pools that never refuse, so a few blocks less may do. By bisection: the share falls with the
    count.
    """
    return bisect_left(
        range(demand.peak), True, key=lambda count: demand.share_above(count) <= refused
    )


def extrapolate_count(demand: Demand, refused: float) -> int:
    """Where the tail arrives that goes on falling as it fell over the last decades it shows.

    A guess, and a safe one only while the true tail falls at least as fast. Where the tail ends
    abruptly, the most ever needed being needed often, that looks like a limit: it is the answer.
    """
    if demand.share_above(demand.peak - 1) >= rarest_shown(demand):
        return demand.peak
    shown = max(rarest_shown(demand), 1 / max(demand.requests, 1))
    start = min(shown * 10**_DECADES, 0.5)
    if shown >= start:  # too few looks for a slope
        return demand.peak
    near, far = least_seen(demand, start), least_seen(demand, shown)
    slope = (far - near) / math.log10(start / shown)  # units a decade
    return max(demand.peak, math.ceil(far + slope * math.log10(shown / refused)))
