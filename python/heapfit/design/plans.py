# SPDX-License-Identifier: Apache-2.0
"""Every candidate plan of a trace, measured and kept in a file of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heapfit import _engine
from heapfit.comparison import Comparison, Row, compare
from heapfit.design import special_pools
from heapfit.design.candidates import Portfolio, standard_portfolio
from heapfit.design.plan_options import PlanOptions
from heapfit.design.workload import load_workload
from heapfit.plan import PlanFile, TrainedOn, save_plan
from heapfit.progress import Progress, no_progress
from heapfit.trace_content import content_hash

if TYPE_CHECKING:
    from heapfit.design.best_classes import BestClasses, Classes
    from heapfit.design.workload import Workload
    from heapfit.trace import Trace


@dataclass(frozen=True, slots=True)
class Designs:
    """The plans made for a trace."""

    comparison: Comparison
    paths: tuple[Path, ...]  # of the comparison's rows, in their order
    classes: BestClasses  # of pools alone
    rule: Classes | None  # those of the 10 % rule


def design(
    trace: Trace,
    name: str,
    folder: Path,
    options: PlanOptions | None = None,
    progress: Progress = no_progress,
) -> Designs:
    """Writes one plan file for each candidate into `folder`; `name` is the trace's, for people."""
    options = options or PlanOptions()
    workload = load_workload(trace, options.alignment, progress)
    portfolio = standard_portfolio(workload, options.choice, progress, options.call_sites)
    comparison = compare(workload, portfolio, progress)
    trained_on = trained_on_trace(trace, name)
    paths = tuple(folder / f"{row.name}.toml" for row in comparison.rows)
    for row, path in zip(comparison.rows, paths, strict=True):
        save_plan(path, plan_file_of(row, comparison, trained_on))
    return Designs(comparison, paths, *_classes(portfolio, workload))


def _classes(portfolio: Portfolio, workload: Workload) -> tuple[BestClasses, Classes | None]:
    from heapfit.design.best_classes import best_classes, classes_of

    by_name = {one.name: one for one in portfolio.candidates}
    rule = by_name.get(special_pools.ALLOCATOR)
    return (
        portfolio.classes or best_classes(workload),
        None if rule is None else classes_of(rule.plan, workload.profile),
    )


def trained_on_trace(trace: Trace, name: str) -> TrainedOn:
    """What a plan file says of the trace it was made from."""
    return TrainedOn(name, content_hash(trace), trace.info.events, trace.info.kind)


def plan_file_of(row: Row, comparison: Comparison, trained_on: TrainedOn) -> PlanFile:
    """A row's plan together with what was measured."""
    return PlanFile(
        name=row.name,
        plan=row.plan,
        region=row.r_safe,
        r_min=row.r_min,
        base_alignment=comparison.base_alignment,
        u_max=comparison.u_max,
        pointer_bits=comparison.trace.pointer_bits,
        trained_on=trained_on,
        heapfit_version=_engine.version,
    )
