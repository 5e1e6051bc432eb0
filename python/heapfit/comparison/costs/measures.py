# SPDX-License-Identifier: Apache-2.0
"""The measures of a configuration's cost; the least of each is best, and fronts are over them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from heapfit.comparison.costs.heap_costs import estimate_costs
from heapfit.comparison.costs.instruction_model import ModelError
from heapfit.comparison.row import Row
from heapfit.errors import HeapfitError, did_you_mean
from heapfit.plan.energy import Sram
from heapfit.trace.loaded import LoadedTrace


class Measure(StrEnum):
    """The measures, by the names that a user types."""

    RAM = "ram"
    ACCESSES = "accesses"
    ENERGY = "energy"
    TIME = "time"
    LONGEST = "longest"
    FLASH = "flash"


def parse_measures(text: str) -> tuple[Measure, ...]:
    """Measures named with commas between them.

    >>> [measure.name for measure in parse_measures("ram,time")]
    ['RAM', 'TIME']
    """
    names = [name.strip() for name in text.split(",")]
    known = [measure.value for measure in Measure]
    for name in names:
        if name not in known:
            raise HeapfitError(f"--by {name}: no such measure ({did_you_mean(name, known)})")
    return tuple(measure for measure in Measure if measure.value in names)


@dataclass(frozen=True, slots=True)
class MeasureText:
    """The words that describe a measure."""

    title: str
    unit: str
    meaning: str


MEASURE_TEXTS: Final = {
    Measure.RAM: MeasureText("R_safe", "B", "the smallest size above every size that failed"),
    Measure.ACCESSES: MeasureText(
        "accesses/operation", "", "metadata words loaded and stored by a call, mean"
    ),
    Measure.ENERGY: MeasureText(
        "energy",
        "x the best",
        "of these accesses in an SRAM of the region's size, relative to the best row",
    ),
    Measure.TIME: MeasureText(
        "instructions",
        "",
        "mean of a call as it ships, on a Cortex-M4 at -Os, modelled from its accesses",
    ),
    Measure.LONGEST: MeasureText(
        "longest call", "", "instructions of the longest call of this replay, modelled; no bound"
    ),
    Measure.FLASH: MeasureText(
        "code", "B", "of the folder that fit writes: all functions, linked at -Os for a Cortex-M4"
    ),
}


_FIELDS: Final = {Measure.RAM: "memory", Measure.FLASH: "size"}  # of Measures; others: as named


@dataclass(frozen=True, slots=True)
class Measures:
    """The figures of one configuration; None where a measure has no figure."""

    memory: int | None  # bytes
    accesses: float | None  # a call
    energy: float | None  # picojoules a call
    time: float | None  # instructions a call
    longest: float | None  # instructions
    size: int | None  # bytes
    time_off: ModelError | None = None  # of the model on traces it had not seen
    longest_off: ModelError | None = None

    def figure(self, measure: Measure) -> float | None:
        """The figure of one measure, in the measure's unit; None if there is none."""
        value: float | None = getattr(self, _FIELDS.get(measure, measure.value))
        return value


def measures_of(row: Row, loaded: LoadedTrace, sram: Sram) -> Measures:
    """The figures of a compared row, whose calls are replayed once more, one by one."""
    costs = estimate_costs(row.heap, loaded, row.r_safe)
    if row.replay is None or row.replay_region is None or row.r_safe is None:
        return Measures(row.r_safe, None, None, None, None, costs.flash)
    operations = max(row.replay.allocations + row.replay.frees + row.replay.resizes, 1)
    energy = sram.energy(row.replay, row.r_safe)
    return Measures(
        memory=row.r_safe,
        accesses=row.accesses_per_operation,
        energy=None if energy is None else energy / operations,
        time=costs.mean,
        longest=costs.longest,
        size=costs.flash,
        time_off=costs.mean_off,
        longest_off=costs.longest_off,
    )
