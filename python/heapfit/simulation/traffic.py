# SPDX-License-Identifier: Apache-2.0
"""Traffic on a heap: arrivals, sizes and holding times; the `[traffic]` of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers.formats import PACKETS, find_format
from heapfit.plan.toml_table import FileKind, TomlTable, read_document
from heapfit.simulation.arrivals import ARRIVAL_LAWS, POISSON, ArrivalLaw, RecordedTraffic
from heapfit.simulation.holding import HOLDING_LAWS, RECORDED, UNDRAWN
from heapfit.simulation.law import Law
from heapfit.simulation.sizes import SIZE_LAWS, SizeLaw, is_listable

_Law = TypeVar("_Law", ArrivalLaw, SizeLaw, Law)
SCENARIO = FileKind("scenario", "docs/evidence/schemas.md")


@dataclass(frozen=True, slots=True)
class OfferedLoad:
    """The requests of a traffic by their sizes, those that occur in ascending order."""

    sizes: NDArray[np.uint64]
    shares: NDArray[np.float64]  # of all requests
    erlangs: NDArray[np.float64]  # of them live at once on average if none were refused


@dataclass(frozen=True, slots=True)
class Traffic:
    """Traffic by three laws, each with its own random numbers."""

    arrivals: ArrivalLaw
    sizes: SizeLaw | None  # None: recorded with the arrivals
    holding: Law
    beside: tuple[Traffic, ...] = ()  # further streams that arrive at the same heap

    def engine(self) -> _engine.Traffic:
        return _engine.Traffic(
            arrivals=self.arrivals.engine(),
            sizes=None if self.sizes is None else self.sizes.engine(),
            holding=self.holding.engine(),
            beside=[one.engine() for one in self.beside],
        )

    @property
    def streams(self) -> tuple[Traffic, ...]:
        """The stream and those beside it."""
        return (self, *self.beside)

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
        laws = [one.arrivals for one in self.streams]
        return all(isinstance(one, Law) and one.name == POISSON for one in laws)

    @property
    def largest(self) -> int | None:
        """The largest request in bytes; None where it is recorded."""
        return max((one.sizes.most for one in self.streams if one.sizes), default=None)

    def load(self) -> OfferedLoad | None:
        """The load by the means of the laws; None where these do not tell it."""
        parts: list[tuple[NDArray[Any], ...]] = []
        for one in self.streams:
            interval = one.arrivals.mean if isinstance(one.arrivals, Law) else None
            if interval is None or one.holding.mean is None or not is_listable(one.sizes):
                return None
            values, shares = one.sizes.distribution()
            parts.append((values, shares / interval, shares * one.holding.mean / interval))
        values, rates, erlangs = (np.concatenate(part) for part in zip(*parts, strict=True))
        occurs = rates > 0
        sizes, places = np.unique(values[occurs], return_inverse=True)
        sums = (
            np.bincount(places, part[occurs]).astype(float)
            for part in (rates / rates.sum(), erlangs)
        )
        return OfferedLoad(sizes, *sums)

    @property
    def is_drawn(self) -> bool:
        """True if another seed gives other requests."""
        return not self.is_recorded or self.holding.name not in UNDRAWN


def read_traffic(table: TomlTable, folder: Path) -> Traffic:
    """Reads a `[traffic]` table of one stream or of several; paths are relative to `folder`."""
    if not table.has("streams"):
        return _read_stream(table, folder)
    named = table.table("streams")
    streams = [*map(partial(_read_stream, folder=folder), map(named.table, named.keys()))]
    if not streams or any(one.is_recorded for one in streams):
        table.reject("streams", "needs at least one stream, and none may be recorded")
    table.finish()
    return replace(streams[0], beside=tuple(streams[1:]))


def _read_stream(table: TomlTable, folder: Path) -> Traffic:
    """The three laws of a table."""
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
    form = find_format(arrivals.trace) if isinstance(arrivals, RecordedTraffic) else None
    if holding == RECORDED and form is not None and form.name == PACKETS:
        table.reject(
            "holding",
            "is recorded, but a capture shows no frees: give a law, or `heapfit import` it with "
            "--queue fifo:PACKETS_PER_S or link:BITS_PER_S first",
        )
    table.finish()
    return Traffic(arrivals, sizes, holding)


def _read_law(
    table: TomlTable, laws: Mapping[str, Callable[[TomlTable, Path], _Law]], what: str, folder: Path
) -> _Law:
    """The law that a table names, with nothing left unread."""
    law = laws[table.word("law", laws, what)](table, folder)
    table.finish()
    return law


def load_traffic(path: Path) -> Traffic:
    """Reads the `[traffic]` of a scenario file; its other tables are ignored."""
    top = TomlTable(path, SCENARIO, "", read_document(path, SCENARIO))
    return read_traffic(top.table("traffic"), path.parent)


def is_traffic(path: Path) -> bool:
    """True if a file is TOML with `[traffic]`; a name that ends in .toml is enough."""
    if path.suffix == ".toml":
        return True
    try:
        return "traffic" in read_document(path, SCENARIO)
    except HeapfitError:
        return False
