# SPDX-License-Identifier: Apache-2.0
"""Traffic on a heap: arrivals, sizes and holding times; the `[traffic]` of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.plan.toml_table import FileKind, Table, read_document
from heapfit.simulation.arrivals import ARRIVAL_LAWS, POISSON, ArrivalLaw, RecordedTraffic
from heapfit.simulation.holding import HOLDING_LAWS, RECORDED, UNDRAWN
from heapfit.simulation.law import Law
from heapfit.simulation.sizes import SIZE_LAWS, SizeLaw

_Law = TypeVar("_Law", ArrivalLaw, SizeLaw, Law)
SCENARIO = FileKind("scenario", "docs/evidence/schemas.md")


@dataclass(frozen=True, slots=True)
class Traffic:
    """Traffic by three laws, each with its own random stream."""

    arrivals: ArrivalLaw
    sizes: SizeLaw | None  # None: recorded with the arrivals
    holding: Law

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
    def is_poisson(self) -> bool:
        """True if arrivals do not depend on each other."""
        return isinstance(self.arrivals, Law) and self.arrivals.name == POISSON

    @property
    def offered(self) -> float | None:
        """Erlangs: requests live at once if none were refused; None where it takes more to know."""
        interval = self.arrivals.mean if isinstance(self.arrivals, Law) else None
        return self.holding.mean / interval if self.holding.mean and interval else None

    @property
    def is_drawn(self) -> bool:
        """True if another seed gives other requests."""
        return not self.is_recorded or self.holding.name not in UNDRAWN


def read_traffic(table: Table, folder: Path) -> Traffic:
    """Reads a `[traffic]` table; paths in it are relative to `folder`."""
    arrivals = _read_law(table.table("arrivals"), ARRIVAL_LAWS, "arrival law", folder)
    sizes = None
    if isinstance(arrivals, RecordedTraffic):
        if table.has("sizes"):
            table.reject("sizes", "recorded arrivals bring their sizes (remove it)")
    else:
        sizes = _read_law(table.table("sizes"), SIZE_LAWS, "size law", folder)
    holding = _read_law(table.table("holding"), HOLDING_LAWS, "holding law", folder)
    if holding == RECORDED and not isinstance(arrivals, RecordedTraffic):
        table.reject("holding", "is recorded, but the arrivals are not")
    table.finish()
    return Traffic(arrivals, sizes, holding)


def _read_law(
    table: Table, laws: Mapping[str, Callable[[Table, Path], _Law]], what: str, folder: Path
) -> _Law:
    """The law that a table names, with nothing left unread."""
    law = laws[table.word("law", laws, what)](table, folder)
    table.finish()
    return law


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
