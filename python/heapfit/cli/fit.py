# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit`: the main job, on one source or on many."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from heapfit.cli.arguments import (
    SEARCH,
    SEARCHING,
    WORKERS,
    Alignment,
    AlignmentOption,
    Allocators,
    AsJson,
    CallSites,
    ClusterAddress,
    DropUnknown,
    EffortOption,
    Everything,
    Exact,
    Now,
    PointerBitsOption,
    Prefer,
    Programs,
    QueueOfCapture,
    Seed,
    Sized,
    Sources,
    SramFile,
    Workers,
    import_options,
    make_output_option,
    reject_options,
    take_percent,
    take_size,
)
from heapfit.cli.printing import console
from heapfit.cli.printing.incumbent import incumbent_parts
from heapfit.cli.printing.parts import (
    Column,
    Fields,
    Line,
    Note,
    Part,
    Table,
    content_of,
    hide_unless,
    paragraph,
    print_text,
)
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.printing.ranking import explain_ranking, ranking_table
from heapfit.cli.printing.screen import first_screen
from heapfit.cli.writing.candidates import CandidateFolders, write_candidates
from heapfit.comparison.costs.measures import parse_measures
from heapfit.design.budgets.choice import STANDARD_SECONDS, BudgetChoice, Method
from heapfit.design.effort import Effort, budgets_of
from heapfit.design.front.design_front import ALL_MEASURES
from heapfit.design.front.preference import Preference
from heapfit.design.plan_options import PlanOptions
from heapfit.design.robust.design import MOST_FOLDS
from heapfit.design.robust.objective import parse_objective
from heapfit.errors import HeapfitError
from heapfit.fitting.answer import Answer
from heapfit.fitting.fit import Resources, fit, folder_for, source_folders
from heapfit.fitting.options import MOST_SEARCHED, FitOptions
from heapfit.fitting.result import Fit, Run
from heapfit.importers import ImportOptions, open_trace
from heapfit.plan.energy import load_sram
from heapfit.plan.plan_file import MOST_MARGIN
from heapfit.plan.values import expand_names
from heapfit.progress import WeightedProgress
from heapfit.report.heap.fit import write_report
from heapfit.sweep import Sweep
from heapfit.workloads.drawn_set import resample_traces

_CANDIDATE_GROUP = "Candidates"  # a group of options that --help-all shows
_WORK = {"draw": 2, "fit": 98}  # of the time, where runs are resampled

_Output: TypeAlias = Annotated[
    Path | None,
    make_output_option("plan, C code and report; with --each one folder a source [out/NAME]"),
]
_Peak: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--peak",
        help="Live bytes to plan for, if the load will grow [the recorded peak].",
        **take_size(1),
    ),
]
_Margin: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--margin",
        help="Percent to add for runs you did not record [measured: docs/margin.md].",
        **take_percent(0, MOST_MARGIN),
    ),
]
_Code: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--code",
        help="Write plan and C code of the fitted heap even if it is not worth a change.",
        rich_help_panel=_CANDIDATE_GROUP,
    ),
]
_Pools: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--pools",
        help="Consider also pools whose counts come from these recordings.",
        rich_help_panel=SEARCHING,
    ),
]
_Each: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--each",
        help="Fit one heap to each source, not one heap to all.",
        rich_help_panel=_CANDIDATE_GROUP,
    ),
]
_Plans: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--plans",
        metavar="FOLDER",
        help="Search every candidate completely; write a plan file for each, and a page "
        "(docs/design.md). With --each: one folder a source.",
        rich_help_panel=_CANDIDATE_GROUP,
    ),
]
_Front: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--front",
        metavar="FOLDER",
        help="Measure every configuration of the design space; write the plans of its Pareto "
        "front, and a page (docs/front.md). With --each: one folder a source.",
        rich_help_panel=_CANDIDATE_GROUP,
    ),
]
_By: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="MEASURE,...",
        help="Measures of the front: ram, accesses, energy, time, longest, flash [all].",
        rich_help_panel=_CANDIDATE_GROUP,
    ),
]
_Method: TypeAlias = Annotated[
    Method | None,
    typer.Option(
        "--budgets",
        help="How the number of blocks of each pool is found [greedy and exact].",
        rich_help_panel=SEARCHING,
    ),
]
_BudgetSeconds: TypeAlias = Annotated[
    float,
    typer.Option(
        "--budget-seconds",
        min=0.1,
        help="Time limit of the exact search of pool budgets; past it, the gap is printed.",
        rich_help_panel=SEARCHING,
    ),
]
_Search: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--search", metavar="MILLIONS", min=0, help=SEARCH.help, rich_help_panel=SEARCHING
    ),
]
_Objective: TypeAlias = Annotated[
    str,
    typer.Option(
        "--objective",
        metavar="max|q90|...",
        help="What to serve of several recordings: all (max), or a quantile.",
        rich_help_panel=SEARCHING,
    ),
]
_Folds: TypeAlias = Annotated[
    int,
    typer.Option(
        "--folds",
        min=0,
        help="Folds of the holdout check of several recordings; 0: no check.",
        rich_help_panel=SEARCHING,
    ),
]
_Draw: TypeAlias = Annotated[
    int,
    typer.Option(
        "--draw",
        min=0,
        max=10_000,
        help="Resample this many runs from the one recording, and fit to all of them.",
        rich_help_panel=SEARCHING,
    ),
]
_Cache: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Folder that stores the results of replays for the next fit.",
        rich_help_panel=WORKERS,
    ),
]


def command(
    context: typer.Context,
    sources: Sources,
    output: _Output = None,
    now: Now = None,
    peak: _Peak = None,
    margin: _Margin = None,
    prefer: Prefer = None,
    alignment: AlignmentOption = Alignment.BYTES_8,
    every: Everything = False,
    programs: Programs = None,
    plans_folder: _Plans = None,
    front_folder: _Front = None,
    allocators: Allocators = None,
    by: _By = None,
    sram: SramFile = None,
    each: _Each = False,
    code: _Code = False,
    pools: _Pools = False,
    effort: EffortOption = Effort.STANDARD,
    exact: Exact = False,
    method: _Method = None,
    budget_seconds: _BudgetSeconds = STANDARD_SECONDS,
    search: _Search = None,
    seed: Seed = 1,
    objective: _Objective = "max",
    folds: _Folds = MOST_FOLDS,
    draw: _Draw = 0,
    queue: QueueOfCapture = None,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    call_sites: CallSites = False,
    sized: Sized = False,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    cache: _Cache = None,
    as_json: AsJson = False,
) -> None:
    """Fit a heap: print the size to set, and write the best plan, its C code and a report."""
    if front_folder is None:
        reject_options(context, ("by",), "it needs --front")
    importing = import_options(queue, drop_unknown, pointer_bits)
    budgets = _budgets(effort, (method, budget_seconds, search, seed))
    plans = PlanOptions(int(alignment), budgets, call_sites, sized, exact, effort)
    target = _TargetOptions(prefer, pools, peak, margin, now, code)
    space = _SpaceOptions(plans_folder, front_folder, allocators, by, sram)
    several = _SeveralOptions(objective, folds, draw, seed, cache)
    asked = _Settings(importing, plans, target, space, several, every, tuple(programs or []))
    wanted = _FitsRequest(sources, output, each, workers, cluster)
    _run(wanted, asked, as_json)


_Budgets: TypeAlias = tuple[Method | None, float, int | None, int]


def _budgets(effort: Effort, asked: _Budgets) -> BudgetChoice:
    """The budget search: as the options have it, else as the effort has it."""
    method, seconds, search, seed = asked
    usual = budgets_of(effort)
    events = usual.replayed_events if search is None else search * 1_000_000
    return BudgetChoice(usual.methods if method is None else (method,), seconds, events, seed)


@dataclass(frozen=True, slots=True)
class _TargetOptions:
    """What the heap is to be good at, its peak and margin, and the incumbent heap."""

    prefer: Preference | None
    pools: bool
    peak: int | None
    margin: float | None
    now: str | None
    code: bool


@dataclass(frozen=True, slots=True)
class _SpaceOptions:
    """The allocators to try, and the folders of candidates."""

    plans: Path | None
    front: Path | None
    allocators: Sequence[str] | None
    by: str | None
    sram: Path | None

    def names(self) -> tuple[str, ...]:
        """The names of the allocators to try; empty: all."""
        given = list(self.allocators or [])
        return () if given == ["all"] else tuple(expand_names(given, ()))

    def folders(self) -> CandidateFolders:
        """The folders of candidates; HeapfitError if --by names no measure."""
        by = ALL_MEASURES if self.by is None else parse_measures(self.by)
        return CandidateFolders(self.plans, self.front, by)


@dataclass(frozen=True, slots=True)
class _SeveralOptions:
    """Options for several recordings, or for those resampled from one."""

    objective: str
    folds: int
    draw: int
    seed: int  # of the first resampled run
    cache: Path | None


@dataclass(frozen=True, slots=True)
class _Settings:
    """The options of all fits of a command."""

    importing: ImportOptions
    plans: PlanOptions
    target: _TargetOptions
    space: _SpaceOptions
    several: _SeveralOptions
    every: bool
    programs: tuple[Path, ...]

    def options(self) -> FitOptions:
        """Options of the fit; whole recordings are searched for candidates and resampled runs."""
        plans, target, space, several = self.plans, self.target, self.space, self.several
        has_candidates = space.plans is not None or space.front is not None
        is_whole = has_candidates or several.draw > 0 or several.objective != "max"
        return FitOptions(
            alignment=plans.alignment,
            importing=self.importing,
            prefer=target.prefer or Preference.RAM,
            call_sites=plans.call_sites,
            sized=plans.sized,
            pools=target.pools,
            peak=target.peak,
            margin=target.margin,
            exact=plans.exact,
            effort=plans.effort,
            whole=self.every or has_candidates,
            now=target.now,
            code=target.code,
            programs=self.programs,
            kept=_require_folder(several.cache),
            most_events=sys.maxsize if is_whole else MOST_SEARCHED,
            budgets=plans.choice,
            objective=parse_objective(several.objective),
            folds=several.folds,
            front=space.front is not None,
            allocators=space.names(),
            sram=load_sram(space.sram),
        )

    def require_one(self) -> None:
        """Raises a usage error for options that take one recording alone."""
        space = self.space
        if space.front is not None or space.allocators:
            option = "--allocators" if space.front is None else "--front"
            raise typer.BadParameter(f"{option} takes one recording, or several with --each")
        if self.several.draw:
            raise typer.BadParameter("--draw takes one recording, or several with --each")


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


def _run(wanted: _FitsRequest, asked: _Settings, as_json: bool) -> None:
    """Runs all fits, and prints each as soon as it is done."""
    if len(wanted.sources) > 1 and not wanted.each:
        asked.require_one()
    outcomes = []
    for outcome in _outcomes(wanted, asked):
        outcomes.append(outcome)
        if not as_json:
            print_text(outcome.parts(asked.every))
    if as_json:
        console.print_json({"fits": [content_of(one.parts(asked.every)) for one in outcomes]})
    _close([one.fit for one in outcomes], as_json)


def _close(outcomes: Sequence[Fit | Failure], as_json: bool) -> None:
    """Prints a line for each of several fits; exit status 1 if one of them failed."""
    if len(outcomes) > 1 and not as_json:
        print_text(_closing(outcomes))
    if any(isinstance(outcome, Failure) for outcome in outcomes):
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class _FitsRequest:
    """The sources to fit, whether each apart, and the workers."""

    sources: Sequence[Path]
    output: Path | None
    each: bool
    workers: int | None
    cluster: str | None


def _outcomes(wanted: _FitsRequest, asked: _Settings) -> Iterator[_Outcome]:
    """The outcome of each fit, one after the other."""
    sources, output = wanted.sources, wanted.output
    options, folders = asked.options(), asked.space.folders()
    if not wanted.each or len(sources) == 1:
        with Sweep(wanted.workers, wanted.cluster) as sweep:
            run = _FitJob(sources, folder_for(sources, output), folders, sweep)
            outcome = _fit_and_write(run, options, asked.several)
        yield outcome
        return
    for source, folder in zip(sources, source_folders(sources, output), strict=True):
        run = _FitJob([source], folder, folders.subfolders(folder.name), None)
        try:
            outcome = _fit_and_write(run, options, asked.several)
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


def _fit_and_write(run: _FitJob, options: FitOptions, several: _SeveralOptions) -> _Outcome:
    with progress_bar() as progress, tempfile.TemporaryDirectory(prefix="heapfit-") as made:
        whole = WeightedProgress(progress, _WORK)
        drawn, sources = None, list(run.sources)
        if several.draw:
            (source,) = sources
            with open_trace(source, options.importing, whole.part("draw")) as trace:
                resampling = whole.part("draw")
                drawn = resample_traces(trace, several.draw, several.seed, Path(made), resampling)
            sources += [trace.path for trace in drawn.traces]
        resources = Resources(run.sweep, write_report)
        fitted = fit(sources, run.folder, options, whole.part("fit"), resources)
        return _Outcome(fitted, list(write_candidates(fitted, run.folders, drawn)))


def _parts(outcome: Fit | Failure, is_whole: bool = False) -> Iterator[Part]:
    if isinstance(outcome, Failure):
        yield Fields({"source": outcome.source, "error": outcome.reason})
        yield Note(outcome.reason, is_failure=True)
        return
    yield Fields({"source": outcome.source, "name": outcome.name, "trace": outcome.trace.info})
    yield from first_screen(outcome, is_whole)
    if outcome.recalled:
        yield Line(f"{outcome.recalled:,} of {len(outcome.runs):,} recordings came from the cache.")
    yield from _answer(outcome.answer, outcome.suggestions)
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


def _answer(answer: Answer, suggestions: Sequence[str]) -> Iterator[Part]:
    size = answer.size
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
                "sentences": answer.sentences(),
                "firmer": suggestions,
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
        heading=heading,
        shown=lambda one: otherwise if isinstance(one, Failure) else shown(one),
    )
