# SPDX-License-Identifier: Apache-2.0
"""The laws of holding times, in seconds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from heapfit.plan.toml_table import TomlTable
from heapfit.simulation.law import LONGEST, SHORTEST, Law, nanoseconds, read_bounds, read_seconds
from heapfit.simulation.recording import count_holding_times

RECORDED = Law("RecordedHolding", {})  # as long as in the recording that gives the arrivals
UNDRAWN = ("FixedHolding", "FifoService", RECORDED.name)  # another seed gives the same times


def exponential(mean: float) -> Law:
    """Holding times with an exponential distribution of this mean, in seconds."""
    return Law("ExponentialHolding", {"mean_ns": nanoseconds(mean)}, mean)


def constant(mean: float) -> Law:
    """A constant holding time in seconds."""
    return Law("FixedHolding", {"ns": nanoseconds(mean)}, mean)


def uniform(least: float, most: float) -> Law:
    """Holding times uniform between two bounds, in seconds."""
    return Law(
        "UniformHolding",
        {"least_ns": nanoseconds(least), "most_ns": nanoseconds(most)},
        (least + most) / 2,
    )


def lognormal(mean: float, sigma: float) -> Law:
    """Holding times whose logarithm is normal with this standard deviation."""
    return Law("LognormalHolding", {"mean_ns": nanoseconds(mean), "sigma": sigma}, mean)


def fifo(unit: str, rate: float) -> Law:
    """Held until a server of so many bytes or packets a second has sent all before, and this."""
    return Law("FifoService", {f"{unit}_per_second": rate})


def empirical(times: Sequence[float], weights: Sequence[float]) -> Law:
    """Holding times drawn independently by their weights, in seconds."""
    return Law(
        "EmpiricalHolding",
        {"ns": np.array([*map(nanoseconds, times)], np.uint64), "weight": np.array(weights, float)},
        math.fsum(t * w for t, w in zip(times, weights, strict=True)) / math.fsum(weights),
    )


def _read_fifo(table: TomlTable, _folder: Path) -> Law:
    units = [one for one in ("bytes", "packets") if table.has(f"{one}_per_second")]
    if len(units) != 1:
        table.reject("bytes_per_second", "give this or packets_per_second, and not both")
    return fifo(units[0], table.number(f"{units[0]}_per_second", 1e-6, 1e15))


def _read_empirical(table: TomlTable, folder: Path) -> Law:
    if table.has("trace"):
        return empirical(*count_holding_times(table.file("trace", folder)))
    times = table.numbers("times", SHORTEST, LONGEST)
    return empirical(times, table.weights("weights", len(times), "time"))


# By their names; a path is relative to the folder.
HOLDING_LAWS: dict[str, Callable[[TomlTable, Path], Law]] = {
    "exponential": lambda table, _: exponential(read_seconds(table, "mean")),
    "fixed": lambda table, _: constant(read_seconds(table, "mean")),
    "uniform": lambda table, _: uniform(*read_bounds(table, read_seconds)),
    "lognormal": lambda table, _: lognormal(
        read_seconds(table, "mean"), table.number("sigma", 0, 10)
    ),
    "fifo": _read_fifo,
    "empirical": _read_empirical,
    "recorded": lambda _table, _: RECORDED,
}
