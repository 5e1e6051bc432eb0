# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit`: the main job, on one source or on many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from heapfit.cli.arguments import (
    Alignment,
    AlignmentOption,
    AsJson,
    CallSites,
    ClusterAddress,
    DropUnknown,
    EffortOption,
    Exact,
    PointerBitsOption,
    Prefer,
    Programs,
    QueueOfCapture,
    Sized,
    Sources,
    Workers,
    import_options,
)
from heapfit.cli.printing import console
from heapfit.cli.printing.incumbent import beside_today
from heapfit.cli.printing.parts import (
    Column,
    Fields,
    Line,
    Note,
    Part,
    Table,
    content_of,
    out_text,
    paragraph,
    shown_if,
)
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.printing.ranking import meanings, ranked_rows
from heapfit.cli.printing.screen import FIRST_SCREEN, Told, first_screen
from heapfit.comparison.incumbents.heaps import SYSTEM_HEAPS
from heapfit.design.effort import Effort
from heapfit.design.front.preference import Preference
from heapfit.fitting.answer import Answer
from heapfit.fitting.fit import Failure, Resources, fit, folder_for, folders_apart, try_fit
from heapfit.fitting.options import FitOptions
from heapfit.fitting.result import Fit, Run
from heapfit.plan.plan import LARGEST_REGION
from heapfit.plan.plan_file import MOST_MARGIN
from heapfit.report.heap.fit import write_report
from heapfit.sweep import Sweep

_Output: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="Folder to write to; with --each, every source has its own in it [out/NAME].",
    ),
]
_Peak: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--peak",
        metavar="BYTES",
        min=1,
        max=LARGEST_REGION,
        help="Live bytes that the heap must hold, where the load will grow [the recorded peak].",
    ),
]
_Margin: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--margin",
        metavar="PERCENT",
        min=0,
        max=MOST_MARGIN,
        help="Percent to add for what other runs need [as measured: docs/margin.md].",
    ),
]
_Pools: TypeAlias = Annotated[
    bool,
    typer.Option("--pools", help="Choose pools and budgets, too, counted on these recordings."),
]
_Each: TypeAlias = Annotated[
    bool, typer.Option("--each", help="Fit a heap to each source apart, not one to all.")
]
_Now: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--now",
        metavar="HEAP",
        help="The heap you have today, which is kept if it does as well: "
        f"{', '.join(SYSTEM_HEAPS)} (heap_5:SIZE,SIZE with its regions; docs/now.md).",
    ),
]

_Every: TypeAlias = Annotated[
    bool, typer.Option("--all", help="Print every heap that was tried, and each recording.")
]
_Verbose: TypeAlias = Annotated[
    bool, typer.Option("--verbose", help="Print the reasons, what figures mean, all warnings.")
]
_Cache: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Folder that keeps what replays of several recordings came to, for the next time."
    ),
]


def command(
    sources: Sources,
    output: _Output = None,
    peak: _Peak = None,
    margin: _Margin = None,
    pools: _Pools = False,
    each: _Each = False,
    now: _Now = None,
    every: _Every = False,
    verbose: _Verbose = False,
    programs: Programs = None,
    prefer: Prefer = None,
    effort: EffortOption = Effort.STANDARD,
    exact: Exact = False,
    alignment: AlignmentOption = Alignment.BYTES_8,
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
    if prefer is not None and prefer is not Preference.RAM and len(sources) > 1 and not each:
        raise typer.BadParameter("--prefer takes one recording, or several apart (--each)")
    options = FitOptions(
        alignment=int(alignment),
        importing=import_options(queue, drop_unknown, pointer_bits),
        prefer=prefer or Preference.RAM,
        call_sites=call_sites,
        sized=sized,
        pools=pools,
        peak=peak,
        margin=margin,
        exact=exact,
        effort=effort,
        whole=every,
        now=now,
        kept=_folder(cache),
        programs=tuple(programs or []),
    )
    outcomes, told = [], Told(every_row=every, reasons=verbose)
    for outcome in _fits(_Wanted(sources, output, each, workers, cluster), options):
        outcomes.append(outcome)
        if not as_json:
            out_text(_parts(outcome, told))
    _close(outcomes, told, as_json)


def _folder(cache: Path | None) -> Path | None:
    if cache is not None and cache.exists() and not cache.is_dir():
        raise typer.BadParameter(f"--cache {cache}: is not a folder")
    return cache


def _close(outcomes: Sequence[Fit | Failure], told: Told, as_json: bool) -> None:
    """All as JSON, or a line for each of several; exit status 1 if one of them failed."""
    if as_json:
        console.out_json({"fits": [content_of(_parts(one, told)) for one in outcomes]})
    if len(outcomes) > 1 and not as_json:
        out_text(_closing(outcomes))
    if any(isinstance(outcome, Failure) for outcome in outcomes):
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be fitted, whether each source apart, and by whom."""

    sources: Sequence[Path]
    output: Path | None
    each: bool
    workers: int | None
    cluster: str | None


def _fits(wanted: _Wanted, options: FitOptions) -> Iterator[Fit | Failure]:
    """One after the other, so that each can be printed as soon as it is there."""
    sources, output = wanted.sources, wanted.output
    if not wanted.each or len(sources) == 1:
        folder = folder_for(sources, output)
        with progress_bar() as progress, Sweep(wanted.workers, wanted.cluster) as sweep:
            resources = Resources(sweep, write_report)
            outcome = fit(sources, folder, options, progress, resources)
        yield outcome
        return
    for source, folder in zip(sources, folders_apart(sources, output), strict=True):
        with progress_bar() as progress:
            tried = try_fit(source, folder, options, progress, Resources(write_page=write_report))
        yield tried


def _parts(outcome: Fit | Failure, told: Told = FIRST_SCREEN) -> Iterator[Part]:
    if isinstance(outcome, Failure):
        yield Fields({"source": outcome.source, "error": outcome.reason})
        yield Note(outcome.reason, is_failure=True)
        return
    yield Fields({"source": outcome.source, "name": outcome.name, "trace": outcome.trace.info})
    yield from first_screen(outcome, told)
    if outcome.recalled:
        yield Line(
            f"{outcome.recalled:,} of {len(outcome.runs):,} recordings were known from before."
        )
    yield from _answer(outcome.answer, outcome.suggestions)
    yield Fields({"verdict": outcome.verdict, "warnings": outcome.warnings})
    if told.every_row:
        yield Line("")
    yield from shown_if(told.every_row, _runs(outcome))
    yield from shown_if(told.every_row, ranked_rows(outcome.comparison))
    if told.reasons:
        yield Line("")
    yield from shown_if(told.reasons, _reasons(outcome))


def _reasons(outcome: Fit) -> Iterator[Part]:
    """Why this plan, what the figures mean, and what was left out."""
    yield from paragraph(outcome.verdict)
    yield from meanings(outcome.comparison, outcome.work)
    if outcome.suggestions:
        yield from paragraph(
            f"What would make the answer firmer: {'; '.join(outcome.suggestions)}."
        )
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
    """In both heaps where there is one today; each recording over its own peak."""
    if outcome.today is not None:
        yield from beside_today(outcome.today)
    if len(outcome.runs) > 1:
        columns: list[Column[Run]] = [
            Column("name", "recording"),
            Column("u_max", "U_max"),
            Column("r_safe", "R_safe"),
            Column("over_u_max", "over its U_max"),
        ]
        if outcome.today is not None:  # which has shown each recording in both heaps
            columns = [column.under("") for column in columns]
        yield Table(columns, outcome.runs, "runs")
        yield Line("")


def _closing(outcomes: Sequence[Fit | Failure]) -> Iterator[Part]:
    """One line for each source, in the order given."""
    yield Line("")
    columns: list[Column[Fit | Failure]] = [
        Column(heading="source", shown=lambda one: one.source.name)
    ]
    columns += [
        _of_fit("peak", lambda one: one.answer.size.peak),
        _of_fit("best", lambda one: one.winner.name, "failed"),
        _of_fit("R_safe", lambda one: one.winner.r_safe),
        _of_fit("over U_max", lambda one: one.winner.over_u_max),
        _of_fit("set to", lambda one: one.answer.size.region),
    ]
    yield Table(columns, outcomes)


def _of_fit(
    heading: str, shown: Callable[[Fit], object], otherwise: str | None = None
) -> Column[Fit | Failure]:
    return Column(
        heading=heading,
        shown=lambda one: otherwise if isinstance(one, Failure) else shown(one),
    )
