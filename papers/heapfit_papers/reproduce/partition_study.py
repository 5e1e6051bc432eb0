# SPDX-License-Identifier: Apache-2.0
"""Elsayed and Galal's experiments: the scenarios in examples/partitions, simulated.

The small form has as many points and half as many requests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.simulation.scenario import RunSettings, Scenario, load_scenario
from heapfit.simulation.simulate import Result, simulate
from heapfit_papers.reproduce.laboratory import Laboratory

SHORT = RunSettings(requests=100_000, warm_up=20_000, replications=5, confidence=0.99)
FIGURES = ("figure-5", "figure-6", "figure-7", "figure-8-same-total", "figure-8-same-number")
FIXED, TOGETHER, CHAINED = "fixed", "contiguous", "chained"
ADMISSION, MEMORY = "bandwidth_admission", "memory_utilisation"


@dataclass(frozen=True, slots=True)
class Curve:
    """One metric of one scheme along the axis."""

    means: tuple[float, ...]
    half_widths: tuple[float, ...]  # of their intervals
    exact: tuple[float, ...]  # by the closed form; empty where there is none


@dataclass(frozen=True, slots=True)
class Curves:
    """What a figure of the article shows."""

    axis: tuple[float, ...]
    drawn: Mapping[str, Mapping[str, Curve]]  # by scheme and metric

    def values(self, scheme: str, metric: str = ADMISSION) -> list[float]:
        """Simulated means along the axis."""
        return list(self.drawn[scheme][metric].means)


@dataclass(frozen=True, slots=True)
class Experiment:
    """One figure: every scheme along its axis."""

    scenario: Scenario
    results: Mapping[str, Sequence[Result]]  # by scheme

    @property
    def axis(self) -> list[float]:
        """The values along the first of the grid's keys."""
        key = self.scenario.axes[0].key
        return [float(point.values[key]) for point in self.scenario.points]

    def values(self, scheme: str, metric: str = ADMISSION) -> list[float]:
        """Simulated means along the axis."""
        return [one.estimates[metric].mean for one in self.results[scheme]]

    def curves(self) -> Curves:
        """What is drawn of it."""
        drawn = {
            scheme: {metric: _curve(some, metric) for metric in (ADMISSION, MEMORY)}
            for scheme, some in self.results.items()
        }
        return Curves(tuple(self.axis), drawn)

    def all_results(self) -> list[Result]:
        """Results of all schemes."""
        return [one for some in self.results.values() for one in some]


def scenario_of(figure: str) -> Scenario:
    """The scenario of a figure; HeapfitError without a checkout."""
    path = Path(__file__).resolve().parents[3] / f"examples/partitions/{figure}.toml"
    if not path.is_file():
        raise HeapfitError(
            "examples/partitions is not here (install heapfit from a checkout: pip install "
            "--editable)"
        )
    return load_scenario(path)


def experiments(laboratory: Laboratory) -> dict[str, Experiment]:
    """Figures 5 to 8, simulated."""
    return {figure: _experiment(figure, laboratory) for figure in FIGURES}


def _experiment(figure: str, laboratory: Laboratory) -> Experiment:
    scenario = scenario_of(figure)
    if laboratory.is_small:
        scenario = replace(scenario, run=SHORT)
    simulation = simulate(
        scenario,
        laboratory.sweep,
        lambda _, done: laboratory.progress(f"simulate {figure}", done),
    ).results
    names = [scheme.name for scheme in simulation[0].point.schemes]
    return Experiment(
        scenario, {name: [one for one in simulation if one.scheme.name == name] for name in names}
    )


def _curve(some: Sequence[Result], metric: str) -> Curve:
    estimates = [one.estimates[metric] for one in some]
    return Curve(
        tuple(one.mean for one in estimates),
        tuple(one.half_width or 0.0 for one in estimates),
        tuple(one.exact[metric] for one in some if metric in one.exact),
    )
