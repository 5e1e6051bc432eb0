# SPDX-License-Identifier: Apache-2.0
"""Energy of metadata accesses: their number times what one costs in a memory of the heap's size.

The table behind it is sram.toml, or one of the user's (docs/evidence/energy.md). Such a model
orders designs and gives ratios; it does not give the joules of a product.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from heapfit import _engine
from heapfit.plan.toml_table import FileKind, TomlTable, read_document

SCHEMA = 1
_KIND = FileKind("table of energies", "docs/evidence/energy.md")
_OWN = Path(__file__).with_name("sram.toml")
_LONGEST_SOURCE = 1000  # characters
_LARGEST_MEMORY = 2**47  # bytes
_LEAST_PJ = 1e-9


@dataclass(frozen=True, slots=True)
class Sram:
    """The energy of an access by the memory's size; sizes ascend."""

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
        return _interpolate(self.read_pj, at, share), _interpolate(self.write_pj, at, share)

    def energy(self, replay: _engine.ReplayResult, region_size: int) -> float | None:
        """Picojoules of a replay's metadata accesses in a memory of the region's size."""
        access = self.access(region_size)
        return None if access is None else replay.loads * access[0] + replay.stores * access[1]


def load_sram(path: Path | None = None) -> Sram:
    """The table in a file, or heapfit's own.

    >>> load_sram().access(1024)
    (1.811, 5.259)
    """
    path = path or _OWN
    top = TomlTable(path, _KIND, "", read_document(path, _KIND))
    top.require_version(SCHEMA)
    source = top.text("source", _LONGEST_SOURCE)
    rows = [_row(table) for table in top.tables("memory")]
    if not rows or any(one[0] >= following[0] for one, following in pairwise(rows)):
        top.reject("memory", "must be a list of one size or more, ascending")
    top.finish()
    sizes, reads, writes = zip(*rows, strict=True)
    return Sram(source, sizes, reads, writes)


def _interpolate(values: tuple[float, ...], at: int, share: float) -> float:
    return values[at - 1] * math.pow(values[at] / values[at - 1], share)


def _row(table: TomlTable) -> tuple[int, float, float]:
    size = table.whole("bytes", 1, _LARGEST_MEMORY)
    read, write = (table.number(key, _LEAST_PJ, 1 / _LEAST_PJ) for key in ("read_pj", "write_pj"))
    table.finish()
    return size, read, write
