# SPDX-License-Identifier: Apache-2.0
"""The measures of a candidate's cost; the least of each is best (docs/choosing.md)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from heapfit.comparison.costs.heap_costs import count_calls, estimate_costs
from heapfit.comparison.row import Row
from heapfit.plan.energy import Sram
from heapfit.trace.loaded import LoadedTrace


class Measure(StrEnum):
    """The measures by their names."""

    RAM = "ram"
    ACCESSES = "accesses"
    ENERGY = "energy"
    TIME = "time"
    LONGEST = "longest"
    FLASH = "flash"


# The words for each.
MEASURE_TEXTS: Final = {
    Measure.RAM: "R_safe",
    Measure.ACCESSES: "accesses/operation",
    Measure.ENERGY: "energy",
    Measure.TIME: "instructions",
    Measure.LONGEST: "longest call",
    Measure.FLASH: "code",
}


@dataclass(frozen=True, slots=True)
class Measures:
    """The figures of one configuration, by measures' names; None where one has no figure."""

    ram: int | None  # bytes
    accesses: float | None  # a call
    energy: float | None  # picojoules a call
    time: float | None  # instructions a call
    longest: float | None  # instructions
    flash: int | None  # bytes
    longest_accesses: int | None = None  # of the call that has most

    def figure(self, measure: Measure) -> float | None:
        """The figure of one measure, in the measure's unit; None if there is none."""
        value: float | None = getattr(self, measure.value)
        return value


def measures_of(row: Row, loaded: LoadedTrace, sram: Sram) -> Measures:
    """The figures of a compared row, whose calls are replayed once more, one by one."""
    costs = estimate_costs(row.heap, loaded, row.r_safe)
    if row.replay is None or row.replay_region is None or row.r_safe is None:
        return Measures(row.r_safe, None, None, None, None, costs.flash)
    operations = max(row.replay.allocations + row.replay.frees + row.replay.resizes, 1)
    energy = sram.energy(row.replay, row.r_safe)
    calls = count_calls(row.heap, loaded, row.r_safe)
    return Measures(
        ram=row.r_safe,
        accesses=row.accesses_per_operation,
        energy=None if energy is None else energy / operations,
        time=costs.mean,
        longest=costs.longest,
        flash=costs.flash,
        longest_accesses=int((calls["loads"] + calls["stores"]).max()),
    )
