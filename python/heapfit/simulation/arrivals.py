# SPDX-License-Identifier: Apache-2.0
"""The laws of arrivals. Times are in seconds here and in whole nanoseconds in the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from heapfit import _engine
from heapfit.plan.toml_table import TomlTable
from heapfit.simulation.law import LONGEST, SHORTEST, Law, nanoseconds, read_seconds
from heapfit.simulation.recording import load_recording

POISSON = "Poisson"


def poisson(interval: float) -> Law:
    """Independent arrivals with this mean interval in seconds."""
    return Law(POISSON, {"mean_ns": nanoseconds(interval)}, interval)


def periodic(interval: float) -> Law:
    """Arrivals at a fixed interval in seconds."""
    return Law("Periodic", {"interval_ns": nanoseconds(interval)}, interval)


def burst(on: float, off: float, interval: float) -> Law:
    """Bursts: Poisson with this interval while on; both states last exponentially long."""
    means = {"on_mean_ns": on, "off_mean_ns": off, "interval_mean_ns": interval}
    arguments = {name: nanoseconds(value) for name, value in means.items()}
    return Law("OnOff", arguments, interval * (on + off) / on)


@dataclass(frozen=True, slots=True)
class RecordedTraffic:
    """The times and sizes of a trace or capture, and its releases if holding is recorded too."""

    trace: Path

    def engine(self) -> _engine.RecordedArrivals:
        """The arrivals for the engine; HeapfitError if the trace cannot be read or resizes."""
        return load_recording(self.trace)


ArrivalLaw: TypeAlias = Law | RecordedTraffic


def _read_on_off(table: TomlTable, _folder: Path) -> ArrivalLaw:
    on, off = (read_seconds(table, key) for key in ("on", "off"))
    return burst(on, off, read_interval(table))


def _read_markov(table: TomlTable, _folder: Path) -> ArrivalLaw:
    """Poisson in each state; a state lasts exponentially long, then weights choose the next."""
    states = table.tables("states")
    if not states:
        table.reject("states", "must be a list of at least one state")
    rows = (_read_state(state, len(states)) for state in states)
    names = ("interval_mean_ns", "stay_mean_ns", "weights")
    return Law("MarkovModulated", dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def _read_state(state: TomlTable, states: int) -> tuple[int, int, list[float]]:
    """The mean interval and stay of a state in nanoseconds, and the weight of each to follow."""
    interval, stay = read_interval(state), read_seconds(state, "stay")
    row = state.numbers("next", 0, 1e9)
    if len(row) != states or sum(row) <= 0:
        state.reject("next", f"must be {states} weights, one for each state, not all 0")
    state.finish()
    return nanoseconds(interval), nanoseconds(stay), list(row)


def read_interval(table: TomlTable) -> float:
    """Mean seconds between arrivals, from `interval`, or from `rate`, which is per second."""
    if table.has("rate"):
        if table.has("interval"):
            table.reject("rate", "is the inverse of interval: give one of them")
        return 1 / table.number("rate", 1 / LONGEST, 1 / SHORTEST)
    return read_seconds(table, "interval")


# By their names; a path is relative to the folder.
ARRIVAL_LAWS: dict[str, Callable[[TomlTable, Path], ArrivalLaw]] = {
    "poisson": lambda table, _: poisson(read_interval(table)),
    "periodic": lambda table, _: periodic(read_interval(table)),
    "on_off": _read_on_off,
    "markov": _read_markov,
    "recorded": lambda table, folder: RecordedTraffic(table.file("trace", folder)),
}
