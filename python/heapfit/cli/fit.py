# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit`: the main job, on one source or on many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from heapfit.cli.arguments import (
    STANDARD_QUEUE,
    Alignment,
    AlignmentOption,
    AsJson,
    CallSites,
    DropUnknown,
    PointerBitsOption,
    Prefer,
    Queue,
    Sources,
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
)
from heapfit.cli.printing.progress import progress_bars
from heapfit.cli.printing.ranking import ranking
from heapfit.fit_result import Fit
from heapfit.fitting import Failure, FitOptions, fit, folders_for, try_fit
from heapfit.front.preference import Preference


def command(
    sources: Sources,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Folder to write to; of several sources, each has its own in it [out/NAME].",
        ),
    ] = None,
    prefer: Prefer = None,
    alignment: AlignmentOption = Alignment.BYTES_8,
    queue: Queue = STANDARD_QUEUE,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    call_sites: CallSites = False,
    as_json: AsJson = False,
) -> None:
    """Fit a heap: measure candidate designs, write the best one's plan, C code and report."""
    importing = import_options(queue, drop_unknown, pointer_bits)
    options = FitOptions(int(alignment), importing, prefer or Preference.MEMORY, call_sites)
    fit_one = fit if len(sources) == 1 else try_fit
    outcomes: list[Fit | Failure] = []
    for source, folder in zip(sources, folders_for(sources, output), strict=True):
        with progress_bars() as progress:
            outcomes.append(fit_one(source, folder, options, progress))
        if not as_json:
            out_text(_parts(outcomes[-1]))
    if as_json:
        console.out_json({"fits": [content_of(_parts(one)) for one in outcomes]})
    elif len(outcomes) > 1:
        out_text(_closing(outcomes))
    if any(isinstance(outcome, Failure) for outcome in outcomes):
        raise typer.Exit(1)


def _parts(outcome: Fit | Failure) -> Iterator[Part]:
    yield Fields({"source": outcome.source})
    if isinstance(outcome, Failure):
        yield Fields({"error": outcome.reason})
        yield Note(console.failure_line(outcome.reason))
        return
    yield Fields({"name": outcome.name, "trace": outcome.trace.info})
    profile = outcome.profile
    yield Line(
        f"{outcome.name}: {profile.events:,} events, {len(profile.sizes):,} sizes, "
        f"U_max {profile.u_max:,} B"
    )
    yield from ranking(outcome.comparison)
    yield Fields({"verdict": outcome.verdict, "warnings": outcome.warnings})
    yield Line(outcome.verdict)
    yield Fields({"paths": outcome.paths})
    for name in ("plan", "code", "report", "trace"):
        yield Line(f"{name:7}{getattr(outcome.paths, name)}")
    yield from map(Note, outcome.warnings)


def _closing(outcomes: Sequence[Fit | Failure]) -> Iterator[Part]:
    """One line for each source, in the order given."""
    yield Line("")
    columns: list[Column[Fit | Failure]] = [
        Column(heading="source", shown=lambda one: one.source.name)
    ]
    columns += [
        _of_fit("U_max", lambda one: one.comparison.u_max),
        _of_fit("best", lambda one: one.winner.name, "failed"),
        _of_fit("R_safe", lambda one: one.winner.r_safe),
        _of_fit("over U_max", lambda one: one.winner.over_u_max),
    ]
    yield Table(columns, outcomes)


def _of_fit(
    heading: str, shown: Callable[[Fit], object], otherwise: str | None = None
) -> Column[Fit | Failure]:
    return Column(
        heading=heading,
        shown=lambda one: otherwise if isinstance(one, Failure) else shown(one),
    )
