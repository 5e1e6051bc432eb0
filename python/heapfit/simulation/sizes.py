# SPDX-License-Identifier: Apache-2.0
"""The laws of request sizes, in bytes: each with its exact distribution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.plan.toml_table import TomlTable
from heapfit.simulation.law import read_bounds
from heapfit.simulation.recording import count_sizes

Distribution: TypeAlias = tuple[NDArray[np.uint64], NDArray[np.float64]]

LARGEST = 2**31  # bytes; no allocator serves more
_MOST_SIZES = 1 << 22  # different ones that are counted separately


@dataclass(frozen=True, slots=True)
class _Range:
    """Sizes between two bounds, by the engine's law of the class's name."""

    least: int
    most: int

    def engine(self) -> Any:  # noqa: ANN401 (the class of that name)
        return getattr(_engine, type(self).__name__)(least=self.least, most=self.most)


@dataclass(frozen=True, slots=True)
class UniformSize(_Range):
    """Sizes uniform over every whole number of bytes between two bounds."""

    def distribution(self) -> Distribution:
        """The share of each size."""
        sizes = np.arange(self.least, self.most + 1, dtype=np.uint64)
        return sizes, np.full(len(sizes), 1 / len(sizes))


@dataclass(frozen=True, slots=True)
class ExponentialSize(_Range):
    """most / e^r, rounded down, r uniform from 0 to ln(most / least): Cebeci 2019."""

    def distribution(self) -> Distribution:
        """The share of each size: ln((n + 1) / n) over the whole range, the largest never."""
        sizes = np.arange(self.least, self.most + 1, dtype=np.uint64)
        if self.least == self.most:
            return sizes, np.ones(1)
        logs = np.log(np.append(sizes, self.most).astype(float))
        return sizes, np.diff(logs) / (logs[-1] - logs[0])


@dataclass(frozen=True, slots=True)
class BimodalSize:
    """Acknowledgements and full packets, in percent; the rest is uniform between them."""

    ack_size: int
    ack_percent: int
    mtu_size: int
    mtu_percent: int

    def engine(self) -> _engine.BimodalSize:
        return _engine.BimodalSize(
            ack_size=self.ack_size,
            ack_percent=self.ack_percent,
            mtu_size=self.mtu_size,
            mtu_percent=self.mtu_percent,
        )

    @property
    def most(self) -> int:
        """The largest size."""
        return self.mtu_size

    def distribution(self) -> Distribution:
        """The share of each size."""
        sizes = np.arange(self.ack_size, self.mtu_size + 1, dtype=np.uint64)
        shares = np.zeros(len(sizes))
        shares[0] = self.ack_percent / 100
        shares[-1] += self.mtu_percent / 100
        rest = 1 - shares.sum()
        shares[1:-1] = rest / (len(sizes) - 2) if rest else 0.0
        return sizes, shares


@dataclass(frozen=True, slots=True)
class EmpiricalSize:
    """Sizes drawn independently by their weights."""

    sizes: tuple[int, ...]
    weights: tuple[float, ...]

    def engine(self) -> _engine.EmpiricalSize:
        return _engine.EmpiricalSize(
            size=np.array(self.sizes, np.uint64), weight=np.array(self.weights, float)
        )

    @property
    def most(self) -> int:
        """The largest size that is ever drawn."""
        return max(s for s, w in zip(self.sizes, self.weights, strict=True) if w > 0)

    def distribution(self) -> Distribution:
        """The share of each size."""
        sizes, places = np.unique(np.array(self.sizes, np.uint64), return_inverse=True)
        weights = np.bincount(places, np.array(self.weights, float))
        return sizes, weights / weights.sum()


@dataclass(frozen=True, slots=True)
class ListedSizes:
    """The sizes of a list in turn, repeated."""

    sizes: tuple[int, ...]

    def engine(self) -> _engine.ListedSizes:
        return _engine.ListedSizes(size=np.array(self.sizes, np.uint64))

    @property
    def most(self) -> int:
        """The largest size."""
        return max(self.sizes)


DrawnSizes: TypeAlias = UniformSize | ExponentialSize | BimodalSize | EmpiricalSize
SizeLaw: TypeAlias = DrawnSizes | ListedSizes


def is_listable(sizes: SizeLaw | None) -> TypeGuard[DrawnSizes]:
    """True if the share of each size can be listed."""
    least = getattr(sizes, "least", getattr(sizes, "ack_size", getattr(sizes, "most", 0)))
    return isinstance(sizes, DrawnSizes) and sizes.most - int(least) <= _MOST_SIZES


def _read_size(table: TomlTable, key: str) -> int:
    return table.whole(key, 1, LARGEST)


def _read_bimodal(table: TomlTable, _folder: Path) -> SizeLaw:
    ack_size, mtu_size = _read_size(table, "ack_size"), _read_size(table, "mtu_size")
    ack_percent, mtu_percent = (table.whole(f"{one}_percent", 0, 100) for one in ("ack", "mtu"))
    if ack_percent + mtu_percent > 100:
        table.reject("mtu_percent", f"{ack_percent} + {mtu_percent} are above 100")
    if mtu_size < ack_size + 2:
        table.reject("mtu_size", f"must be at least {ack_size + 2}, ack_size and 2 more")
    return BimodalSize(ack_size, ack_percent, mtu_size, mtu_percent)


def _read_empirical(table: TomlTable, folder: Path) -> SizeLaw:
    if table.has("trace"):
        return EmpiricalSize(*count_sizes(table.file("trace", folder)))
    sizes = table.wholes("sizes", 1, LARGEST)
    return EmpiricalSize(sizes, table.weights("weights", len(sizes), "size"))


def _read_listed(table: TomlTable, _folder: Path) -> SizeLaw:
    """The sizes in turn; one size alone is uniform, so that it has its closed form."""
    sizes = table.wholes("sizes", 1, LARGEST)
    return ListedSizes(sizes) if len(set(sizes)) > 1 else UniformSize(sizes[0], sizes[0])


# By their names; a path is relative to the folder.
SIZE_LAWS: dict[str, Callable[[TomlTable, Path], SizeLaw]] = {
    "uniform": lambda table, _: UniformSize(*read_bounds(table, _read_size)),
    "exponential": lambda table, _: ExponentialSize(*read_bounds(table, _read_size)),
    "bimodal": _read_bimodal,
    "empirical": _read_empirical,
    "listed": _read_listed,
}
