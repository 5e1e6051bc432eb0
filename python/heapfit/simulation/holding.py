# SPDX-License-Identifier: Apache-2.0
"""The laws of holding times, in seconds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeAlias

import numpy as np

from heapfit import _engine
from heapfit.plan.toml_table import Table
from heapfit.simulation.arrivals import LONGEST, SHORTEST, nanoseconds
from heapfit.simulation.recording import count_holding_times


@dataclass(frozen=True, slots=True)
class ExponentialHolding:
    """Holding times with an exponential distribution of this mean, in seconds."""

    mean: float

    def engine(self) -> _engine.ExponentialHolding:
        return _engine.ExponentialHolding(mean_ns=nanoseconds(self.mean))


@dataclass(frozen=True, slots=True)
class FixedHolding:
    """A constant holding time in seconds."""

    mean: float

    def engine(self) -> _engine.FixedHolding:
        return _engine.FixedHolding(ns=nanoseconds(self.mean))


@dataclass(frozen=True, slots=True)
class UniformHolding:
    """Holding times uniform between two bounds, in seconds."""

    least: float
    most: float

    @property
    def mean(self) -> float:
        """The mean holding time in seconds."""
        return (self.least + self.most) / 2

    def engine(self) -> _engine.UniformHolding:
        return _engine.UniformHolding(
            least_ns=nanoseconds(self.least), most_ns=nanoseconds(self.most)
        )


@dataclass(frozen=True, slots=True)
class LognormalHolding:
    """Holding times whose logarithm is normal with this standard deviation."""

    mean: float
    sigma: float

    def engine(self) -> _engine.LognormalHolding:
        return _engine.LognormalHolding(mean_ns=nanoseconds(self.mean), sigma=self.sigma)


@dataclass(frozen=True, slots=True)
class FifoService:
    """Held until a server has sent everything that was admitted before, and then this."""

    bytes_per_second: float | None
    packets_per_second: float | None
    mean: ClassVar[None] = None  # depends on the queue

    def engine(self) -> _engine.FifoService:
        if self.bytes_per_second is not None:
            return _engine.FifoService(bytes_per_second=self.bytes_per_second)
        return _engine.FifoService(packets_per_second=self.packets_per_second)


@dataclass(frozen=True, slots=True)
class EmpiricalHolding:
    """Holding times drawn independently by their weights, in seconds."""

    times: tuple[float, ...]
    weights: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean holding time in seconds."""
        pairs = zip(self.times, self.weights, strict=True)
        return math.fsum(t * w for t, w in pairs) / math.fsum(self.weights)

    def engine(self) -> _engine.EmpiricalHolding:
        times = np.array([nanoseconds(one) for one in self.times], np.uint64)
        return _engine.EmpiricalHolding(ns=times, weight=np.array(self.weights, float))


@dataclass(frozen=True, slots=True)
class RecordedHolding:
    """Each packet is held as long as in the recording that gives the arrivals."""

    mean: ClassVar[None] = None  # not known before it is read

    def engine(self) -> _engine.RecordedHolding:
        return _engine.RecordedHolding()


HoldingLaw: TypeAlias = (
    ExponentialHolding
    | FixedHolding
    | UniformHolding
    | LognormalHolding
    | FifoService
    | EmpiricalHolding
    | RecordedHolding
)


def _time(table: Table, key: str) -> float:
    return table.number(key, SHORTEST, LONGEST)


def _read_uniform(table: Table, _folder: Path) -> HoldingLaw:
    least, most = _time(table, "least"), _time(table, "most")
    if least > most:
        table.reject("least", f"{least:g} is above most, which is {most:g}")
    return UniformHolding(least, most)


def _read_fifo(table: Table, _folder: Path) -> HoldingLaw:
    keys = ("bytes_per_second", "packets_per_second")
    rates = [table.number(key, 1e-6, 1e15) if table.has(key) else None for key in keys]
    if rates.count(None) != 1:
        table.reject(keys[0], f"give this or {keys[1]}, and not both")
    return FifoService(*rates)


def _read_empirical(table: Table, folder: Path) -> HoldingLaw:
    if table.has("trace"):
        return EmpiricalHolding(*count_holding_times(table.file("trace", folder)))
    times = table.numbers("times", SHORTEST, LONGEST)
    return EmpiricalHolding(times, table.weights("weights", len(times), "time"))


# By their names; a path is relative to the folder.
HOLDING_LAWS: dict[str, Callable[[Table, Path], HoldingLaw]] = {
    "exponential": lambda table, _: ExponentialHolding(_time(table, "mean")),
    "fixed": lambda table, _: FixedHolding(_time(table, "mean")),
    "uniform": _read_uniform,
    "lognormal": lambda table, _: LognormalHolding(
        _time(table, "mean"), table.number("sigma", 0, 10)
    ),
    "fifo": _read_fifo,
    "empirical": _read_empirical,
    "recorded": lambda _table, _: RecordedHolding(),
}
