# SPDX-License-Identifier: Apache-2.0
"""`heapfit compare`: allocators and plans side by side on one trace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heapfit import _engine
from heapfit.cli import console
from heapfit.cli.arguments import (
    STANDARD_QUEUE,
    Alignment,
    AlignmentOption,
    AsJson,
    DropUnknown,
    PointerBitsOption,
    Queue,
    Source,
    import_options,
)
from heapfit.cli.opened_trace import opened_trace
from heapfit.cli.ranking import print_ranking, ranking_json

_NAMES = ", ".join(info.name for info in _engine.allocators())


def command(
    source: Source,
    allocators: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"NAME or NAME:TUNABLE=VALUE,... with NAME one of {_NAMES}. Pools are made from "
            "the trace. Without any, and without a plan: all that fit tries."
        ),
    ] = None,
    plans: Annotated[
        list[Path] | None, typer.Option("--plan", help="A plan file; may be given many times.")
    ] = None,
    alignment: AlignmentOption = Alignment.BYTES_8,
    queue: Queue = STANDARD_QUEUE,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    as_json: AsJson = False,
) -> None:
    """Rank allocators and plans by the smallest region in which each serves a trace."""
    from heapfit.comparison import compare
    from heapfit.design.candidates import named_portfolio, standard_portfolio
    from heapfit.design.workload import load_workload
    from heapfit.plan import load_plan

    plan_files = [load_plan(path) for path in plans or []]
    importing = import_options(queue, drop_unknown, pointer_bits)
    with (
        console.progress() as progress,
        opened_trace(source, importing, progress) as trace,
    ):
        workload = load_workload(trace, int(alignment), progress)
        portfolio = (
            named_portfolio(workload, allocators or [], plan_files)
            if allocators or plan_files
            else standard_portfolio(workload)
        )
        comparison = compare(workload, portfolio, progress)
    if as_json:
        console.out_json(ranking_json(comparison))
    else:
        print_ranking(comparison)
