# SPDX-License-Identifier: Apache-2.0
"""Several traces compared with the same allocators: a row for each candidate, a column a trace.

Each trace is a job of a sweep. A stored trace is a file that travels with its job; a synthetic
workload is drawn where it is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from heapfit.comparison.candidate import Portfolio
from heapfit.comparison.comparison import Comparison, compare, reject_empty_portfolio, with_measures
from heapfit.comparison.incumbents.heap_names import describe_namesakes
from heapfit.comparison.measuring import STANDARD_PRECISION, Precision
from heapfit.outputs.scratch import scratch_folder
from heapfit.plan.plan_file import PlanFile
from heapfit.plan.quantities import format_share
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.sweep import Job, Sweep
from heapfit.trace.loaded import STANDARD_ALIGNMENT, LoadedTrace, load_trace
from heapfit.trace.names import make_distinct
from heapfit.trace.origin import WorkloadSpec
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import generate_workload

Source: TypeAlias = Trace | WorkloadSpec

TIMES_FOR_PLANS = 100  # the events of a trace are replayed, roughly; exact budgets among them
_USUAL_EVENTS = 100_000  # of a synthetic workload


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """What is compared on every trace; without names and plans everything that `fit` tries."""

    allocators: tuple[str, ...] = ()  # NAME or NAME:TUNABLE=VALUE,...
    plan_files: tuple[PlanFile, ...] = ()
    alignment: int = STANDARD_ALIGNMENT  # of what says nothing else
    precision: Precision = STANDARD_PRECISION  # on each plan's regions


# A function of a module.
PlanMaker: TypeAlias = Callable[[LoadedTrace, ComparisonRequest, Progress], Portfolio]


@dataclass(frozen=True, slots=True)
class TraceColumn:
    """One trace in a matrix: its label and its comparison."""

    label: str
    comparison: Comparison

    def cell(self, name: str) -> object:
        """The candidate's row on this trace, or why it does not apply; None if neither is known."""
        return next((cell for cell in self.cells() if cell.name == name), None)

    def cells(self) -> list[Any]:
        """The rows of this trace, those of plug-ins, then the candidates that do not apply."""
        return [
            *self.comparison.rows,
            *self.comparison.plugins,
            *self.comparison.not_applicable,
        ]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Candidates by mean R_safe / U_max, the smallest first; those without one last."""

    names: tuple[str, ...]
    columns: tuple[TraceColumn, ...]

    def mean_over_u_max(self, name: str) -> float | None:
        """Geometric mean of R_safe / U_max; None unless every trace has one."""
        return _mean(name, self.columns)

    def need_of_all(self, name: str) -> int | None:
        """The region in bytes that serves every trace; None unless each has one."""
        needs = [getattr(column.cell(name), "r_safe", None) or 0 for column in self.columns]
        return max(needs) if all(needs) else None

    def sentence(self) -> str:
        """Which heap needs least, and how much more the next one needs."""
        means = [(self.mean_over_u_max(name), name) for name in self.names]
        known = sorted((mean, name) for mean, name in means if mean is not None)
        if not known:
            asked = any(one.comparison.u_max for one in self.columns)
            return (
                "No heap of these serves every recording."
                if asked
                else "No request is for more than 0 B: there is no ratio to compare."
            )
        least, name = known[0]
        where = " on average" if len(self.columns) > 1 else ""
        more = [
            f"; {other} needs "
            + (f"{format_share(mean / least - 1)} more" if mean > least else "as much")
            for mean, other in known[1:]
        ]
        what = f"needs the least{where}," if more else "needs"
        text = f"{name} {what} {least:.3f} times the peak, without reserve{''.join(more[:1])}."
        named = [told for _, one in known[:2] for told in describe_namesakes(one, self.names)]
        return " ".join([text, *named, *self._basis(), *self._faults()])

    def _faults(self) -> dict[str, None]:
        """A sentence on each plug-in that has a fault."""
        return dict.fromkeys(
            f"{one.name} has a fault ({fault.name}): see below."
            for column in self.columns
            for one in column.comparison.plugins
            for fault in one.faults[:1]
        )

    def _basis(self) -> list[str]:
        """A sentence on heaps that align their blocks to less than others, if some do."""
        cells = [cell for column in self.columns for cell in column.comparison.rows]
        least, most = (pick((one.alignment for one in cells), default=0) for pick in (min, max))
        fewer = {one.name: one.heap.is_ours for one in cells if one.alignment == least}
        names, more = ", ".join(sorted(fewer)), f" --alignment {least}: all that can."
        told = f"Blocks of {names} are aligned to {least} B, which takes less, others' to {most} B."
        return [told + more * (not any(fewer.values()))] if least < most else []


def compare_traces(
    sources: Sequence[tuple[str, Source]],
    request: ComparisonRequest,
    make: PlanMaker,
    sweep: Sweep | None = None,
    progress: Progress = ignore_progress,
) -> Matrix:
    """Compares on each of the labelled traces and synthetic workloads; `make` makes the plans.

    HeapfitError if there is nothing to compare on any of them.
    """
    sweep = sweep or Sweep(workers=1)
    labels = make_distinct([label for label, _ in sources])
    threads = sweep.threads if len(sources) == 1 else 1
    jobs = [
        _make_job(label, source, (request, make, threads))
        for label, (_, source) in zip(labels, sources, strict=True)
    ]
    compared: list[Comparison] = sweep.run("compare", jobs, progress)
    if not any(one.rows for one in compared):
        reject_empty_portfolio([why for one in compared for why in one.not_applicable])
    return matrix_of([TraceColumn(*both) for both in zip(labels, compared, strict=True)])


def _make_job(label: str, source: Source, asked: tuple[ComparisonRequest, PlanMaker, int]) -> Job:
    """The job that makes the plans for a trace and measures them."""
    files = (source.path,) if isinstance(source, Trace) else ()
    events = source.info.events if isinstance(source, Trace) else _USUAL_EVENTS
    return Job(label, _compare, (source, *asked), files, TIMES_FOR_PLANS * events, tells=True)


def _compare(
    asked: tuple[Source, ComparisonRequest, PlanMaker, int],
    *paths: Path,
    progress: Progress = ignore_progress,
) -> Comparison:
    source, request, make, threads = asked
    with scratch_folder() as folder:
        trace = (
            replace(source, path=paths[0])
            if isinstance(source, Trace)
            else generate_workload(source, Path(folder) / "drawn.parquet")
        )
        loaded = replace(load_trace(trace, request.alignment), threads=threads)
        whole = WeightedProgress(progress, {"make plans": 1.0, "compare": 2.0})
        portfolio = make(loaded, request, whole.part("make plans", steps=1))
        return with_measures(
            compare(
                loaded,
                portfolio,
                progress=whole.part("compare", len(portfolio.candidates) + 1),
                precision=request.precision,
                may_be_empty=True,
            ),
            loaded,
        )


def matrix_of(columns: Sequence[TraceColumn]) -> Matrix:
    """Joins columns to a matrix, its candidates in order of their means."""
    names = {cell.name for column in columns for cell in column.cells()}

    def key(name: str) -> tuple[bool, float, str]:
        mean = _mean(name, columns)
        return mean is None, mean or 0.0, name

    return Matrix(tuple(sorted(names, key=key)), tuple(columns))


def with_plugins(matrix: Matrix, plugins: Sequence[Sequence[Any]]) -> Matrix:
    """The matrix with the rows of plug-ins, of each column in order, ranked among its own."""
    return matrix_of(
        [
            replace(one, comparison=replace(one.comparison, plugins=tuple(rows)))
            for one, rows in zip(matrix.columns, plugins, strict=True)
        ]
    )


def _mean(name: str, columns: Sequence[TraceColumn]) -> float | None:
    ratios = [getattr(column.cell(name), "over_u_max", None) for column in columns]
    known = [math.log(ratio) for ratio in ratios if ratio is not None]
    return math.exp(sum(known) / len(known)) if known and len(known) == len(ratios) else None
