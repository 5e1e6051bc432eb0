# SPDX-License-Identifier: Apache-2.0
"""`heapfit design`: every candidate plan of a trace, measured, as a plan file of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heapfit.cli import console
from heapfit.cli.arguments import (
    STANDARD_QUEUE,
    Alignment,
    AlignmentOption,
    AsJson,
    DropUnknown,
    PointerBitsOption,
    Queue,
    Seed,
    Source,
    import_options,
)
from heapfit.cli.class_table import classes_json, print_classes
from heapfit.cli.opened_trace import opened_trace
from heapfit.cli.ranking import print_ranking, ranking_json
from heapfit.design.budget_choice import (
    STANDARD_BUDGETS,
    STANDARD_SECONDS,
    BudgetChoice,
    Method,
)

if TYPE_CHECKING:
    from heapfit.comparison import Row
    from heapfit.design.plans import Designs


def command(
    source: Source,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for the plans [out/NAME/plans].")
    ] = None,
    alignment: AlignmentOption = Alignment.BYTES_8,
    method: Annotated[
        Method | None,
        typer.Option("--budgets", help="How budgets are found [greedy and exact]."),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds", min=0.1, help="For exact budgets of one selection; then a gap is told."
        ),
    ] = STANDARD_SECONDS,
    search: Annotated[
        int,
        typer.Option(
            "--search",
            min=0,
            help="Million events to replay in a search for budgets of a small R_safe.",
        ),
    ] = 0,
    seed: Seed = 1,
    queue: Queue = STANDARD_QUEUE,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    as_json: AsJson = False,
) -> None:
    """Make every candidate plan for a trace, measure it, and write it as a plan file."""
    from heapfit.design.plans import design
    from heapfit.source_name import source_name

    name = source_name(source)
    methods = STANDARD_BUDGETS.methods if method is None else (method,)
    importing = import_options(queue, drop_unknown, pointer_bits)
    with (
        console.progress() as progress,
        opened_trace(source, importing, progress) as trace,
    ):
        folder = output or Path("out") / name / "plans"
        choice = BudgetChoice(methods, seconds, search * 1_000_000, seed)
        designs = design(trace, name, folder, int(alignment), choice, progress)
    if as_json:
        console.out_json(_json(designs))
    else:
        _print(designs)


def _json(designs: Designs) -> dict[str, Any]:
    return {
        **ranking_json(designs.comparison),
        "plans": [str(path) for path in designs.paths],
        "classes": classes_json(designs.classes, designs.rule),
    }


def _print(designs: Designs) -> None:
    print_ranking(designs.comparison)
    for row, path in zip(designs.comparison.rows, designs.paths, strict=True):
        console.out(f"{path}: {row.reason}; {_pools(row)}")
    print_classes(designs.classes, designs.rule, designs.comparison.u_max)


def _pools(row: Row) -> str:
    pools = [f"{pool.count:,} x {pool.size:,} B" for pool in row.plan.pools]
    return ", ".join(pools) or "no pools"
