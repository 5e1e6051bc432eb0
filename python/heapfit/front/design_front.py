# SPDX-License-Identifier: Apache-2.0
"""The front of compared plans, the choice of one from it, and what the choice costs elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pyarrow as pa

from heapfit.compare.candidate import Portfolio
from heapfit.compare.comparison import STANDARD_EFFORT, Comparison, Row, refuse_nothing
from heapfit.compare.jobs import measured_rows, prepared_of
from heapfit.compare.verdict import chosen_row
from heapfit.design.plan_files import plan_file_of
from heapfit.errors import HeapfitError
from heapfit.front.axes import place
from heapfit.front.code_label import code_label
from heapfit.front.measures import ABOUT, Measure, Measures, measures_of
from heapfit.front.pareto import Place, Standing, places
from heapfit.front.preference import Preference
from heapfit.plan.energy import Sram, load_sram
from heapfit.plan.plan_file import TrainedOn, save_plan
from heapfit.progress import Progress, no_progress
from heapfit.sweep import Sweep
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.tabular import Tabular, arrow_table

NEAR: Final = 0.01  # of the least: what is this close counts as equal, and memory decides
ALL_MEASURES: Final = tuple(Measure)


@dataclass(frozen=True, slots=True)
class Configuration:
    """A point of the design space."""

    row: Row
    axes: dict[str, str]  # axes.AXES
    code: str  # code_label.py
    measures: Measures
    place: Place

    @property
    def name(self) -> str:
        """As in the table."""
        return self.row.name

    @property
    def is_on_front(self) -> bool:
        """Whether no other is as good in everything and better in something."""
        return self.place.standing is Standing.FRONT


@dataclass(frozen=True, slots=True, repr=False)
class Front(Tabular):
    """A trace's configurations, in the order of the comparison."""

    comparison: Comparison
    by: tuple[Measure, ...]  # what the front is of
    configurations: tuple[Configuration, ...]

    def __str__(self) -> str:
        return f"front: {len(self.members)} of {len(self.configurations)} configurations"

    def to_arrow(self) -> pa.Table:
        """A row for each configuration with its measures; energy is over the least."""
        return arrow_table(
            self.configurations,
            {
                "name": lambda point: point.name,
                "is_on_front": lambda point: point.is_on_front,
                "memory": lambda point: point.measures.memory,
                "accesses": lambda point: point.measures.accesses,
                "energy": self.energy_over_least,
                "time": lambda point: point.measures.time,
                "longest": lambda point: point.measures.longest,
                "size": lambda point: point.measures.size,
            },
        )

    @property
    def members(self) -> tuple[Configuration, ...]:
        """Those of the front, the least memory first."""
        return tuple(one for one in self.configurations if one.is_on_front)

    def least(self, measure: Measure) -> float | None:
        """Of all configurations."""
        known = [one.measures.of(measure) for one in self.configurations]
        return min((value for value in known if value is not None), default=None)

    def energy_over_least(self, configuration: Configuration) -> float | None:
        """The only way in which energies are told: docs/energy.md."""
        least = self.least(Measure.ENERGY)
        energy = configuration.measures.energy
        return energy / least if energy is not None and least else None


def compare_all(
    loaded: LoadedTrace,
    portfolio: Portfolio,
    sweep: Sweep | None = None,
    progress: Progress = no_progress,
) -> Comparison:
    """Compares every configuration on the trace; by default in this process."""
    if not portfolio.candidates:
        refuse_nothing(portfolio.not_applicable)
    prepared = prepared_of("the trace", loaded.trace, loaded, portfolio)
    (rows,) = measured_rows([prepared], STANDARD_EFFORT, sweep or Sweep(workers=1), progress)
    return prepared.compared(rows)


def front_of(
    comparison: Comparison,
    loaded: LoadedTrace,
    by: Sequence[Measure] = ALL_MEASURES,
    sram: Sram | None = None,
    progress: Progress = no_progress,
) -> Front:
    """The front of what was compared already."""
    step, table = "measure calls", sram or load_sram()
    costs = []
    for done, row in enumerate(comparison.rows):
        progress(step, done / len(comparison.rows))
        costs.append(measures_of(row, loaded, table, comparison.base_alignment))
    progress(step, 1.0)
    standings = places([[one.of(measure) for measure in by] for one in costs])
    measured = zip(comparison.rows, costs, standings, strict=True)
    configurations = tuple(
        Configuration(row, place(row.plan), code_label(row.plan), measures, standing)
        for row, measures, standing in measured
    )
    return Front(comparison, tuple(by), configurations)


def chosen(front: Front, preference: Preference, may_count: bool = True) -> Configuration:
    """The member with the least of what is preferred; of all within 1 % of it the least memory.

    `may_count`: also one whose blocks were counted on the trace, whose figures are of this run
    alone; else of the configurations that hold on another run, the front's own or not.
    """
    measure = Measure(preference.value)
    members = front.members
    if not may_count:
        members = tuple(one for one in front.configurations if not one.row.is_cut_to_trace)
    known = [(value, one) for one in members if (value := one.measures.of(measure)) is not None]
    if not known:
        raise HeapfitError(
            f"--prefer {preference}: no candidate has a figure for it "
            "(scripts/measure_calls.py measures allocators that ship)"
        )
    least = min(value for value, _ in known)
    near = [pair for pair in known if _is_near(pair[0], least)]
    return min(near, key=lambda pair: (pair[1].measures.memory or 0, pair[0], pair[1].name))[1]


def preferred(front: Front, preference: Preference) -> Configuration:
    """What to take: for least memory the verdict's plan, as `fit` does; else a member."""
    if preference is Preference.MEMORY:
        return verdict_of(front)
    return chosen(front, preference)


def verdict_of(front: Front) -> Configuration:
    """The configuration that the verdict names."""
    row = chosen_row(front.comparison)
    return next(one for one in front.configurations if one.row is row)


def _is_near(value: float, least: float) -> bool:
    return value <= least * (1 + NEAR)


def cost_of_choice(front: Front, choice: Configuration) -> str:
    """What the choice has more of than the least on the front, measure by measure."""
    more = []
    for measure in ALL_MEASURES:
        known = [one.measures.of(measure) for one in front.members]
        least = min((value for value in known if value is not None), default=None)
        value = choice.measures.of(measure)
        if value is not None and least and not _is_near(value, least):
            more.append(f"{ABOUT[measure].title} {value / least - 1:+.0%}")
    if not more:
        return "the least of everything"
    return f"over the least of each: {', '.join(more)}"


def with_choice_first(comparison: Comparison, choice: Configuration) -> Comparison:
    """The comparison with the chosen row as its winner."""
    others = [row for row in comparison.rows if row.name != choice.name]
    return replace(comparison, rows=(choice.row, *others))


def save_front(front: Front, folder: Path, trained_on: TrainedOn) -> list[Path]:
    """A plan file for each member."""
    paths = []
    for one in front.members:
        name = file_name(one.name)
        plan_file = plan_file_of(replace(one.row, name=name), front.comparison, trained_on)
        paths.append(folder / f"{name}.toml")
        save_plan(paths[-1], plan_file)
    return paths


def file_name(name: str) -> str:
    """A configuration's name as plan files may be named.

    >>> file_name("tlsf:second_level=5:probes=0")
    'tlsf-second_level-5-probes-0'
    """
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)[:64]
