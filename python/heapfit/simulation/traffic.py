# SPDX-License-Identifier: Apache-2.0
"""Traffic on a heap: arrivals, sizes and holding times; the `[traffic]` of a scenario."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.plan.toml_table import FileKind, Table, read_document
from heapfit.simulation.arrivals import ArrivalLaw, RecordedTraffic, read_arrivals
from heapfit.simulation.holding import (
    FifoService,
    FixedHolding,
    HoldingLaw,
    RecordedHolding,
    read_holding,
)
from heapfit.simulation.sizes import SizeLaw, read_sizes

SCENARIO = FileKind("scenario", "docs/scenario-schema.md")


@dataclass(frozen=True, slots=True)
class Traffic:
    """Traffic by three laws, each with its own random stream."""

    arrivals: ArrivalLaw
    sizes: SizeLaw | None  # None: recorded with the arrivals
    holding: HoldingLaw

    def engine(self) -> _engine.Traffic:
        return _engine.Traffic(
            arrivals=self.arrivals.engine(),
            sizes=None if self.sizes is None else self.sizes.engine(),
            holding=self.holding.engine(),
        )

    @property
    def files(self) -> tuple[Path, ...]:
        """The recordings that the laws are read from."""
        return (self.arrivals.trace,) if isinstance(self.arrivals, RecordedTraffic) else ()

    def with_files(self, *files: Path) -> Traffic:
        """The same traffic, read from these files."""
        return replace(self, arrivals=RecordedTraffic(*files)) if files else self

    @property
    def is_recorded(self) -> bool:
        """True if the arrivals come from a recording, which ends by itself."""
        return isinstance(self.arrivals, RecordedTraffic)

    @property
    def is_drawn(self) -> bool:
        """True if another seed gives other requests."""
        drawn_holding = not isinstance(self.holding, FixedHolding | FifoService | RecordedHolding)
        return not self.is_recorded or drawn_holding


def read_traffic(table: Table, folder: Path) -> Traffic:
    """Reads a `[traffic]` table; paths in it are relative to `folder`."""
    arrivals = read_arrivals(table.table("arrivals"), folder)
    sizes = None
    if isinstance(arrivals, RecordedTraffic):
        if table.has("sizes"):
            table.reject("sizes", "recorded arrivals bring their sizes (remove it)")
    else:
        sizes = read_sizes(table.table("sizes"), folder)
    holding = read_holding(table.table("holding"), folder)
    if isinstance(holding, RecordedHolding) and not isinstance(arrivals, RecordedTraffic):
        table.reject("holding", "is recorded, but the arrivals are not")
    table.finish()
    return Traffic(arrivals, sizes, holding)


def load_traffic(path: Path) -> Traffic:
    """Reads the `[traffic]` of a scenario file; its other tables are ignored."""
    top = Table(path, SCENARIO, "", read_document(path, SCENARIO))
    return read_traffic(top.table("traffic"), path.parent)


def is_traffic(path: Path) -> bool:
    """True if a file is TOML with `[traffic]`; a name that ends in .toml is enough."""
    if path.suffix == ".toml":
        return True
    try:
        return "traffic" in read_document(path, SCENARIO)
    except HeapfitError:
        return False
