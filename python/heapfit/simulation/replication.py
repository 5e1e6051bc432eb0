# SPDX-License-Identifier: Apache-2.0
"""One replication: what a worker process does."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from heapfit import _engine
from heapfit.simulation.metrics import METRICS, Observation
from heapfit.simulation.scenario import RunSettings
from heapfit.simulation.scheme import Scheme
from heapfit.simulation.statistics import Estimate, estimate
from heapfit.simulation.traffic import Traffic

_EVERYTHING = 2**62  # requests; a recording ends before
_SLICE = 1 << 18  # requests


@dataclass(frozen=True, slots=True)
class Task:
    """One replication of a simulation: its traffic, scheme, settings and number."""

    traffic: Traffic
    scheme: Scheme
    run: RunSettings
    number: int

    @property
    def seed(self) -> int:
        """Follows from the scenario's seed and the number alone: every scheme at every point is
        offered the same draws."""
        text = f"{self.run.seed}/{self.number}"
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def replicate(task: Task, *files: Path) -> Observation:
    """One replication; a recording is counted whole.

    `files` are those of the traffic, wherever they lie.
    """
    run, traffic = task.run, task.traffic.with_files(*files)
    simulation = _engine.Simulation(
        task.scheme.plan.engine(), task.scheme.plan_region, traffic.engine(), task.seed
    )

    _offer(simulation, 0 if traffic.is_recorded else run.warm_up)
    simulation.reset_counts()
    _offer(simulation, _EVERYTHING if traffic.is_recorded else run.requests)
    return _observation(simulation.counts(), task.scheme)


def _offer(simulation: _engine.Simulation, requests: int) -> None:
    """Offers the traffic in slices, between which an interrupt can end it."""
    while requests > 0:
        asked = min(requests, _SLICE)
        requests = requests - asked if simulation.run(asked) == asked else 0


def is_another_round(seen: list[Observation], run: RunSettings) -> bool:
    """True until the interval of the metric that decides is narrow enough after two rounds.

    After one it may be by chance, as its values differ little: such intervals hold too seldom.
    """
    if not seen:
        return True
    if run.half_width is None or len(seen) + run.replications > run.most_replications:
        return False
    return not all(
        part and _is_narrow(part, run, run.half_width) for part in (seen, seen[: -run.replications])
    )


def _is_narrow(seen: list[Observation], run: RunSettings, half_width: float) -> bool:
    estimate = estimate_metric(seen, run.metric, run.confidence) or Estimate(0.0, 0.0)
    return estimate.half_width is not None and estimate.half_width <= half_width


def estimate_metric(seen: list[Observation], name: str, confidence: float) -> Estimate | None:
    """The metric over all observations; None where one of them does not have it."""
    values = [METRICS[name].of(one) for one in seen]
    known = [value for value in values if value is not None]
    return estimate(known, confidence) if len(known) == len(values) else None


def _observation(counts: _engine.SimulationCounts, scheme: Scheme) -> Observation:
    time = counts.time_ns or 1
    return Observation(
        region=scheme.region,
        capacity=scheme.capacity(),
        requests=counts.requests,
        admitted=counts.admitted,
        requested_bytes=counts.requested_bytes,
        admitted_bytes=counts.admitted_bytes,
        live=counts.live_byte_ns / time,
        used=counts.used_byte_ns / time,
        external=counts.external_byte_ns / (counts.sampled_ns or 1),
        external_peak=counts.external_peak,
        by_size=tuple(
            (int(bound), int(offered), int(refused))
            for bound, offered, refused in zip(
                *counts.offered_by_size, counts.refused_by_size[1], strict=True
            )
        ),
    )
