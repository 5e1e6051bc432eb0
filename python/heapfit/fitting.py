# SPDX-License-Identifier: Apache-2.0
"""The main job: a trace or capture becomes a ranked table, a plan, generated C and a report.

source -> import -> profile -> candidates -> comparison -> plan.toml, code/, report.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heapfit import _engine
from heapfit.compare.comparison import Comparison, Row, compare
from heapfit.compare.verdict import chosen_row, pools_warning, preferred_verdict, verdict
from heapfit.design.plan_files import plan_file_of, trained_on_trace
from heapfit.design.portfolio import standard_portfolio
from heapfit.errors import HeapfitError
from heapfit.fit_result import Fit, FitPaths
from heapfit.front.design_front import chosen, cost_of_choice, front_of, with_choice_first
from heapfit.front.preference import Preference
from heapfit.generate import generate
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan_file import pointer_size_warning, save_plan
from heapfit.progress import Progress, no_progress
from heapfit.report.fit.page import write_report
from heapfit.trace.loaded import STANDARD_ALIGNMENT, LoadedTrace, load_trace
from heapfit.trace.names import different_names, source_name
from heapfit.trace.stored import Trace, TraceInfo


@dataclass(frozen=True, slots=True)
class FitOptions:
    """What a user may want different."""

    alignment: int = STANDARD_ALIGNMENT  # of every block: 4, 8 or 16
    importing: ImportOptions = field(default_factory=ImportOptions)
    prefer: Preference = Preference.MEMORY  # what the winner has least of
    call_sites: bool = False  # the program can hand over from where it asks


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
    options = options or FitOptions()
    trace = open_any(source, options.importing, folder, progress)
    loaded = load_trace(trace, options.alignment, progress)
    if loaded.profile.u_max == 0:
        raise HeapfitError(f"{source}: nothing is ever allocated (record a run that uses its heap)")
    portfolio = standard_portfolio(loaded, progress=progress, call_sites=options.call_sites)
    comparison = compare(loaded, portfolio, progress)
    comparison, winner, verdict_text = _preferred(comparison, loaded, options.prefer, progress)
    if winner.r_safe is None:
        raise HeapfitError(
            f"{source}: no candidate has a safe region for this trace (regions end below 4 GiB; "
            f"its live bytes reach {comparison.u_max:,})"
        )
    fitted = Fit(
        name=source_name(source),
        source=source,
        trace=trace,
        profile=loaded.profile,
        comparison=comparison,
        winner=winner,
        plan_file=plan_file_of(winner, comparison, trained_on_trace(loaded, source_name(source))),
        verdict=verdict_text,
        warnings=_warnings(trace.info, winner, comparison),
        paths=_paths(folder, trace),
        prefer=options.prefer,
    )
    _write(fitted, loaded.events, progress)
    return fitted


def try_fit(
    source: Path,
    folder: Path,
    options: FitOptions | None = None,
    progress: Progress = no_progress,
) -> Fit | Failure:
    """As `fit`, for one of many sources: a failure must not stop the others."""
    try:
        return fit(source, folder, options, progress)
    except HeapfitError as error:
        return Failure(source, str(error))


def folders_for(sources: Sequence[Path], output: Path | None) -> list[Path]:
    """Where each source's fit goes: `output` itself for one, a folder inside it for each of many.

    >>> folders_for([Path("echo.pcap")], None)
    [PosixPath('out/echo')]
    """
    names = different_names(sources)
    if output is not None and len(sources) == 1:
        return [output]
    return [(output or Path("out")) / name for name in names]


def _preferred(
    comparison: Comparison, loaded: LoadedTrace, prefer: Preference, progress: Progress
) -> tuple[Comparison, Row, str]:
    """The comparison with what is preferred among its rows, that row, and the verdict."""
    if prefer is Preference.MEMORY or comparison.rows[0].r_safe is None:
        return comparison, chosen_row(comparison), verdict(comparison)

    front = front_of(comparison, loaded, progress=progress)
    choice = chosen(front, prefer)
    comparison = with_choice_first(comparison, choice)
    verdict_text = preferred_verdict(choice.row, prefer, cost_of_choice(front, choice))
    return comparison, choice.row, verdict_text


def _paths(folder: Path, trace: Trace) -> FitPaths:
    return FitPaths(
        folder, trace.path, folder / "plan.toml", folder / "code", folder / "report.html"
    )


def _write(fitted: Fit, events: _engine.EventArray, progress: Progress) -> None:
    progress("write plan, code and report", 0.0)
    save_plan(fitted.paths.plan, fitted.plan_file)
    generate(fitted.plan_file, fitted.paths.code)
    progress("write plan, code and report", 0.3)
    write_report(fitted.paths.report, fitted, events)
    progress("write plan, code and report", 1.0)


def _warnings(info: TraceInfo, winner: Row, comparison: Comparison) -> tuple[str, ...]:
    warnings = list(info.notes)
    pointer_size = pointer_size_warning(info.kind, info.pointer_bits)
    if pointer_size is not None:
        warnings.append(pointer_size)
    warnings += [one for one in [pools_warning(winner, comparison)] if one is not None]
    return tuple(warnings)
