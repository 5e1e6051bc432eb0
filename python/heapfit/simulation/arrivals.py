# SPDX-License-Identifier: Apache-2.0
"""The laws of arrivals. Times are in seconds here and in whole nanoseconds in the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from heapfit import _engine
from heapfit.plan.toml_table import Table
from heapfit.simulation.recording import load_recording

SHORTEST = 1e-9  # seconds: the engine's unit
LONGEST = 1e6  # seconds; 11.6 days, the engine's longest mean
NS = 1_000_000_000  # in a second


@dataclass(frozen=True, slots=True)
class Poisson:
    """Independent arrivals with this mean interval in seconds."""

    interval: float

    def engine(self) -> _engine.Poisson:
        return _engine.Poisson(mean_ns=nanoseconds(self.interval))


@dataclass(frozen=True, slots=True)
class Periodic:
    """Arrivals at a fixed interval in seconds."""

    interval: float

    def engine(self) -> _engine.Periodic:
        return _engine.Periodic(interval_ns=nanoseconds(self.interval))


@dataclass(frozen=True, slots=True)
class OnOff:
    """Bursts: Poisson while on; both states last exponentially long."""

    on: float
    off: float
    interval: float  # while on

    def engine(self) -> _engine.OnOff:
        return _engine.OnOff(
            on_mean_ns=nanoseconds(self.on),
            off_mean_ns=nanoseconds(self.off),
            interval_mean_ns=nanoseconds(self.interval),
        )


@dataclass(frozen=True, slots=True)
class MarkovModulated:
    """Poisson in each state; a state lasts exponentially long, then weights choose the next."""

    intervals: tuple[float, ...]
    stays: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]  # a row for each state

    def engine(self) -> _engine.MarkovModulated:
        return _engine.MarkovModulated(
            interval_mean_ns=[nanoseconds(one) for one in self.intervals],
            stay_mean_ns=[nanoseconds(one) for one in self.stays],
            weights=[list(row) for row in self.weights],
        )


@dataclass(frozen=True, slots=True)
class RecordedTraffic:
    """The times and sizes of a trace or capture, and its releases if holding is recorded too."""

    trace: Path

    def engine(self) -> _engine.RecordedArrivals:
        """The arrivals for the engine; HeapfitError if the trace cannot be read or resizes."""
        return load_recording(self.trace)


ArrivalLaw: TypeAlias = Poisson | Periodic | OnOff | MarkovModulated | RecordedTraffic


def nanoseconds(seconds: float) -> int:
    """Seconds in whole nanoseconds, at least one."""
    return max(1, round(seconds * NS))


def _read_on_off(table: Table, _folder: Path) -> ArrivalLaw:
    on, off = (table.number(key, SHORTEST, LONGEST) for key in ("on", "off"))
    return OnOff(on, off, read_interval(table))


def _read_markov(table: Table, _folder: Path) -> ArrivalLaw:
    intervals, stays, weights = [], [], []
    states = table.tables("states")
    if not states:
        table.reject("states", "must be a list of at least one state")
    for state in states:
        intervals.append(read_interval(state))
        stays.append(state.number("stay", SHORTEST, LONGEST))
        row = state.numbers("next", 0, 1e9)
        if len(row) != len(states) or sum(row) <= 0:
            state.reject("next", f"must be {len(states)} weights, one for each state, not all 0")
        weights.append(row)
        state.finish()
    return MarkovModulated(tuple(intervals), tuple(stays), tuple(weights))


def read_interval(table: Table) -> float:
    """Mean seconds between arrivals, from `interval`, or from `rate`, which is per second."""
    if table.has("rate"):
        if table.has("interval"):
            table.reject("rate", "is the inverse of interval: give one of them")
        return 1 / table.number("rate", 1 / LONGEST, 1 / SHORTEST)
    return table.number("interval", SHORTEST, LONGEST)


# By their names; a path is relative to the folder.
ARRIVAL_LAWS: dict[str, Callable[[Table, Path], ArrivalLaw]] = {
    "poisson": lambda table, _: Poisson(read_interval(table)),
    "periodic": lambda table, _: Periodic(read_interval(table)),
    "on_off": _read_on_off,
    "markov": _read_markov,
    "recorded": lambda table, folder: RecordedTraffic(table.file("trace", folder)),
}
