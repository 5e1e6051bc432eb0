# SPDX-License-Identifier: Apache-2.0
"""The least memory of each scheme that admits a share of offered traffic.

Where a closed form applies (Poisson arrivals on fixed or chained pools) the answer is exact and
instant. Elsewhere it is found by bisection over simulations, all offered the same draws; then the
memory has an interval too: from where the admission's interval first reaches the aim to where all
of it does.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import pyarrow as pa

from heapfit.progress import Progress, ignore_progress
from heapfit.simulation.closed_form import exact_metrics
from heapfit.simulation.replication import Task, estimate_metric, replicate
from heapfit.simulation.scenario import RunSettings
from heapfit.simulation.scheme import Scheme
from heapfit.simulation.statistics import Estimate
from heapfit.simulation.traffic import Traffic
from heapfit.sizing.families import Family, families_for, load_of
from heapfit.sizing.run_out import CONFIDENCE_PERCENT, check_admission
from heapfit.trace.tabular import Tabular, arrow_table

STANDARD_REPLICATIONS = 8

_REFUSALS = 50  # that a replication should see
_FEWEST, _MOST = 20_000, 2_000_000  # requests of a replication
_LEAST_REFUSALS = 10  # in a replication; below that a simulation shows too little
_WARM_UP = 20_000  # requests
_STEPS = 512  # a simulated memory is found to one part in so many
_METRIC = "bandwidth_admission"


@dataclass(frozen=True, slots=True)
class Aim:
    """The admission to reach, and the effort of the search."""

    admission: float = 0.999
    buffer_size: int | None = None  # of the fixed pool [the largest request]
    replications: int = STANDARD_REPLICATIONS
    seed: int = 1
    curve: bool = False  # other refusal probabilities too


@dataclass(frozen=True, slots=True)
class SizedScheme:
    """A kind of scheme with the least memory for one admission."""

    name: str
    admission: float  # asked for
    scheme: Scheme | None  # None: no size reaches it, or it is too rare to simulate
    lowest: int  # bytes of memory; the interval, equal where the answer is exact
    highest: int
    reached: float  # the admission there
    half_width: float | None  # of `reached`; None where it is exact
    why_not: str = ""
    unseen: float | None = None  # the admission on as many draws it was not found on
    unseen_half_width: float | None = None

    @property
    def memory(self) -> int | None:
        """Bytes of memory, bookkeeping included."""
        return None if self.scheme is None else self.scheme.region

    @property
    def is_exact(self) -> bool:
        """True if a closed form gave the admission."""
        return self.scheme is not None and self.half_width is None


@dataclass(frozen=True, slots=True, repr=False)
class TrafficSizing(Tabular):
    """Every kind of scheme, least memory first; then the same for the curve's other aims."""

    aim: Aim
    schemes: tuple[SizedScheme, ...]
    curve: tuple[SizedScheme, ...] = ()

    def __str__(self) -> str:
        best = self.schemes[0]
        least = "none reaches it" if best.memory is None else f"{best.name}, {best.memory:,} B"
        return f"least memory for an admission of {self.aim.admission:g}: {least}"

    def to_arrow(self) -> pa.Table:
        """A row for each scheme and admission; the rows of the curve are last."""
        return arrow_table(
            [*self.schemes, *self.curve],
            {
                "name": lambda one: one.name,
                "admission": lambda one: one.admission,
                "memory": lambda one: one.memory,
                "lowest": lambda one: one.lowest,
                "highest": lambda one: one.highest,
                "is_exact": lambda one: one.is_exact,
            },
        )


def size_for(
    traffic: Traffic, aim: Aim, workers: int = 1, progress: Progress = ignore_progress
) -> TrafficSizing:
    """Sizes every kind of scheme that suits the traffic."""
    check_admission(aim.admission)
    families = families_for(load_of(traffic), aim.buffer_size)
    schemes: list[SizedScheme] = []
    curve: list[SizedScheme] = []
    with ThreadPoolExecutor(workers) as executor:  # the engine lets other threads run
        for done, family in enumerate(families):
            progress("size", done / len(families))
            search = FamilySearch(traffic, family, aim, executor)
            schemes.append(search.least(aim.admission))
            if aim.curve:
                curve += [search.least(one) for one in curve_aims(aim.admission)]
    progress("size", 1.0)
    ranked = sorted(schemes, key=lambda one: (one.memory is None, one.memory or 0, one.name))
    return TrafficSizing(aim, tuple(ranked), tuple(curve))


def curve_aims(admission: float) -> list[float]:
    """Admissions that refuse 30 %, 10 %, 3 %, ... down to the given admission.

    >>> curve_aims(0.99)
    [0.7, 0.9, 0.97, 0.99]
    """
    refused = 1 - admission
    steps = [first / 10**k for k in range(1, 16) for first in (3, 1)]
    return [round(1 - step, 15) for step in steps if step > refused * 1.01] + [admission]


class FamilySearch:
    """The least memory of one family; each of its schemes is measured once for an effort.

    `is_exact`: a closed form has the admission, so nothing is simulated.
    """

    def __init__(self, traffic: Traffic, family: Family, aim: Aim, executor: Executor) -> None:
        self._traffic = traffic
        self._family = family
        self._aim = aim
        self._executor = executor
        self._measured = cache(self._measure)
        self.is_exact = exact_metrics(traffic, family.make(1)) is not None

    def least(self, admission: float) -> SizedScheme:
        """The scheme with the least memory for an admission."""
        name, make = self._family.name, self._family.make
        requests = 0 if self.is_exact else _requests(admission)
        is_rare = 0 < requests * (1 - admission) < _LEAST_REFUSALS
        number = None if is_rare else self._first(admission, requests)
        if number is None:
            rare = f"too rare to simulate: a loss of {1 - admission:.1e}"
            why = rare if is_rare else "no memory reaches it"
            return SizedScheme(name, admission, None, 0, 0, 0.0, None, why)
        scheme, found = make(number), self._measured(number, requests)
        if self.is_exact:
            return SizedScheme(
                name, admission, scheme, scheme.region, scheme.region, found.mean, None
            )
        ends = [self._first(admission, requests, end) or number for end in (1, -1)]
        low, high = (make(end).region for end in ends)
        unseen = self._simulate(scheme, requests, self._aim.replications)
        reached = (found.mean, found.half_width, "", unseen.mean, unseen.half_width)
        return SizedScheme(name, admission, scheme, low, high, *reached)

    def _first(self, admission: float, requests: int, end: int = 0) -> int | None:
        """The least number whose scheme reaches the admission, by doubling and bisection.

        `end`: that the mean reaches it (0), or the interval's upper (1) or lower (-1) end.
        """

        def reaches(number: int) -> bool:
            found = self._measured(number, requests)
            return found.mean + end * (found.half_width or 0.0) >= admission

        low, high = 0, 1
        while not reaches(high):
            if high == self._family.most:
                return None
            low, high = high, min(2 * high, self._family.most)
        while high - low > (max(1, high // _STEPS) if requests else 1):
            middle = (low + high) // 2
            low, high = (low, middle) if reaches(middle) else (middle, high)
        return high

    def _measure(self, number: int, requests: int) -> Estimate:
        scheme = self._family.make(number)
        exact = None if requests else exact_metrics(self._traffic, scheme)
        return Estimate(exact[_METRIC]) if exact else self._simulate(scheme, requests)

    def _simulate(self, scheme: Scheme, requests: int, first: int = 0) -> Estimate:
        """Simulates a scheme for about `requests` requests, from replication `first` on."""
        run = RunSettings(requests=requests, warm_up=_WARM_UP, seed=self._aim.seed)
        numbers = range(first, first + self._aim.replications)
        tasks = [Task(self._traffic, scheme, run, number) for number in numbers]
        seen = [one for some in self._executor.map(replicate, tasks) for one in some]
        found = estimate_metric(seen, _METRIC, CONFIDENCE_PERCENT / 100) or Estimate(0.0)
        return Estimate(found.mean, found.half_width or 0.0)


def _requests(admission: float) -> int:
    """The requests of a replication, so many that some run out of memory."""
    return min(max(math.ceil(_REFUSALS / (1 - admission)), _FEWEST), _MOST)
