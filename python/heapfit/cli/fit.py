# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit`: the main job, on one source or on many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from heapfit.cli.arguments import (
    Alignment,
    AlignmentOption,
    AsJson,
    CallSites,
    DropUnknown,
    Exact,
    PointerBitsOption,
    Prefer,
    QueueOfCapture,
    Sized,
    Sources,
    effort_of,
    import_options,
)
from heapfit.cli.printing import console
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
)
from heapfit.cli.printing.progress import progress_bars
from heapfit.cli.printing.ranking import ranking
from heapfit.cli.printing.today import beside_today
from heapfit.compare.today.heaps import SYSTEM_HEAPS
from heapfit.fit_result import Answer, Fit, FitOptions, Run
from heapfit.fitting.fit import Failure, fit, folder_for, folders_apart, try_fit
from heapfit.front.preference import Preference
from heapfit.plan.plan import LARGEST_REGION
from heapfit.plan.plan_file import MOST_MARGIN

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
        help="Live bytes to be ready for, where the load will grow [what was recorded].",
    ),
]
_Margin: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--margin",
        metavar="PERCENT",
        min=0,
        max=MOST_MARGIN,
        help="For what other runs need beyond that [as measured: docs/margin.md].",
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
        help=f"What you have today, to be kept if it does as well: {', '.join(SYSTEM_HEAPS)} "
        "(heap_5:SIZE,SIZE with its regions; docs/now.md).",
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
    prefer: Prefer = None,
    exact: Exact = False,
    alignment: AlignmentOption = Alignment.BYTES_8,
    queue: QueueOfCapture = None,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    call_sites: CallSites = False,
    sized: Sized = False,
    as_json: AsJson = False,
) -> None:
    """Fit a heap: say what to set it to, and write the best design's plan, C code and report."""
    if prefer is not None and prefer is not Preference.MEMORY and len(sources) > 1 and not each:
        raise typer.BadParameter("--prefer takes one recording, or several apart (--each)")
    options = FitOptions(
        alignment=int(alignment),
        importing=import_options(queue, drop_unknown, pointer_bits),
        prefer=prefer or Preference.MEMORY,
        call_sites=call_sites,
        sized=sized,
        pools=pools,
        peak=peak,
        margin=margin,
        effort=effort_of(exact),
        now=now,
    )
    outcomes: list[Fit | Failure] = []
    if each and len(sources) > 1:
        outcomes += _fit_each(sources, output, options, as_json)
    else:
        with progress_bars() as progress:
            outcomes.append(fit(sources, folder_for(sources, output), options, progress))
        if not as_json:
            out_text(_parts(outcomes[-1]))
    if as_json:
        console.out_json({"fits": [content_of(_parts(one)) for one in outcomes]})
    elif len(outcomes) > 1:
        out_text(_closing(outcomes))
    if any(isinstance(outcome, Failure) for outcome in outcomes):
        raise typer.Exit(1)


def _fit_each(
    sources: Sequence[Path], output: Path | None, options: FitOptions, as_json: bool
) -> Iterator[Fit | Failure]:
    """One after the other; each is printed as soon as it is there."""
    for source, folder in zip(sources, folders_apart(sources, output), strict=True):
        with progress_bars() as progress:
            outcome = try_fit(source, folder, options, progress)
        if not as_json:
            out_text(_parts(outcome))
        yield outcome


def _parts(outcome: Fit | Failure) -> Iterator[Part]:
    if isinstance(outcome, Failure):
        yield Fields({"source": outcome.source, "error": outcome.reason})
        yield Note(console.failure_line(outcome.reason))
        return
    yield Fields({"source": outcome.source, "name": outcome.name, "trace": outcome.trace.info})
    yield from _waiting(outcome)
    if outcome.today is not None:
        yield from beside_today(outcome.today)
    yield from _answer(outcome.answer, outcome.firmer)
    yield from _runs(outcome)
    yield from ranking(outcome.comparison)
    yield Fields({"verdict": outcome.verdict, "warnings": outcome.warnings})
    if outcome.today is None:
        yield from paragraph(outcome.verdict)
    yield Fields({"paths": outcome.paths})
    paths = outcome.paths
    for name, path in (("plan", paths.plan), ("code", paths.code), ("report", paths.report)):
        if path is not None:
            yield Line(f"{name:7}{path}")
    for path in paths.traces:
        yield Line(f"{'trace':7}{path}")
    yield from map(Note, outcome.warnings)


def _waiting(outcome: Fit) -> Iterator[Part]:
    """How long packets stay decides the heap: said first where the user did not."""
    info, given = outcome.trace.info, outcome.options.importing.queue
    if info.kind != "packets":
        return
    is_assumed = given is None and outcome.trace.path != outcome.source
    yield Fields({"queue": {"model": info.queue, "is_assumed": is_assumed}})
    if is_assumed:
        yield from paragraph(
            "Assumed, as a capture does not tell how long packets stay: 1,000 wait at once, then "
            f"all leave (--queue {info.queue}). The heap follows from that. Give what you know: "
            "your CPU's packets a second with --queue fifo:N, or the rate of a link that sends "
            "them with --queue link:BITS_PER_S."
        )
        yield Line("")


def _answer(answer: Answer, firmer: Sequence[str]) -> Iterator[Part]:
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
                "firmer": firmer,
            }
        }
    )
    for sentence in answer.sentences():
        yield from paragraph(sentence)
    if firmer:
        yield from paragraph(f"Firmer with: {'; '.join(firmer)}.")
    yield Line("")


def _runs(outcome: Fit) -> Iterator[Part]:
    """The recordings, each over its own peak; the one that is shown below."""
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
    profile = outcome.profile
    yield Line(
        f"{outcome.shown.name}: {profile.events:,} events, {len(profile.sizes):,} sizes, "
        f"U_max {profile.u_max:,} B"
    )


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
