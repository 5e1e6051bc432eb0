# SPDX-License-Identifier: Apache-2.0
"""`heapfit compare`: allocators and plans side by side, on one trace or on many."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from heapfit import _engine
from heapfit.cli.arguments import (
    STANDARD_QUEUE,
    Alignment,
    AlignmentOption,
    AsJson,
    ClusterAddress,
    DropUnknown,
    PointerBitsOption,
    Queue,
    Seed,
    Workers,
    import_options,
)
from heapfit.cli.opened_trace import opened_trace
from heapfit.cli.printing import console
from heapfit.cli.printing.matrix import matrix_json, print_matrix
from heapfit.cli.printing.ranking import print_low_level, print_ranking, ranking_json
from heapfit.compare.comparison import Comparison
from heapfit.compare.jobs import Contestants, Source
from heapfit.compare.matrix import Matrix, compare_traces
from heapfit.design.portfolio import contested_portfolio
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions
from heapfit.plan.energy import Sram, load_sram
from heapfit.plan.plan_file import load_plan
from heapfit.plan.values import all_or_named
from heapfit.progress import Progress
from heapfit.sweep import Sweep
from heapfit.trace.names import source_name
from heapfit.workloads.synthetic import parse_workloads

LARGEST_STEP = 1 << 30  # bytes
_NAMES = ", ".join(info.name for info in _engine.allocators())
_WORKLOADS = ", ".join(info.name for info in _engine.workloads())


def command(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TRACE|ALLOCATOR",
            help="Traces, stored or to be imported first; and NAME or NAME:TUNABLE=VALUE,... with "
            f"NAME one of {_NAMES}. Pools are made from the trace. Without any allocator, and "
            "without a plan: all that fit tries.",
        ),
    ] = None,
    allocators: Annotated[
        list[str] | None,
        typer.Option("--allocators", help="More of them, parted by commas; all: every one."),
    ] = None,
    workloads: Annotated[
        list[str] | None,
        typer.Option(
            "--workloads",
            help=f"Synthetic ones beside the traces, parted by commas: NAME or "
            f"NAME:PARAMETER=VALUE,... with NAME one of {_WORKLOADS}; all: every one.",
        ),
    ] = None,
    seed: Seed = 1,
    plans: Annotated[
        list[Path] | None, typer.Option("--plan", help="A plan file; may be given many times.")
    ] = None,
    alignment: AlignmentOption = Alignment.BYTES_8,
    granularity: Annotated[
        str | None,
        typer.Option(
            "--granularity",
            metavar="2^k",
            help="Tell R_max also in steps of a low-level allocator such as sbrk: 64K, 1M, ...",
        ),
    ] = None,
    accesses: Annotated[
        bool,
        typer.Option("--accesses", help="With many traces, tell accesses and energy as well."),
    ] = False,
    sram: Annotated[
        Path | None,
        typer.Option("--sram", help="Energy of an access by memory size (docs/energy.md)."),
    ] = None,
    queue: Queue = STANDARD_QUEUE,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    as_json: AsJson = False,
) -> None:
    """Rank allocators and plans by the smallest region in which each serves a trace."""
    sources, named = _sorted_out(words or [])
    named += all_or_named(allocators or [], [info.name for info in _engine.allocators()])
    specs = parse_workloads(workloads or [], seed)
    if not sources and not specs:
        raise typer.BadParameter("give a trace, or --workloads")
    step = None if granularity is None else _step(granularity)
    table = load_sram(sram)
    plan_files = tuple(load_plan(path) for path in plans or [])
    contestants = Contestants(tuple(named), plan_files, int(alignment))
    importing = import_options(queue, drop_unknown, pointer_bits)
    with console.progress() as progress, Sweep(workers, cluster) as sweep, ExitStack() as opened:
        compared = _opened(opened, sources, importing, progress)
        compared += [(spec.label, spec) for spec in specs]
        matrix = compare_traces(compared, contestants, contested_portfolio, sweep, progress)
    if as_json:
        drawn = {"seed": seed} if specs else {}
        console.out_json({**drawn, **_json(matrix, table, step)})
        return
    if len(matrix.columns) == 1:
        _print_one(matrix.columns[0].comparison, table, step)
    else:
        print_matrix(matrix, step, table, accesses)
    if specs:
        console.out(f"Seed of the synthetic workloads: {seed}.")


def _sorted_out(words: list[str]) -> tuple[list[Path], list[str]]:
    """The traces and the allocators among the words; an allocator's name is no file's."""
    known = {info.name for info in _engine.allocators()}
    named = [word for word in words if word.partition(":")[0] in known]
    sources = [Path(word) for word in words if word not in named]
    for source in sources:
        if not source.exists():
            raise HeapfitError(f"{source}: no such allocator (one of {_NAMES}), and no such file")
    return sources, named


def _step(granularity: str) -> int:
    """64K as 65536."""
    told = re.fullmatch(r"([0-9]{1,10})([KM]?)", granularity)
    step = int(told[1]) * {"": 1, "K": 1 << 10, "M": 1 << 20}[told[2]] if told else 0
    if step < 1 or step & (step - 1) or step > LARGEST_STEP:
        raise typer.BadParameter(f"{granularity} is no power of two up to 1024M")
    return step


def _opened(
    opened: ExitStack, sources: list[Path], importing: ImportOptions, progress: Progress
) -> list[tuple[str, Source]]:
    """Each trace with its name; those that had to be imported are there until `opened` ends."""
    return [
        (source_name(source), opened.enter_context(opened_trace(source, importing, progress)))
        for source in sources
    ]


def _json(matrix: Matrix, sram: Sram, step: int | None) -> dict[str, Any]:
    if len(matrix.columns) == 1:
        return ranking_json(matrix.columns[0].comparison, sram, step)
    return matrix_json(matrix, sram, step)


def _print_one(comparison: Comparison, sram: Sram, step: int | None) -> None:
    print_ranking(comparison, sram)
    if step is not None:
        print_low_level(comparison, step)
