# SPDX-License-Identifier: Apache-2.0
"""The Pareto front of compared plans, the choice of one, and what the choice costs elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pyarrow as pa

from heapfit import _engine
from heapfit.comparison.candidate import Candidate, Portfolio
from heapfit.comparison.comparison import Comparison, reject_empty_portfolio
from heapfit.comparison.costs.code_table import code_label
from heapfit.comparison.costs.measures import MEASURE_TEXTS, Measure, Measures, measures_of
from heapfit.comparison.jobs import PreparedTrace, measure_rows, prepare_trace
from heapfit.comparison.margin import HeapSize
from heapfit.comparison.measuring import STANDARD_PRECISION, WITHOUT_EVERY_SIZE, Precision
from heapfit.comparison.row import Row, rank_rows
from heapfit.comparison.verdict import select_row
from heapfit.design.front.axes import design_axes
from heapfit.design.front.offers import Offer, is_near
from heapfit.design.front.pareto import Dominance, Rank, rank_points
from heapfit.design.front.pruning import Rivals
from heapfit.design.plan_files import plan_file_of
from heapfit.plan.energy import Sram, load_sram
from heapfit.plan.plan_file import TrainingRecord, save_plan
from heapfit.plan.quantities import format_share
from heapfit.progress import Progress, ignore_progress
from heapfit.sweep import Sweep
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.tabular import Tabular, arrow_table

ALL_MEASURES: Final = tuple(Measure)


@dataclass(frozen=True, slots=True)
class Configuration:
    """A point of the design space."""

    row: Row
    axes: dict[str, str]  # axes.AXES
    code: str  # code_label (code_table.py)
    measures: Measures
    place: Rank

    @property
    def name(self) -> str:
        """The configuration's name in the table."""
        return self.row.name

    @property
    def is_on_front(self) -> bool:
        """True if no other is as good in everything and better in something."""
        return self.place.standing is Dominance.FRONT


@dataclass(frozen=True, slots=True, repr=False)
class Front(Tabular):
    """A trace's configurations, in the order of the comparison."""

    comparison: Comparison
    by: tuple[Measure, ...]  # what the front minimises
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
        """The configurations on the front, the least memory first."""
        return tuple(one for one in self.configurations if one.is_on_front)

    def least(self, measure: Measure) -> float | None:
        """The least value of a measure among all configurations; None if none is known."""
        known = [one.measures.figure(measure) for one in self.configurations]
        return min((value for value in known if value is not None), default=None)

    def energy_over_least(self, configuration: Configuration) -> float | None:
        """A configuration's energy over the least; energies have no other unit (docs/energy.md)."""
        least = self.least(Measure.ENERGY)
        energy = configuration.measures.energy
        return energy / least if energy is not None and least else None


def compare_all(
    loaded: LoadedTrace,
    portfolio: Portfolio,
    precision: Precision = STANDARD_PRECISION,
    sweep: Sweep | None = None,
    progress: Progress = ignore_progress,
) -> Comparison:
    """Compares every configuration on the trace; by default in this process.

    What is searched further is pruned where another is better in everything, unless every
    size is to be tried: then its row has `r_safe_at_least`, and no R_safe.
    """
    if not portfolio.candidates:
        reject_empty_portfolio(portfolio.not_applicable)
    prepared = prepare_trace("the trace", loaded.trace, loaded, portfolio)
    sweep = sweep or Sweep(workers=1)
    first, others = _split_by_need(loaded, portfolio.candidates, precision)
    some = replace(portfolio, candidates=tuple(portfolio.candidates[i] for i in first))
    usual = WITHOUT_EVERY_SIZE if others else precision
    (rows,) = measure_rows([replace(prepared, portfolio=some)], usual, sweep, progress)
    known = dict(zip(first, rows, strict=True))
    if others:
        known |= _prune(loaded, prepared, rows, others)
        (rows,) = measure_rows([prepared], precision, sweep, progress, [known])
    return prepared.comparison(rows)


def _split_by_need(
    loaded: LoadedTrace, candidates: Sequence[Candidate], precision: Precision
) -> tuple[list[int], list[int]]:
    """The indices of the candidates to search first, and of those that may be pruned.

    All are searched where none would be named by a verdict.
    """
    every = range(len(candidates))
    usual = {i for i in every if not candidates[i].is_searched_further}
    if precision.every_size or not usual:
        return list(every), []
    first = [i for i in every if i in usual or _shows_reach(candidates[i], loaded)]
    return first, sorted(set(every) - set(first))


def _shows_reach(candidate: Candidate, loaded: LoadedTrace) -> bool:
    return _engine.Trial(candidate.plan.engine(), loaded.events).tells_reach


def _prune(
    loaded: LoadedTrace, prepared: PreparedTrace, rows: Sequence[Row], others: Sequence[int]
) -> dict[int, Row]:
    """The rows of the candidates that need no search, by their indices."""
    named = rank_rows(
        [row for row in rows if not row.is_searched_further and not row.is_cut_to_trace]
    )
    least = max((row.r_safe or 0 for row in named[:1]), default=0)
    rivals = Rivals(loaded, prepared.ground, rows, least)
    found = ((i, rivals.prune(prepared.portfolio.candidates[i])) for i in others)
    return {i: row for i, row in found if row is not None}


def front_of(
    comparison: Comparison,
    loaded: LoadedTrace,
    by: Sequence[Measure] = ALL_MEASURES,
    sram: Sram | None = None,
    progress: Progress = ignore_progress,
) -> Front:
    """The Pareto front of a comparison's rows, by the measures `by`."""
    step, table = "measure calls", sram or load_sram()
    costs = []
    for done, row in enumerate(comparison.rows):
        progress(step, done / len(comparison.rows))
        costs.append(measures_of(row, loaded, table))
    progress(step, 1.0)
    standings = rank_points([[cost.figure(measure) for measure in by] for cost in costs])
    numbers = {row.name: number for number, row in enumerate(comparison.rows)}
    standings = [
        rank if row.beaten_by is None else Rank(Dominance.DOMINATED, numbers[row.beaten_by])
        for rank, row in zip(standings, comparison.rows, strict=True)
    ]
    measured = zip(comparison.rows, costs, standings, strict=True)
    configurations = tuple(
        Configuration(row, design_axes(row.plan), code_label(row.plan), measures, standing)
        for row, measures, standing in measured
    )
    return Front(comparison, tuple(by), configurations)


def list_offers(
    front: Front, sizes: Mapping[str, HeapSize | None], may_count: bool = True
) -> list[Offer]:
    """The configurations that have a size, with their costs.

    `may_count`: also those whose blocks were counted on the trace may be advised.
    """
    offers = []
    for one in front.configurations:
        size, row = sizes.get(one.name), one.row
        if size is not None:
            is_lasting = not row.known.is_trace_specific and (may_count or not row.is_cut_to_trace)
            offers.append(Offer(one.name, size.region, one.measures, is_lasting))
    return offers


def verdict_of(front: Front) -> Configuration:
    """The configuration that the verdict names."""
    row = select_row(front.comparison)
    return next(one for one in front.configurations if one.row is row)


def cost_of_choice(front: Front, choice: Configuration) -> str:
    """How far the choice lies above the least on the front, measure by measure, in words."""
    more = []
    for measure in ALL_MEASURES:
        known = [member.measures.figure(measure) for member in front.members]
        least = min((value for value in known if value is not None), default=None)
        value = choice.measures.figure(measure)
        if value is not None and least and not is_near(value, least):
            more.append(f"{MEASURE_TEXTS[measure].title} +{format_share(value / least - 1)}")
    if not more:
        return "the least in every measure"
    return f"above the least: {', '.join(more)}"


def with_choice_first(comparison: Comparison, choice: Row) -> Comparison:
    """The comparison with the chosen row as its winner."""
    others = [row for row in comparison.rows if row is not choice]
    return replace(comparison, rows=(choice, *others))


def save_front(front: Front, folder: Path, trained_on: TrainingRecord) -> list[Path]:
    """Writes a plan file for each member of the front; returns their paths."""
    paths = []
    for member in front.members:
        plan_file = plan_file_of(member.row, front.comparison, trained_on)
        paths.append(folder / f"{plan_file.name}.toml")
        save_plan(paths[-1], plan_file)
    return paths
