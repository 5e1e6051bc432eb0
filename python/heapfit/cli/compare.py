# SPDX-License-Identifier: Apache-2.0
"""`heapfit compare`: allocators and plans side by side, on one trace or on many."""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from heapfit import _engine
from heapfit.checks.margin import planned_peak
from heapfit.checks.run import Run, run_on
from heapfit.cli.arguments import (
    Alignment,
    AlignmentOption,
    AsJson,
    ClusterAddress,
    DropUnknown,
    Exact,
    PointerBits,
    PointerBitsOption,
    Programs,
    Queue,
    ReportPage,
    Seed,
    SramFile,
    Workers,
    import_options,
    precision_of,
    typed_command,
)
from heapfit.cli.printing.check import run_told
from heapfit.cli.printing.matrix import MatrixOptions, matrix_table
from heapfit.cli.printing.parts import Column, Fields, Line, Part, Table, out_result
from heapfit.cli.printing.plugins import LabelledRow, plugin_parts
from heapfit.cli.printing.progress import whole_bar
from heapfit.cli.printing.ranking import low_level, ranking
from heapfit.comparison.incumbents.heaps import heap_names, is_heap
from heapfit.comparison.jobs import Contestants
from heapfit.comparison.matrix import Matrix, compare_traces
from heapfit.design.portfolio import contested_portfolio
from heapfit.errors import HeapfitError, meant, no_such_file
from heapfit.importers import opened_trace
from heapfit.importers.file_kind import Kind, is_path, require_kind
from heapfit.importers.source import STANDARD_QUEUE
from heapfit.league.board import Board, counted_rows, read_board, require_same_sources
from heapfit.plan.energy import load_sram
from heapfit.plan.plan_file import PlanFile, load_plan
from heapfit.plan.values import all_or_named
from heapfit.plugin import Plugin, build, measure, plugin_of
from heapfit.progress import Progress
from heapfit.sweep import Sweep
from heapfit.trace.content import content_hash
from heapfit.trace.names import source_name
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import WorkloadSpec, generate_workload, parse_workloads

LARGEST_STEP = 1 << 30  # bytes
_FAULTY = 3  # exit status
# What takes how much of the time, measured on the lwIP example.
_WORK = {"import": 10, "make plans": 50, "compare": 30, "try every size": 5, "replay": 2}
_KNOWN = [info.name for info in _engine.allocators()]
_NAMES = ", ".join(_KNOWN)
_WORKLOADS = ", ".join(info.name for info in _engine.workloads())


_Words: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TRACE|ALLOCATOR",
        help="Traces, recordings or captures; and allocators [all that fit tries], NAME or "
        f"NAME:TUNABLE=VALUE,... with NAME one of {_NAMES}. Pools are made from the trace.",
    ),
]
_Allocators: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--allocators", help="More allocators, with commas between them; all: every one."),
]
_Workloads: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--workloads",
        help="Synthetic workloads beside the traces, with commas between them; all: every one. "
        f"NAME or NAME:PARAMETER=VALUE,... with NAME one of {_WORKLOADS}.",
    ),
]
_Plans: TypeAlias = Annotated[
    list[Path] | None, typer.Option("--plan", help="A plan file; may be given many times.")
]
_Granularity: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--granularity",
        metavar="2^k",
        help="Print R_max also in steps of an allocator below, such as sbrk: 64K, 1M, ...",
    ),
]
_Accesses: TypeAlias = Annotated[
    bool, typer.Option("--accesses", help="Print accesses and energy of many traces as well.")
]
_Plugins: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        help="An allocator of your own with its adapter (docs/plugins.md): a source, an archive, "
        "a folder of them, or of a Rust crate; may be given many times.",
    ),
]
_PluginFlags: TypeAlias = Annotated[
    str, typer.Option("--cflags", help="Of --plugin: what its sources are compiled with.")
]
_PluginBits: TypeAlias = Annotated[
    PointerBits, typer.Option("--bits", help="Of --plugin: the width of its pointers.")
]
_Board: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--board",
        help="Of --plugin: what `python -m harness league` counted of it on an emulated board "
        "(docs/league.md).",
    ),
]


def command(
    words: _Words = None,
    allocators: _Allocators = None,
    workloads: _Workloads = None,
    seed: Seed = 1,
    plans: _Plans = None,
    alignment: AlignmentOption = Alignment.BYTES_8,
    exact: Exact = False,
    granularity: _Granularity = None,
    accesses: _Accesses = False,
    plugins: _Plugins = None,
    cflags: _PluginFlags = "",
    bits: _PluginBits = PointerBits.BITS_32,
    board: _Board = None,
    sram: SramFile = None,
    report: ReportPage = None,
    programs: Programs = None,
    queue: Queue = STANDARD_QUEUE,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    as_json: AsJson = False,
) -> None:
    """Rank allocators and plans by the smallest region in which each serves a trace.

    Exit status 3 if a plug-in has faults.
    """
    sources, named = _sorted_out(words or [])
    named += all_or_named(allocators or [], _KNOWN)
    specs = parse_workloads(workloads or [], seed)
    _refuse_usage(bool(sources or specs), report is not None and bool(plugins))
    step = None if granularity is None else _step(granularity)
    options = MatrixOptions(step, load_sram(sram), accesses)
    plan_files = tuple(map(load_plan, plans or []))
    foreign = [plugin_of(path, int(bits), shlex.split(cflags)) for path in plugins or []]
    counted = None if board is None else _board_of(board, foreign)
    contestants = Contestants(tuple(named), plan_files, int(alignment), precision_of(exact))
    importing = import_options(queue, drop_unknown, pointer_bits)
    with whole_bar(_WORK) as progress, Sweep(workers, cluster) as sweep, ExitStack() as opened:
        traces = [opened.enter_context(opened_trace(one, importing, progress)) for one in sources]
        compared = _labelled(sources, traces, specs)
        matrix = compare_traces(compared, contestants, contested_portfolio, sweep, progress)
        runs = _runs(plan_files, sources, traces, progress)
        rows = _measured(compared, foreign, int(alignment), counted, progress)
        if report is not None:
            _write_page(report, matrix, [one for _, one in compared], runs, programs or [])
    parts = [*_parts(matrix, options, seed if specs else None), *_held(runs), *plugin_parts(rows)]
    out_result(parts, as_json)
    _refuse_faults(rows)


def _refuse_usage(has_trace: bool, has_both: bool) -> None:
    if not has_trace:
        raise typer.BadParameter("give a trace, or --workloads")
    if has_both:
        raise typer.BadParameter("--report shows no plug-ins: leave out one of them")


def _runs(
    plans: Sequence[PlanFile], sources: Sequence[Path], traces: Sequence[Trace], progress: Progress
) -> list[tuple[Run, PlanFile]]:
    """Each trace in the very region of each plan that sets one."""
    return [
        (run_on(trace, one, source_name(source), progress), one)
        for one in plans
        if one.region is not None
        for source, trace in zip(sources, traces, strict=True)
    ]


def _labelled(
    sources: Sequence[Path], traces: Sequence[Trace], specs: Sequence[WorkloadSpec]
) -> list[tuple[str, Trace | WorkloadSpec]]:
    return [
        *zip(map(source_name, sources), traces, strict=True),
        *((spec.label, spec) for spec in specs),
    ]


def _write_page(
    path: Path,
    matrix: Matrix,
    sources: Sequence[Trace | WorkloadSpec],
    runs: Sequence[tuple[Run, PlanFile]],
    programs: Sequence[Path],
) -> None:
    # jinja2 takes long to load
    from heapfit.report.heap.compare import Compared, write_comparison_page

    write_comparison_page(path, Compared(matrix, sources, runs, programs, typed_command()))


def _refuse_faults(rows: Sequence[LabelledRow]) -> None:
    """Ends the command if a plug-in has any."""
    if any(row.faults for _, row in rows):
        raise typer.Exit(_FAULTY)


def _board_of(path: Path, plugins: Sequence[Plugin]) -> Board:
    if not plugins:
        raise typer.BadParameter("--board is of a --plugin: give one")
    board = read_board(path)
    require_same_sources(board, plugins)
    return board


def _measured(
    compared: Sequence[tuple[str, Trace | WorkloadSpec]],
    plugins: Sequence[Plugin],
    alignment: int,
    board: Board | None,
    progress: Progress,
) -> list[LabelledRow]:
    """Each plug-in on each trace, with everything built in a folder that goes.

    With what a board counted; HeapfitError if it counted nothing on these traces.
    """
    if not plugins:
        return []
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        here = Path(folder)
        built = [build(plugin, here / str(i)) for i, plugin in enumerate(plugins)]
        traces = [
            (label, one if isinstance(one, Trace) else generate_workload(one, here / f"drawn{i}"))
            for i, (label, one) in enumerate(compared)
        ]
        pairs = [(label, trace, one) for label, trace in traces for one in built]
        rows = [measure(one, trace, alignment, progress) for _, trace, one in pairs]
        if board is not None:
            contents = [(one.plugin, content_hash(trace)) for _, trace, one in pairs]
            rows = counted_rows(board, [(*a, row) for a, row in zip(contents, rows, strict=True)])
        return [(label, row) for (label, _, _), row in zip(pairs, rows, strict=True)]


def _parts(matrix: Matrix, options: MatrixOptions, seed: int | None) -> Iterator[Part]:
    if seed is not None:
        yield Fields({"seed": seed})
    if len(matrix.columns) > 1:
        yield from matrix_table(matrix, options)
    else:
        comparison = matrix.columns[0].comparison
        yield from ranking(comparison, options.sram, options.granularity)
        if options.granularity is not None:
            yield from low_level(comparison, options.granularity)
    if seed is not None:
        yield Line(f"Seed of the synthetic workloads: {seed}.")


def _held(runs: Sequence[tuple[Run, PlanFile]]) -> Iterator[Part]:
    """Of each trace and plan, whether the one runs in the region that the other sets."""
    columns: list[Column[tuple[Run, PlanFile]]] = [
        Column("plan", value=lambda one: one[1].name),
        Column("trace", value=lambda one: one[0].name),
        Column("region", value=lambda one: one[1].region),
        Column("held", value=lambda one: one[0].refusal is None),
        Column("refused_event", value=lambda one: one[0].refusal and one[0].refusal.event),
        Column("peak", value=lambda one: one[0].peak),
        Column("planned_peak", value=lambda one: planned_peak(one[1])),
    ]
    if runs:
        yield Table(columns, runs, "in_plans_regions")
    for run, plan_file in runs:
        yield from map(Line, run_told(run, plan_file))


def _sorted_out(words: list[str]) -> tuple[list[Path], list[str]]:
    """The traces and the allocators among the words; an allocator's name is no file's."""
    named = [word for word in words if is_heap(word)]
    others = [word for word in words if not is_heap(word)]
    for word in others:
        if not is_path(word):
            alike = meant(word.partition(":")[0], heap_names())
            raise HeapfitError(f"{word}: no such file, and no such allocator ({alike})")
        if not Path(word).exists():
            raise HeapfitError(f"{word}: {no_such_file(Path(word))}")
    return [require_kind(Path(word), Kind.RECORDING) for word in others], named


def _step(granularity: str) -> int:
    """64K as 65536."""
    number = re.fullmatch(r"([0-9]{1,10})([KM]?)", granularity)
    step = int(number[1]) * {"": 1, "K": 1 << 10, "M": 1 << 20}[number[2]] if number else 0
    if step < 1 or step & (step - 1) or step > LARGEST_STEP:
        raise typer.BadParameter(f"{granularity} is no power of two up to 1024M")
    return step
