# SPDX-License-Identifier: Apache-2.0
"""The least memory of each scheme that admits a share of offered traffic.

Where a closed form applies (Poisson arrivals on fixed or chained pools) the answer is exact and
instant. Elsewhere it is found by bisection over simulations, all offered the same draws; then the
memory has an interval too: from where the admission's interval first reaches the aim to where all
of it does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeAlias

import pyarrow as pa

from heapfit.bisection import bisect_least
from heapfit.progress import Progress, ignore_progress
from heapfit.simulation.closed_form import exact_metrics
from heapfit.simulation.replication import Task, estimate_metric, replicate
from heapfit.simulation.scenario import RunSettings
from heapfit.simulation.scheme import Scheme
from heapfit.simulation.statistics import Estimate
from heapfit.simulation.traffic import Traffic
from heapfit.sizing.families import Family, families_for
from heapfit.sizing.run_out import CONFIDENCE_PERCENT, check_admission
from heapfit.trace.tabular import Tabular, arrow_table

Measure: TypeAlias = Callable[..., Estimate]  # of a number, requests and the replications

STANDARD_REPLICATIONS = 8

_REFUSALS = 50  # that a replication should see
_FEWEST, _MOST = 20_000, 2_000_000  # requests of a replication
_LEAST_REFUSALS = 10  # in a replication; below that a simulation shows too little
_WARM_UP = 20_000  # requests
_STEPS = 512  # a simulated memory is found to one part in so many
METRIC = "bandwidth_admission"


@dataclass(frozen=True, slots=True)
class Aim:
    """The admission to reach, and the effort of the search."""

    admission: float = 0.999
    buffer_size: int | None = None  # of the fixed pool [the largest request]
    replications: int = STANDARD_REPLICATIONS  # that the memory is found on
    judged: int = STANDARD_REPLICATIONS  # that it is judged on afterwards, which change nothing
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
    reached: Estimate  # the admission there
    unseen: Estimate | None  # on draws that it was not found on; None where it is exact
    why_not: str = ""

    @property
    def memory(self) -> int | None:
        """Bytes of memory, bookkeeping included."""
        return None if self.scheme is None else self.scheme.region

    @property
    def is_exact(self) -> bool:
        """True if a closed form gave the admission."""
        return self.scheme is not None and self.unseen is None


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
    families = families_for(traffic, aim.buffer_size)
    admissions = [aim.admission, *(curve_aims(aim.admission) if aim.curve else ())]
    sized: list[list[SizedScheme]] = []
    with ThreadPoolExecutor(workers) as executor:  # the engine lets other threads run
        for done, family in enumerate(families):
            progress("size", done / len(families))
            sized.append(
                size_family(traffic, family, aim=aim, executor=executor, admissions=admissions)
            )
    progress("size", 1.0)
    ranked = sorted(
        (its[0] for its in sized), key=lambda one: (one.memory is None, one.memory or 0, one.name)
    )
    return TrafficSizing(aim, tuple(ranked), tuple(one for its in sized for one in its[1:]))


def curve_aims(admission: float) -> list[float]:
    """Admissions that refuse 30 %, 10 %, 3 %, ... down to the given admission.

    >>> curve_aims(0.99)
    [0.7, 0.9, 0.97, 0.99]
    """
    refused = 1 - admission
    steps = [first / 10**k for k in range(1, 16) for first in (3, 1)]
    return [round(1 - step, 15) for step in steps if step > refused * 1.01] + [admission]


def size_family(
    traffic: Traffic,
    family: Family,
    *,
    aim: Aim,
    executor: Executor,
    admissions: Sequence[float],
    is_exact: bool | None = None,
) -> list[SizedScheme]:
    """A family's least memory for each admission; each scheme is measured once for an effort.

    `is_exact`: by a closed form, not by simulation; None: where there is one.
    """
    if is_exact is None:
        is_exact = exact_metrics(traffic, family.make(1)) is not None

    @cache
    def measure(number: int, requests: int, draws: range) -> Estimate:
        scheme = family.make(number)
        exact = None if requests else exact_metrics(traffic, scheme)
        if exact:
            return Estimate(exact[METRIC])
        run = RunSettings(requests=requests, warm_up=_WARM_UP, seed=aim.seed)
        tasks = [Task(traffic, scheme, run, one) for one in draws]
        found = estimate_metric(
            [*executor.map(replicate, tasks)], METRIC, CONFIDENCE_PERCENT / 100
        ) or Estimate(0.0)
        return Estimate(found.mean, found.half_width or 0.0)

    return [
        _find_least(family, one, measure, 0 if is_exact else _requests(one), aim)
        for one in admissions
    ]


def _find_least(
    family: Family, admission: float, measure: Measure, requests: int, aim: Aim
) -> SizedScheme:
    """The scheme with the least memory for an admission; by a closed form for 0 requests."""
    seen, fresh = range(aim.replications), range(aim.replications, aim.replications + aim.judged)
    first = partial(_find_first, admission, family.most, partial(measure, draws=seen), requests)
    is_rare = 0 < requests * (1 - admission) < _LEAST_REFUSALS
    number = None if is_rare else first()
    if number is None:
        why = "too rare to simulate: a loss of {:.1e}" if is_rare else "no memory reaches it"
        return SizedScheme(
            family.name, admission, None, 0, 0, Estimate(0.0), None, why.format(1 - admission)
        )
    low, high = (family.make(first(end) or number).region for end in (1, -1))
    found = measure(number, requests, draws=seen)
    unseen = measure(number, requests, draws=fresh) if requests else None
    return SizedScheme(family.name, admission, family.make(number), low, high, found, unseen)


def _find_first(
    admission: float, most: int, measure: Measure, requests: int, end: int = 0
) -> int | None:
    """The least number whose scheme reaches the admission, by doubling and bisection.

    `end`: that the mean reaches it (0), or the interval's upper (1) or lower (-1) end.
    """

    def reaches(number: int) -> bool:
        found = measure(number, requests)
        return found.mean + end * (found.half_width or 0.0) >= admission

    low, high = 0, 1
    while not reaches(high):
        if high == most:
            return None
        low, high = high, min(2 * high, most)
    return bisect_least(reaches, low, does=high, share=_STEPS if requests else 0)


def _requests(admission: float) -> int:
    """The requests of a replication, so many that some run out of memory."""
    return min(max(math.ceil(_REFUSALS / (1 - admission)), _FEWEST), _MOST)
