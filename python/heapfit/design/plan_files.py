# SPDX-License-Identifier: Apache-2.0
"""Every candidate plan of a trace, measured and kept in a file of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from heapfit import _engine
from heapfit.comparison.candidate import Portfolio
from heapfit.comparison.comparison import Comparison, compare
from heapfit.comparison.margin import HeapSize
from heapfit.comparison.row import Row
from heapfit.design.plan_options import PlanOptions
from heapfit.design.pools import special_pools
from heapfit.design.pools.best_classes import BestClasses, Classes, best_classes, classes_of
from heapfit.design.space import portfolio_of
from heapfit.outputs.folder import staged_folder
from heapfit.plan.plan_file import (
    PlanFile,
    TrainedOn,
    file_name,
    require_unedited,
    save_plan,
)
from heapfit.progress import Progress, counted, no_progress
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace
from heapfit.trace.tabular import Tabular


@dataclass(frozen=True, slots=True, repr=False)
class Designs(Tabular):
    """The plans made for a trace."""

    comparison: Comparison
    paths: tuple[Path, ...]  # of the comparison's rows, in their order
    classes: BestClasses  # of pools alone
    rule: Classes | None  # those of the 10 % rule

    def __str__(self) -> str:
        return f"{len(self.paths)} plan files; {self.comparison}"

    def to_arrow(self) -> pa.Table:
        """The comparison's rows, each with its plan file."""
        files = pa.array([str(path) for path in self.paths], pa.string())
        return self.comparison.to_arrow().append_column("path", files)


def design(
    trace: Trace,
    name: str,
    folder: Path,
    options: PlanOptions | None = None,
    progress: Progress = no_progress,
) -> Designs:
    """Writes one plan file for each candidate into `folder`; `name` is the trace's, for people."""
    options = options or PlanOptions()
    loaded = load_trace(trace, options.alignment, progress)
    best = best_classes(loaded)
    portfolio = portfolio_of(loaded, options, progress, best)
    compared = counted(progress, "compare", len(portfolio.candidates))
    comparison = compare(loaded, portfolio, compared, options.precision)
    trained_on = trained_on_trace(loaded, name)
    paths = tuple(folder / f"{file_name(row.name)}.toml" for row in comparison.rows)
    with staged_folder(folder, require_unedited) as staging:
        for row, path in zip(comparison.rows, paths, strict=True):
            save_plan(staging / path.name, plan_file_of(row, comparison, trained_on))
    return Designs(comparison, paths, best, _rule_classes(portfolio, loaded))


def _rule_classes(portfolio: Portfolio, loaded: LoadedTrace) -> Classes | None:
    by_name = {one.name: one for one in portfolio.candidates}
    rule = by_name.get(special_pools.ALLOCATOR)
    return None if rule is None else classes_of(rule.plan, loaded.profile)


def trained_on_trace(loaded: LoadedTrace, name: str) -> TrainedOn:
    """What a plan file says of the trace it was made from."""
    return TrainedOn(name, loaded.content, loaded.trace.info.events, loaded.trace.info.kind)


def plan_file_of(
    row: Row, comparison: Comparison, trained_on: TrainedOn, size: HeapSize | None = None
) -> PlanFile:
    """A row's plan with what was measured; `size` where another peak or margin is asked for."""
    size = size or row.heap_size
    return PlanFile(
        name=file_name(row.name),
        plan=row.plan,
        region=None if size is None else size.region,
        r_safe=row.r_safe,
        peak=None if size is None else size.peak,
        margin=None if size is None else size.margin,
        r_min=row.r_min,
        base_alignment=comparison.base_alignment,
        u_max=comparison.u_max,
        pointer_bits=comparison.trace.pointer_bits,
        trained_on=trained_on,
        heapfit_version=_engine.version,
    )
