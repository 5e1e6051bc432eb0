# SPDX-License-Identifier: Apache-2.0
"""What each configuration costs: the measures whose front is looked for, the least of each best."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from heapfit import _engine
from heapfit.comparison.costs.code_label import code_label
from heapfit.comparison.costs.code_table import measured_codes
from heapfit.comparison.costs.instruction_model import Off
from heapfit.comparison.row import Row
from heapfit.errors import HeapfitError, meant
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
            raise HeapfitError(f"--by {name}: no such measure ({meant(name, known)})")
    return tuple(measure for measure in Measure if measure.value in names)


@dataclass(frozen=True, slots=True)
class About:
    """A measure in words."""

    title: str
    unit: str
    meaning: str


ABOUT: Final = {
    Measure.RAM: About("R_safe", "B", "the smallest size above every size that failed"),
    Measure.ACCESSES: About(
        "accesses/operation", "", "metadata words loaded and stored by a call, mean"
    ),
    Measure.ENERGY: About(
        "energy",
        "x the best",
        "of these accesses in an SRAM of the region's size, relative to the best row",
    ),
    Measure.TIME: About(
        "instructions", "", "mean of a call on a Cortex-M4 at -O2, modelled from its accesses"
    ),
    Measure.LONGEST: About(
        "longest call", "", "instructions of the longest call of this replay, modelled; no bound"
    ),
    Measure.FLASH: About(
        "code", "B", "of init, alloc and free on a Cortex-M4 at -Os, linked, safety level 1"
    ),
}


_FIELDS: Final = {Measure.RAM: "memory", Measure.FLASH: "size"}  # of Measures; others: as named


@dataclass(frozen=True, slots=True)
class Measures:
    """One configuration's figures; None where there is none."""

    memory: int | None  # bytes
    accesses: float | None  # a call
    energy: float | None  # picojoules a call
    time: float | None  # instructions a call
    longest: float | None  # instructions
    size: int | None  # bytes
    time_off: Off | None = None  # of the model on traces it had not seen
    longest_off: Off | None = None

    def of(self, measure: Measure) -> float | None:
        """One figure."""
        value: float | None = getattr(self, _FIELDS.get(measure, measure.value))
        return value


def measures_of(row: Row, loaded: LoadedTrace, sram: Sram, base_alignment: int) -> Measures:
    """The figures of a compared row; its calls are replayed once more, one by one."""
    code = measured_codes().get(code_label(row.plan))
    size = None if code is None else code.size
    if row.replay is None or row.replay_region is None or row.r_safe is None:
        return Measures(row.r_safe, None, None, None, None, size)
    model = None if code is None else code.model
    costs = _engine.call_costs(
        row.plan.engine(), loaded.events_for(row.plan), row.r_safe, base_alignment
    )
    modelled = None if model is None else model.of(costs)
    operations = max(row.replay.allocations + row.replay.frees + row.replay.resizes, 1)
    energy = sram.energy(row.replay, row.r_safe)
    return Measures(
        memory=row.r_safe,
        accesses=row.accesses_per_operation,
        energy=None if energy is None else energy / operations,
        time=None if modelled is None else modelled.mean,
        longest=None if modelled is None else modelled.longest,
        size=size,
        time_off=None if model is None or modelled is None else model.mean_off,
        longest_off=None if model is None or modelled is None else model.longest_off,
    )
