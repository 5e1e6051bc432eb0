# SPDX-License-Identifier: Apache-2.0
"""Energy of metadata accesses: their number times what one costs in a memory of the heap's size.

The table behind it is sram.toml, or one of the user's (docs/energy.md). Such a model orders designs
and gives ratios; it does not tell the joules of a product.
"""

from __future__ import annotations

import math
import tomllib
from bisect import bisect_left
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

from heapfit import _engine
from heapfit.errors import HeapfitError

SCHEMA = 1
_LARGEST_FILE = 1 << 20  # bytes


@dataclass(frozen=True, slots=True)
class Sram:
    """What an access costs, by the memory's size; sizes ascend."""

    source: str  # where the figures are from
    sizes: tuple[int, ...]  # bytes
    read_pj: tuple[float, ...]
    write_pj: tuple[float, ...]

    def access(self, size: int) -> tuple[float, float] | None:
        """Picojoules of a read and of a write in a memory of `size` bytes.

        Between two sizes of the table along a power law, below the smallest as the smallest. None
        above the largest: no figure is made up.
        """
        if size > self.sizes[-1]:
            return None
        at = bisect_left(self.sizes, size)
        if at == 0:
            return self.read_pj[0], self.write_pj[0]
        low, high = self.sizes[at - 1], self.sizes[at]
        share = math.log(size / low) / math.log(high / low)
        return _between(self.read_pj, at, share), _between(self.write_pj, at, share)

    def energy(self, replay: _engine.ReplayResult, region_size: int) -> float | None:
        """Picojoules of a replay's metadata accesses in a memory of the region's size."""
        access = self.access(region_size)
        return None if access is None else replay.loads * access[0] + replay.stores * access[1]


def load_sram(path: Path | None = None) -> Sram:
    """The table in a file, or heapfit's own.

    >>> load_sram().access(1024)
    (1.811, 5.259)
    """
    if path is None:
        return _sram_of(
            "sram.toml", (files("heapfit.plan") / "sram.toml").read_text(encoding="utf-8")
        )
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
        if len(content) > _LARGEST_FILE:
            raise HeapfitError(f"{path}: larger than {_LARGEST_FILE:,} bytes, so not a table")
        return _sram_of(str(path), content.decode("utf-8"))
    except OSError as error:
        raise HeapfitError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise HeapfitError(f"{path}: not TOML: {error}") from error


def _between(values: tuple[float, ...], at: int, share: float) -> float:
    return values[at - 1] * math.pow(values[at] / values[at - 1], share)


def _sram_of(name: str, text: str) -> Sram:
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise HeapfitError(f"{name}: not TOML: {error}") from error
    if table.get("schema") != SCHEMA:
        raise HeapfitError(f"{name}: schema: must be {SCHEMA} (docs/energy.md shows a table)")
    source, rows = table.get("source"), table.get("memory")
    if not isinstance(source, str) or not source.strip():
        raise HeapfitError(f"{name}: source: must say where the figures are from")
    if not isinstance(rows, list) or not rows:
        raise HeapfitError(f"{name}: memory: must be a list of sizes (docs/energy.md shows one)")
    read = [_row(name, i, row) for i, row in enumerate(rows)]
    sizes = tuple(int(row[0]) for row in read)
    if any(one >= following for one, following in pairwise(sizes)):
        raise HeapfitError(f"{name}: memory: sizes must ascend")
    return Sram(source, sizes, tuple(row[1] for row in read), tuple(row[2] for row in read))


def _row(name: str, number: int, row: Any) -> tuple[float, float, float]:  # noqa: ANN401 (TOML)
    values = [row.get(key) for key in ("bytes", "read_pj", "write_pj")] if _is_row(row) else []
    are_numbers = all(type(value) in (int, float) for value in values)
    if not values or not are_numbers or not all(0 < value < math.inf for value in values):
        raise HeapfitError(
            f"{name}: memory[{number}]: must be {{ bytes, read_pj, write_pj }}, numbers above 0"
        )
    return values[0], values[1], values[2]


def _is_row(row: object) -> bool:
    return isinstance(row, dict) and set(row) == {"bytes", "read_pj", "write_pj"}
