# SPDX-License-Identifier: Apache-2.0
"""`heapfit design`: every candidate plan of one or more traces, measured, each as a plan file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
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
    Programs,
    Queue,
    ReportPage,
    Seed,
    Sized,
    Sources,
    Workers,
    import_options,
    typed_command,
)
from heapfit.cli.printing.class_table import class_table
from heapfit.cli.printing.parts import Fields, Group, Line, Note, Part, out_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.printing.ranking import ranking
from heapfit.cli.printing.robust import robust_table
from heapfit.cli.printing.verdict import said_of, verdict_first
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import chosen_row, pools_warning
from heapfit.design.budgets.choice import (
    STANDARD_SEARCH,
    STANDARD_SECONDS,
    BudgetChoice,
    Method,
)
from heapfit.design.effort import Effort, budgets_of
from heapfit.design.plan_files import Designs, design
from heapfit.design.robust.design import (
    RobustDesigns,
    RobustOptions,
    design_robust,
    save_robust_plans,
)
from heapfit.design.robust.objective import parse_objective
from heapfit.importers import ImportOptions, opened_trace
from heapfit.importers.source import STANDARD_QUEUE
from heapfit.sweep import Sweep
from heapfit.trace.names import different_names, source_name
from heapfit.trace.stored import Trace
from heapfit.workloads.drawn_set import draw_set

_Output: TypeAlias = Annotated[
    Path | None, typer.Option("-o", "--output", help="Folder for the plans [out/NAME/plans].")
]
_Method: TypeAlias = Annotated[
    Method | None, typer.Option("--budgets", help="The way budgets are found [greedy and exact].")
]
_Seconds: TypeAlias = Annotated[
    float,
    typer.Option(
        "--seconds",
        min=0.1,
        help="Time for the exact budgets of one selection; after it a gap is printed.",
    ),
]
_Search: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--search",
        min=0,
        help="Million events to replay in a search for a small R_safe "
        f"[{STANDARD_SEARCH // 1_000_000} for one trace, 0 for several].",
    ),
]
_Objective: TypeAlias = Annotated[
    str,
    typer.Option(
        "--objective",
        metavar="max|q90|...",
        help="What counts of several traces: the most that any needs, or a quantile.",
    ),
]
_Folds: TypeAlias = Annotated[
    int,
    typer.Option(
        "--folds",
        min=0,
        help="Parts of several traces that are left out by turns and measured unseen; 0: none.",
    ),
]
_Draw: TypeAlias = Annotated[
    int,
    typer.Option(
        "--draw",
        min=0,
        max=10_000,
        help="Draw so many others from the one trace, and design for all of them.",
    ),
]


# What takes how much of the time, measured on two recordings of programs and on three of
# examples/check.
_ONE = {"import": 3, "read events": 2, "learn placement": 12, "where to begin": 2, "compare": 22}
_SEARCH = 60  # of STANDARD_SEARCH, beside these
_SEVERAL = {"import": 2, "make plans": 40, "measure": 54, "try margins": 3}


def command(
    sources: Sources,
    output: _Output = None,
    alignment: AlignmentOption = Alignment.BYTES_8,
    method: _Method = None,
    seconds: _Seconds = STANDARD_SECONDS,
    search: _Search = None,
    seed: Seed = 1,
    objective: _Objective = "max",
    folds: _Folds = 4,
    effort: EffortOption = Effort.STANDARD,
    exact: Exact = False,
    draw: _Draw = 0,
    report: ReportPage = None,
    programs: Programs = None,
    queue: Queue = STANDARD_QUEUE,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    call_sites: CallSites = False,
    sized: Sized = False,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    as_json: AsJson = False,
) -> None:
    """Make every candidate plan for the traces, measure it, and write it as a plan file."""
    if draw and len(sources) > 1:
        raise typer.BadParameter("--draw takes one trace")
    asked = _Asked(method, seconds, search, seed)
    options = RobustOptions(
        alignment=int(alignment),
        choice=_budgets(asked, effort, len(sources)),
        call_sites=call_sites,
        sized=sized,
        exact=exact,
        effort=effort,
        objective=parse_objective(objective),
        folds=folds,
    )
    importing = import_options(queue, drop_unknown, pointer_bits)
    written = _Written(output, report, tuple(programs or []))
    if len(sources) == 1 and not draw:
        parts = _for_one(sources[0], written, options, importing)
        out_result(parts, as_json)
        return
    with Sweep(workers, cluster) as sweep:
        parts = _for_several(_Several(tuple(sources), draw, written), options, importing, sweep)
        out_result(parts, as_json)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the user says of budgets; None: nothing."""

    method: Method | None
    seconds: float
    search: int | None  # million events
    seed: int


def _budgets(asked: _Asked, effort: Effort, sources: int) -> BudgetChoice:
    """As asked; else what the effort has, and of one trace a search that stands apart."""
    usual = budgets_of(effort)
    events = usual.replayed_events
    if effort == Effort.STANDARD and sources == 1:
        events = STANDARD_SEARCH
    if asked.search is not None:
        events = asked.search * 1_000_000
    methods = usual.methods if asked.method is None else (asked.method,)
    return BudgetChoice(methods, asked.seconds, events, asked.seed)


@dataclass(frozen=True, slots=True)
class _Written:
    """What is written, and where."""

    plans: Path | None
    report: Path | None
    programs: tuple[Path, ...]  # for the names of call sites in the report

    def folder(self, name: str) -> Path:
        """Of the plans."""
        return self.plans or Path("out") / name / "plans"


def _for_one(
    source: Path, written: _Written, options: RobustOptions, importing: ImportOptions
) -> Iterator[Part]:
    name = source_name(source)
    weights = _ONE | {"search budgets": _SEARCH * options.budgets.replayed_events / STANDARD_SEARCH}
    with progress_bar(weights) as progress, opened_trace(source, importing, progress) as trace:
        designs = design(trace, name, written.folder(name), options, progress)
        _write_page(designs, (trace,), (name,), options, written)
    yield from _parts(designs, options.effort)


def _write_page(
    designs: Designs | RobustDesigns,
    traces: Sequence[Trace],
    names: Sequence[str],
    options: RobustOptions,
    written: _Written,
) -> None:
    """While the traces are there; nothing where no page is asked for."""
    if written.report is None:
        return
    from heapfit.report.heap import design as page  # jinja2 takes long to load

    asked = page.Asked(options.alignment, options.precision, written.programs, typed_command())
    if isinstance(designs, Designs):
        page.write_design_page(written.report, designs, traces[0], asked)
    else:
        page.write_robust_page(written.report, page.Several(designs, traces, names), asked)


def _parts(designs: Designs, effort: Effort) -> Iterator[Part]:
    comparison = designs.comparison
    yield from verdict_first(comparison, effort)
    yield from ranking(comparison)
    yield Fields({"plans": designs.paths})
    warning = pools_warning(chosen_row(comparison), comparison)
    if warning is not None:
        yield Note(warning)
    for row, path in zip(comparison.rows, designs.paths, strict=True):
        yield Line(str(path), is_copied=True)
        yield Line(f"  {row.reason}; {_pools(row)}")
    yield Group("classes", class_table(designs.classes, designs.rule, comparison.u_max))


@dataclass(frozen=True, slots=True)
class _Several:
    """What is asked for where there is more than one trace."""

    sources: tuple[Path, ...]
    draw: int  # traces to be drawn from the one there is
    written: _Written

    def name(self) -> str:
        """Of the design, for people."""
        beside = f"{self.draw}-drawn" if self.draw else f"{len(self.sources) - 1}-more"
        return f"{source_name(self.sources[0])}-and-{beside}"


def _for_several(
    several: _Several, options: RobustOptions, importing: ImportOptions, sweep: Sweep
) -> Iterator[Part]:
    with progress_bar(_SEVERAL) as progress, ExitStack() as opened:
        traces = [
            opened.enter_context(opened_trace(source, importing, progress))
            for source in several.sources
        ]
        names = different_names(several.sources)
        drawn = None
        if several.draw:
            made = opened.enter_context(tempfile.TemporaryDirectory(prefix="heapfit-"))
            drawn = draw_set(traces[0], several.draw, options.budgets.seed, Path(made), progress)
            traces += drawn.traces
            names += [f"{names[0]}, drawn with seed {drawn.seed + i}" for i in range(several.draw)]
        designs = design_robust(traces, options, progress, sweep)
        written = several.written
        paths = save_robust_plans(designs, several.name(), names, written.folder(several.name()))
        _write_page(designs, traces, names, options, written)
    yield from robust_table(designs, paths, drawn)
    yield from said_of(options.effort)


def _pools(row: Row) -> str:
    pools = [f"{pool.count:,} x {pool.size:,} B" for pool in row.plan.pools]
    return ", ".join(pools) or "no pools"
