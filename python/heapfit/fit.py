# SPDX-License-Identifier: Apache-2.0
"""The main job: a trace or capture becomes a ranked table, a plan, generated C and a report.

source -> import -> profile -> candidates -> comparison -> plan.toml, code/, report.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heapfit import _engine
from heapfit.comparison import Comparison, Row, compare
from heapfit.design.candidates import Candidate, NotApplicable, candidates
from heapfit.design.workload import STANDARD_ALIGNMENT, load_workload
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.plan import PlanFile, TrainedOn, save_plan
from heapfit.profile import Profile
from heapfit.progress import Progress, no_progress
from heapfit.source_name import different_names
from heapfit.trace import Trace, TraceInfo
from heapfit.trace_content import content_hash
from heapfit.verdict import verdict


@dataclass(frozen=True, slots=True)
class FitOptions:
    """What a user may want different."""

    alignment: int = STANDARD_ALIGNMENT  # of every block: 4, 8 or 16
    importing: ImportOptions = field(default_factory=ImportOptions)


@dataclass(frozen=True, slots=True)
class FitPaths:
    """What a fit wrote, all inside `folder`."""

    folder: Path
    trace: Path  # the stored trace; the source itself where it already was one
    plan: Path  # plan.toml
    code: Path  # folder of generated C
    report: Path  # report.html


@dataclass(frozen=True, slots=True)
class Fit:
    """One fitted source."""

    name: str  # from the source's file name; fit for a folder
    source: Path
    trace: Trace
    profile: Profile
    comparison: Comparison  # rows ranked; the first is the winner
    not_applicable: tuple[NotApplicable, ...]  # candidates left out, and why
    plan_file: PlanFile  # the winner's
    verdict: str  # one sentence, with the figures that decided
    warnings: tuple[str, ...]  # each one sentence
    paths: FitPaths

    @property
    def winner(self) -> Row:
        """The row the plan was made from."""
        return self.comparison.rows[0]


@dataclass(frozen=True, slots=True)
class Failure:
    """A source that could not be fitted."""

    source: Path
    reason: str  # one line


def fit(
    source: Path,
    folder: Path,
    options: FitOptions | None = None,
    progress: Progress = no_progress,
) -> Fit:
    """Fits one source and writes everything into `folder`; HeapfitError if it cannot be done."""
    return _fit(source, different_names([source])[0], folder, options or FitOptions(), progress)


def fit_all(
    sources: Sequence[Path],
    folder: Path,
    options: FitOptions | None = None,
    progress: Progress = no_progress,
) -> list[Fit | Failure]:
    """Fits each source into a folder of its own inside `folder`; one that fails stops no other."""
    outcomes: list[Fit | Failure] = []
    for source, name in zip(sources, different_names(list(sources)), strict=True):
        try:
            outcomes.append(_fit(source, name, folder / name, options or FitOptions(), progress))
        except HeapfitError as error:
            outcomes.append(Failure(source, str(error)))
    return outcomes


def _fit(source: Path, name: str, folder: Path, options: FitOptions, progress: Progress) -> Fit:
    progress("import", 0.0)
    trace = open_any(source, options.importing, folder)
    workload = load_workload(trace, options.alignment, progress)
    if workload.profile.u_max == 0:
        raise HeapfitError(f"{source}: nothing is ever allocated (record a run that uses its heap)")
    found = candidates(workload)
    contenders = [one for one in found if isinstance(one, Candidate)]
    not_applicable = tuple(one for one in found if isinstance(one, NotApplicable))
    comparison = compare(workload, contenders, progress)
    if comparison.rows[0].r_safe is None:
        raise HeapfitError(
            f"{source}: no candidate serves this trace in a region below 4 GiB "
            f"(its live bytes reach {comparison.u_max:,})"
        )
    fitted = Fit(
        name=name,
        source=source,
        trace=trace,
        profile=workload.profile,
        comparison=comparison,
        not_applicable=not_applicable,
        plan_file=plan_file_of(comparison.rows[0], comparison, trace, name),
        verdict=verdict(comparison, not_applicable),
        warnings=_warnings(trace.info, comparison.rows[0]),
        paths=FitPaths(
            folder, trace.path, folder / "plan.toml", folder / "code", folder / "report.html"
        ),
    )
    _write(fitted, progress)
    return fitted


def plan_file_of(row: Row, comparison: Comparison, trace: Trace, trace_name: str) -> PlanFile:
    """The row's plan together with what was measured and the trace it comes from."""
    return PlanFile(
        name=row.name,
        plan=row.plan,
        region=row.r_safe,
        r_min=row.r_min,
        base_alignment=comparison.base_alignment,
        u_max=comparison.u_max,
        pointer_bits=trace.info.pointer_bits,
        trained_on=TrainedOn(trace_name, content_hash(trace), trace.info.events),
        heapfit_version=_engine.version,
    )


def _write(fitted: Fit, progress: Progress) -> None:
    from heapfit.generate import generate
    from heapfit.report import write_report

    progress("write plan, code and report", 0.0)
    save_plan(fitted.paths.plan, fitted.plan_file)
    generate(fitted.plan_file, fitted.paths.code)
    progress("write plan, code and report", 0.3)
    write_report(fitted.paths.report, fitted)
    progress("write plan, code and report", 1.0)


def pointer_size_warning(info: TraceInfo) -> str | None:
    """The caution due where sizes may hold pointers of another width than the target's."""
    if info.kind != "heap" or info.pointer_bits == 32:
        return None
    recorded = (
        f"recorded on {info.pointer_bits} bit" if info.pointer_bits else "recorded on unknown"
    )
    return f"{recorded}: sizes on a 32-bit target will differ; record on the target or with -m32"


def _warnings(info: TraceInfo, winner: Row) -> tuple[str, ...]:
    warnings = list(info.notes)
    pointer_size = pointer_size_warning(info)
    if pointer_size is not None:
        warnings.append(pointer_size)
    if winner.plan.pools:
        warnings.append(
            "pools are cut to this one recording; check a second run with "
            "`heapfit compare OTHER --plan plan.toml`"
        )
    return tuple(warnings)
