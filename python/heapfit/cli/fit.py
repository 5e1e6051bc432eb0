# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit`: the main job, on one source or on many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

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
from heapfit.cli.printing.ranking import print_ranking, ranking_json
from heapfit.fit import Failure, FitOptions, fit, folders_for, try_fit
from heapfit.fit_result import Fit
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
        with console.progress() as progress:
            outcomes.append(fit_one(source, folder, options, progress))
        if not as_json:
            _print(outcomes[-1])
    if as_json:
        console.out_json({"fits": [_json(outcome) for outcome in outcomes]})
    elif len(outcomes) > 1:
        _print_closing(outcomes)
    if any(isinstance(outcome, Failure) for outcome in outcomes):
        raise typer.Exit(1)


def _print(outcome: Fit | Failure) -> None:
    if isinstance(outcome, Failure):
        console.fail(outcome.reason)
        return
    profile = outcome.profile
    console.out(
        f"{outcome.name}: {profile.events:,} events, {len(profile.sizes):,} sizes, "
        f"U_max {profile.u_max:,} B"
    )
    print_ranking(outcome.comparison)
    console.out(outcome.verdict)
    for name in ("plan", "code", "report", "trace"):
        console.out(f"{name:7}{getattr(outcome.paths, name)}")
    for warning in outcome.warnings:
        console.note(warning)


def _print_closing(outcomes: Sequence[Fit | Failure]) -> None:
    """One line for each source, in the order given."""
    console.out("")
    console.out_table(
        ("source", "U_max", "best", "R_safe", "over U_max"),
        [
            (outcome.source.name, None, "failed", None, None)
            if isinstance(outcome, Failure)
            else (
                outcome.source.name,
                outcome.comparison.u_max,
                outcome.winner.name,
                outcome.winner.r_safe,
                outcome.winner.over_u_max,
            )
            for outcome in outcomes
        ],
    )


def _json(outcome: Fit | Failure) -> dict[str, Any]:
    if isinstance(outcome, Failure):
        return {"source": str(outcome.source), "error": outcome.reason}
    return {
        "source": str(outcome.source),
        "name": outcome.name,
        "trace": asdict(outcome.trace.info),
        **ranking_json(outcome.comparison),
        "verdict": outcome.verdict,
        "warnings": list(outcome.warnings),
        "paths": {name: str(path) for name, path in asdict(outcome.paths).items()},
    }
