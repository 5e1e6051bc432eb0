# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit`: the main job, on one source or on many."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from heapfit.cli.arguments import reject_options
from heapfit.cli.candidates import CandidateFolders, write_candidates
from heapfit.cli.commands.fitting import FitCommand
from heapfit.cli.printing import console
from heapfit.cli.printing.console import print_text
from heapfit.cli.printing.incumbent import incumbent_parts
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.printing.ranking import explain_ranking, ranking_table
from heapfit.cli.printing.screen import first_screen
from heapfit.cli.running import import_options, start_sweep
from heapfit.comparison.costs.measures import parse_measures
from heapfit.design.budgets.choice import BudgetChoice
from heapfit.design.effort import budgets_of
from heapfit.design.front.design_front import ALL_MEASURES
from heapfit.design.robust.objective import parse_objective
from heapfit.errors import HeapfitError
from heapfit.fitting.fit import Resources, fit, folder_for, source_folders
from heapfit.fitting.options import MOST_SEARCHED, FitOptions
from heapfit.fitting.result import Fit, Run
from heapfit.forecast.horizon import parse_horizon
from heapfit.plan.energy import load_sram
from heapfit.plan.values import expand_names
from heapfit.results.heap.fit import write_report
from heapfit.results.parts import (
    Column,
    Fields,
    Line,
    Note,
    Part,
    Table,
    content_of,
    hide_unless,
    paragraph,
)
from heapfit.sweep import Sweep


def run(command: FitCommand) -> None:
    """Runs all fits, and prints each as soon as it is done."""
    if command.front_folder is None:
        reject_options(command.context, ("by",), "it needs --front")
    if len(command.sources) > 1 and not command.each:
        _require_one(command)
    outcomes = []
    for outcome in _outcomes(command, _make_options(command)):
        outcomes.append(outcome)
        if not command.as_json:
            print_text(outcome.parts(command.every))
    if command.as_json:
        console.print_json({"fits": [content_of(one.parts(command.every)) for one in outcomes]})
    _close([one.fit for one in outcomes], command.as_json)


def _require_one(command: FitCommand) -> None:
    """Raises a usage error for options that take one recording alone."""
    if command.front_folder is not None or command.allocators:
        option = "--allocators" if command.front_folder is None else "--front"
        raise typer.BadParameter(f"{option} takes one recording, or several with --each")


def _make_options(command: FitCommand) -> FitOptions:
    """Options of the fit; whole recordings are searched for candidates."""
    has_candidates = command.plans_folder is not None or command.front_folder is not None
    is_whole = has_candidates or command.objective != "max"
    given = command.allocators or []
    return FitOptions(
        alignment=int(command.alignment),
        importing=import_options(command.queue),
        prefer=command.prefer,
        call_sites=command.call_sites,
        sized=command.sized,
        pools=command.pools,
        peak=command.peak,
        horizon=None if command.horizon is None else parse_horizon(command.horizon),
        margin=command.margin,
        exact=command.exact,
        effort=command.effort,
        whole=command.every or has_candidates,
        now=command.now,
        code=command.code,
        programs=tuple(command.programs or ()),
        kept=_require_folder(command.cache),
        most_events=sys.maxsize if is_whole else MOST_SEARCHED,
        budgets=_choose_budgets(command),
        objective=parse_objective(command.objective),
        folds=command.folds,
        front=command.front_folder is not None,
        allocators=() if given == ["all"] else tuple(expand_names(given, ())),
        sram=load_sram(command.sram),
    )


def _choose_budgets(command: FitCommand) -> BudgetChoice:
    """The budget search: as the options have it, else as the effort has it."""
    usual, method, search = budgets_of(command.effort), command.method, command.search
    events = usual.replayed_events if search is None else search * 1_000_000
    methods = usual.methods if method is None else (method,)
    return BudgetChoice(methods, replayed_events=events, seed=command.seed)


def _require_folder(cache: Path | None) -> Path | None:
    if cache is not None and cache.exists() and not cache.is_dir():
        raise typer.BadParameter(f"--cache {cache}: is not a folder")
    return cache


@dataclass(frozen=True, slots=True)
class Failure:
    """A source that could not be fitted."""

    source: Path
    reason: str  # one line


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A fit, and the printed parts of its candidates."""

    fit: Fit | Failure
    candidates: Sequence[Part] = ()

    def parts(self, is_whole: bool) -> Iterator[Part]:
        """The parts to print: those of the fit, then those of its candidates."""
        yield from _parts(self.fit, is_whole)
        yield from self.candidates


def _close(outcomes: Sequence[Fit | Failure], as_json: bool) -> None:
    """Prints a line for each of several fits; exit status 1 if one of them failed."""
    if len(outcomes) > 1 and not as_json:
        print_text(_closing(outcomes))
    if any(isinstance(outcome, Failure) for outcome in outcomes):
        raise typer.Exit(1)


def _outcomes(command: FitCommand, options: FitOptions) -> Iterator[_Outcome]:
    """The outcome of each fit, one after the other."""
    sources, output = command.sources, command.output
    by = ALL_MEASURES if command.by is None else parse_measures(command.by)
    folders = CandidateFolders(command.plans_folder, command.front_folder, by)
    if not command.each or len(sources) == 1:
        with start_sweep(command.workers) as sweep:
            job = _FitJob(sources, folder_for(sources, output), folders, sweep)
            outcome = _fit_and_write(job, options)
        yield outcome
        return
    for source, folder in zip(sources, source_folders(sources, output), strict=True):
        job = _FitJob([source], folder, folders.subfolders(folder.name), None)
        try:
            outcome = _fit_and_write(job, options)
        except HeapfitError as error:
            outcome = _Outcome(Failure(source, str(error)))
        yield outcome


@dataclass(frozen=True, slots=True)
class _FitJob:
    """One fit, and the folders of its result and its candidates."""

    sources: Sequence[Path]
    folder: Path
    folders: CandidateFolders
    sweep: Sweep | None


def _fit_and_write(job: _FitJob, options: FitOptions) -> _Outcome:
    """One fit with what it writes."""
    with progress_bar() as progress:
        resources = Resources(job.sweep, write_report)
        fitted = fit(job.sources, job.folder, options, progress, resources)
        return _Outcome(fitted, list(write_candidates(fitted, job.folders)))


def _parts(outcome: Fit | Failure, is_whole: bool = False) -> Iterator[Part]:
    if isinstance(outcome, Failure):
        yield Fields({"source": outcome.source, "error": outcome.reason})
        yield Note(outcome.reason, is_failure=True)
        return
    yield Fields(
        {"source": outcome.source, "name": outcome.shown.name, "trace": outcome.trace.info}
    )
    yield from first_screen(outcome, is_whole)
    if outcome.recalled:
        yield Line(f"{outcome.recalled:,} of {len(outcome.runs):,} recordings came from the cache.")
    yield from _answer(outcome)
    yield Fields({"verdict": outcome.verdict, "warnings": outcome.warnings})
    if is_whole:
        yield Line("")
    yield from hide_unless(is_whole, _runs(outcome))
    yield from hide_unless(is_whole, ranking_table(outcome.comparison))
    if is_whole:
        yield Line("")
    yield from hide_unless(is_whole, _reasons(outcome))


def _reasons(outcome: Fit) -> Iterator[Part]:
    """Why this plan was chosen, what the figures mean, and what was skipped."""
    yield from paragraph(outcome.verdict)
    yield from explain_ranking(outcome.comparison, outcome.work)
    if outcome.suggestions:
        yield from paragraph(f"For more confidence: {'; '.join(outcome.suggestions)}.")
    for path in outcome.paths.traces:
        yield Line(f"trace  {path}", is_copied=True)


def _answer(outcome: Fit) -> Iterator[Part]:
    answer, size, growth = outcome.answer, outcome.answer.size, outcome.kinds.growth
    yield Fields(
        {
            "answer": {
                "region": size.region,
                "peak": size.peak,
                "u_max": size.u_max,
                "r_safe": size.r_safe,
                "margin_percent": size.margin,
                "recordings": answer.known.runs,
                "is_enough": answer.is_enough,
                "sentences": [*growth, *answer.sentences(is_growing=bool(growth))],
                "firmer": outcome.suggestions,
            }
        }
    )


def _runs(outcome: Fit) -> Iterator[Part]:
    """Tables of the recordings: in the incumbent and the fitted heap, and over their peaks."""
    if outcome.today is not None:
        yield from incumbent_parts(outcome.today)
    if len(outcome.runs) > 1:
        columns: list[Column[Run]] = [
            Column("name", "recording"),
            Column("u_max", "U_max"),
            Column("r_safe", "R_safe"),
            Column("over_u_max", "over its U_max"),
        ]
        if outcome.today is not None:  # which has shown each recording in both heaps
            columns = [column.with_heading("") for column in columns]
        yield Table(columns, outcome.runs, "runs")
        yield Line("")


def _closing(outcomes: Sequence[Fit | Failure]) -> Iterator[Part]:
    """One line for each source, in the order given."""
    yield Line("")
    columns: list[Column[Fit | Failure]] = [
        Column(heading="source", shown=lambda one: one.source.name)
    ]
    columns += [
        _fit_column("peak", lambda one: one.answer.size.peak),
        _fit_column("best", lambda one: one.winner.name, "failed"),
        _fit_column("R_safe", lambda one: one.winner.r_safe),
        _fit_column("over U_max", lambda one: one.winner.over_u_max),
        _fit_column("set to", lambda one: one.answer.size.region),
    ]
    yield Table(columns, outcomes)


def _fit_column(
    heading: str, shown: Callable[[Fit], object], otherwise: str | None = None
) -> Column[Fit | Failure]:
    return Column(
        heading=heading, shown=lambda one: otherwise if isinstance(one, Failure) else shown(one)
    )
