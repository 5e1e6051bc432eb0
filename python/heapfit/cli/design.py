# SPDX-License-Identifier: Apache-2.0
"""`heapfit design`: every candidate plan of one or more traces, measured, each as a plan file."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from heapfit.cli.arguments import (
    STANDARD_QUEUE,
    Alignment,
    AlignmentOption,
    AsJson,
    CallSites,
    ClusterAddress,
    DropUnknown,
    PointerBitsOption,
    Queue,
    Seed,
    Sources,
    Workers,
    import_options,
)
from heapfit.cli.opened_trace import opened_trace
from heapfit.cli.printing import console
from heapfit.cli.printing.class_table import classes_json, print_classes
from heapfit.cli.printing.ranking import print_ranking, ranking_json
from heapfit.cli.printing.robust import print_robust, robust_json
from heapfit.compare.comparison import Row
from heapfit.compare.verdict import chosen_row, pools_warning, verdict
from heapfit.design.budgets.choice import (
    STANDARD_BUDGETS,
    STANDARD_SEARCH,
    STANDARD_SECONDS,
    BudgetChoice,
    Method,
)
from heapfit.design.plan_files import Designs, design
from heapfit.design.robust.design import RobustOptions, design_robust
from heapfit.design.robust.objective import parse_objective
from heapfit.design.robust.plan_files import save_robust_plans
from heapfit.importers import ImportOptions
from heapfit.sweep import Sweep
from heapfit.trace.names import different_names, source_name
from heapfit.workloads.drawn_set import draw_set


def command(
    sources: Sources,
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
        int | None,
        typer.Option(
            "--search",
            min=0,
            help="Million events to replay in a search for a small R_safe "
            f"[{STANDARD_SEARCH // 1_000_000} for one trace, 0 for several].",
        ),
    ] = None,
    seed: Seed = 1,
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            metavar="max|q90|...",
            help="Of several traces: the most that any needs, or a quantile of what they need.",
        ),
    ] = "max",
    folds: Annotated[
        int,
        typer.Option(
            "--folds",
            min=0,
            help="Of several traces: parts left out by turns to be measured unseen; 0: none.",
        ),
    ] = 4,
    draw: Annotated[
        int,
        typer.Option(
            "--draw",
            min=0,
            max=10_000,
            help="With one trace: draw so many others from it, for a design as for several.",
        ),
    ] = 0,
    queue: Queue = STANDARD_QUEUE,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    call_sites: CallSites = False,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    as_json: AsJson = False,
) -> None:
    """Make every candidate plan for the traces, measure it, and write it as a plan file."""
    methods = STANDARD_BUDGETS.methods if method is None else (method,)
    standard = STANDARD_SEARCH if len(sources) == 1 else 0
    events = standard if search is None else search * 1_000_000
    choice = BudgetChoice(methods, seconds, events, seed)
    options = RobustOptions(int(alignment), choice, call_sites, parse_objective(objective), folds)
    importing = import_options(queue, drop_unknown, pointer_bits)
    if draw and len(sources) > 1:
        raise typer.BadParameter("--draw takes one trace")
    if len(sources) == 1 and not draw:
        _for_one(sources, output, options, importing, as_json)
        return
    with Sweep(workers, cluster) as sweep:
        _for_several(sources, draw, output, options, importing, sweep, as_json)


def _for_one(
    sources: list[Path],
    output: Path | None,
    options: RobustOptions,
    importing: ImportOptions,
    as_json: bool,
) -> None:
    (source,) = sources
    name = source_name(source)
    with (
        console.progress() as progress,
        opened_trace(source, importing, progress) as trace,
    ):
        folder = output or Path("out") / name / "plans"
        designs = design(trace, name, folder, options, progress)
    if as_json:
        console.out_json(_json(designs))
    else:
        _print(designs)


def _json(designs: Designs) -> dict[str, Any]:
    return {
        **ranking_json(designs.comparison),
        "verdict": verdict(designs.comparison),
        "plans": [str(path) for path in designs.paths],
        "classes": classes_json(designs.classes, designs.rule),
    }


def _print(designs: Designs) -> None:
    print_ranking(designs.comparison)
    console.out(verdict(designs.comparison))
    warning = pools_warning(chosen_row(designs.comparison), designs.comparison)
    if warning is not None:
        console.note(warning)
    for row, path in zip(designs.comparison.rows, designs.paths, strict=True):
        console.out(f"{path}: {row.reason}; {_pools(row)}")
    print_classes(designs.classes, designs.rule, designs.comparison.u_max)


def _for_several(
    sources: list[Path],
    draw: int,
    output: Path | None,
    options: RobustOptions,
    importing: ImportOptions,
    sweep: Sweep,
    as_json: bool,
) -> None:
    beside = f"{draw}-drawn" if draw else f"{len(sources) - 1}-more"
    name = f"{source_name(sources[0])}-and-{beside}"
    with console.progress() as progress, ExitStack() as opened:
        traces = [
            opened.enter_context(opened_trace(source, importing, progress)) for source in sources
        ]
        names = different_names(sources)
        drawn = None
        if draw:
            made = opened.enter_context(tempfile.TemporaryDirectory(prefix="heapfit-"))
            drawn = draw_set(traces[0], draw, options.choice.seed, Path(made), progress)
            traces += drawn.traces
            names += [f"{names[0]}, drawn with seed {drawn.seed + i}" for i in range(draw)]
        designs = design_robust(traces, options, progress, sweep)
    folder = output or Path("out") / name / "plans"
    paths = save_robust_plans(designs, name, names, folder)
    if as_json:
        console.out_json(robust_json(designs, paths, drawn))
    else:
        print_robust(designs, paths, drawn)


def _pools(row: Row) -> str:
    pools = [f"{pool.count:,} x {pool.size:,} B" for pool in row.plan.pools]
    return ", ".join(pools) or "no pools"
