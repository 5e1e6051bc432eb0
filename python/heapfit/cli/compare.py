# SPDX-License-Identifier: Apache-2.0
"""`heapfit compare`: allocators and plans side by side, on one trace or on many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import typer

from heapfit.checks.margin import peak_of_plan
from heapfit.checks.run import PlanRun, run_recording
from heapfit.cli.arguments import command_line, reject_options
from heapfit.cli.commands.comparisons import CompareCommand
from heapfit.cli.printing.check import describe_run
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.matrix import matrix_table
from heapfit.cli.printing.plugins import LabelledRow, plugin_parts
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.printing.ranking import ranking
from heapfit.cli.running import import_options, note_parts, require_local, start_sweep
from heapfit.cli.writing.league import ForeignAllocators, LeagueRequest, make_league
from heapfit.comparison.incumbents.heaps import (
    find_heap_name,
    is_heap,
    list_heap_names,
    list_offered_allocators,
)
from heapfit.comparison.jobs import ComparisonRequest
from heapfit.comparison.matrix import Matrix, compare_traces
from heapfit.comparison.measuring import EXACT, STANDARD_PRECISION
from heapfit.design.portfolio import comparison_portfolio
from heapfit.errors import HeapfitError, describe_missing_file, did_you_mean
from heapfit.importers import ImportOptions, open_trace
from heapfit.importers.file_kind import is_path, require_kind
from heapfit.league.board import Board, add_board_figures, read_board, require_same_sources
from heapfit.outputs.scratch import scratch_folder
from heapfit.plan.energy import Sram, load_sram
from heapfit.plan.plan_file import PlanFile, load_plan
from heapfit.plan.values import expand_names
from heapfit.plugin import Plugin, build, measure
from heapfit.progress import Progress
from heapfit.results.parts import Column, Fields, Line, Part, Table
from heapfit.sweep import Sweep
from heapfit.trace.content import content_hash
from heapfit.trace.kinds import Kind
from heapfit.trace.loaded import STANDARD_ALIGNMENT
from heapfit.trace.names import source_name
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import WorkloadSpec, generate_workload, is_workload, parse_workload

_FAULTY = 3  # exit status
# What takes how much of the time, measured on the lwIP example.
_WORK = {"import": 5, "make plans": 30, "compare": 60, "try every size": 5, "replay": 2}
_OF_NAMED = _WORK | {"make plans": 2}
# Parameters that only one of the two has a use for.
_RANKING_PARAMETERS = ("seed", "plans", "exact", "sram", "report", "programs")
_LEAGUE_PARAMETERS = ("events", "has_designs")
_MAKES_LEAGUE = "--output makes a league table (docs/league.md)"
_OFFERED = [info.name for info in list_offered_allocators()]


def run(command: CompareCommand) -> None:
    words = command.words or []
    specs = [parse_workload(word, command.seed) for word in words if is_workload(word)]
    words = [word for word in words if not is_workload(word)]
    sources, named = _split_words(words, command.allocators or [])
    foreign = ForeignAllocators(
        command.plugins or [],
        command.has_crates,
        command.cflags or [],
        int(command.pointer_bits),
        command.board,
        command.no_build,
    )
    importing = import_options(command.queue)
    given = [int(alignment) for alignment in command.alignments or []]
    if command.output is not None:
        reject_options(command.context, _RANKING_PARAMETERS, _MAKES_LEAGUE)
        if specs:
            raise typer.BadParameter(f"{specs[0].label}: a league table is of recordings")
        league = LeagueRequest(
            sources, named, given, foreign, command.has_designs, command.events, importing
        )
        print_result(
            make_league(league, command.output, require_local(command.workers)), command.as_json
        )
        return
    reject_options(command.context, _LEAGUE_PARAMETERS, "it needs --output (a league table)")
    alignment, precision = (
        _require_one_alignment(given),
        EXACT if command.exact else STANDARD_PRECISION,
    )
    request = ComparisonRequest(tuple(named), _load_plans(command.plans), alignment, precision)
    asked = _RankingRequest(
        sources, specs, request, foreign, importing, command.report, command.programs or []
    )
    _print(
        asked.rank(start_sweep(command.workers)),
        load_sram(command.sram),
        command.seed if specs else None,
        command.as_json,
    )


def _load_plans(plans: Sequence[Path] | None) -> tuple[PlanFile, ...]:
    return tuple(map(load_plan, plans or []))


def _require_one_alignment(alignments: Sequence[int]) -> int:
    """The alignment of a ranking; a usage error if there are several."""
    if len(alignments) > 1:
        raise typer.BadParameter("--alignment: give one, or --output for a league table")
    return alignments[0] if alignments else STANDARD_ALIGNMENT


@dataclass(frozen=True, slots=True)
class _RankingResult:
    """The result of a ranking: the matrix, runs in the plans' regions, and plug-ins' rows."""

    matrix: Matrix
    runs: Sequence[tuple[PlanRun, PlanFile]]  # each trace in the region of each plan
    foreign: Sequence[LabelledRow]


@dataclass(frozen=True, slots=True)
class _RankingRequest:
    """The traces, allocators and options of a ranking."""

    sources: Sequence[Path]
    specs: Sequence[WorkloadSpec]
    contestants: ComparisonRequest
    foreign: ForeignAllocators
    importing: ImportOptions
    report: Path | None
    programs: Sequence[Path]

    def rank(self, sweep: Sweep) -> _RankingResult:
        """Measures all allocators on all traces, and writes the page if there is to be one."""
        if not (self.sources or self.specs):
            raise typer.BadParameter("give a trace or a workload")
        if self.report is not None and (self.foreign.paths or self.foreign.has_crates):
            raise typer.BadParameter("--report shows no plug-ins: give one of the two")
        foreign, alignment = self.foreign.plugins(), self.contestants.alignment
        board = None if self.foreign.board is None else _read_board_of(self.foreign.board, foreign)
        work = _OF_NAMED if self.contestants.allocators else _WORK
        with progress_bar(work) as progress, sweep, ExitStack() as opened:
            traces = [
                opened.enter_context(open_trace(source, self.importing, progress))
                for source in self.sources
            ]
            compared = _label_sources(self.sources, traces, self.specs)
            matrix = compare_traces(
                compared, self.contestants, comparison_portfolio, sweep, progress
            )
            runs = _runs(self.contestants.plan_files, self.sources, traces, progress)
            rows = _measure_plugins(compared, foreign, alignment, board, progress)
            if self.report is not None:
                _write_page(self.report, matrix, [one for _, one in compared], runs, self.programs)
        return _RankingResult(matrix, runs, rows)


def _runs(
    plans: Sequence[PlanFile], sources: Sequence[Path], traces: Sequence[Trace], progress: Progress
) -> list[tuple[PlanRun, PlanFile]]:
    """A replay of each trace in the region of each plan that sets one."""
    return [
        (run_recording(trace, one, source_name(source), progress), one)
        for one in plans
        if one.region is not None
        for source, trace in zip(sources, traces, strict=True)
    ]


def _label_sources(
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
    runs: Sequence[tuple[PlanRun, PlanFile]],
    programs: Sequence[Path],
) -> None:
    # jinja2 takes long to load
    from heapfit.results.heap.compare import ComparisonInput, write_comparison_page

    write_comparison_page(path, ComparisonInput(matrix, sources, runs, programs, command_line()))


def _read_board_of(path: Path, plugins: Sequence[Plugin]) -> Board:
    if not plugins:
        raise typer.BadParameter("--board needs a --plugin")
    board = read_board(path)
    require_same_sources(board, plugins)
    return board


def _measure_plugins(
    compared: Sequence[tuple[str, Trace | WorkloadSpec]],
    plugins: Sequence[Plugin],
    alignment: int,
    board: Board | None,
    progress: Progress,
) -> list[LabelledRow]:
    """Measures each plug-in on each trace, built in a temporary folder.

    With what a board counted; HeapfitError if it counted nothing on these traces.
    """
    if not plugins:
        return []
    with scratch_folder() as folder:
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
            rows = add_board_figures(
                board, [(*a, row) for a, row in zip(contents, rows, strict=True)]
            )
        return [(label, row) for (label, _, _), row in zip(pairs, rows, strict=True)]


def _print(ranked: _RankingResult, sram: Sram | None, seed: int | None, as_json: bool) -> None:
    """Prints the ranking; exit status 3 if a plug-in has faults."""
    print_result(_parts(ranked, sram, seed), as_json)
    if any(row.faults for _, row in ranked.foreign):
        raise typer.Exit(_FAULTY)


def _parts(ranked: _RankingResult, sram: Sram | None, seed: int | None) -> Iterator[Part]:
    matrix = ranked.matrix
    if seed is not None:
        yield Fields({"seed": seed})
    if len(matrix.columns) > 1:
        yield from matrix_table(matrix, sram)
    else:
        comparison = matrix.columns[0].comparison
        yield from ranking(comparison, sram)
    if seed is not None:
        yield Line(f"Seed of the synthetic workloads: {seed}.")
    yield from _run_parts(ranked.runs)
    for column in matrix.columns:
        yield from note_parts(column.comparison.trace, column.label)
    yield from plugin_parts(ranked.foreign)


def _run_parts(runs: Sequence[tuple[PlanRun, PlanFile]]) -> Iterator[Part]:
    """A row and sentences for each trace and plan: does it run in the plan's region?"""
    columns: list[Column[tuple[PlanRun, PlanFile]]] = [
        Column("plan", value=lambda one: one[1].name),
        Column("trace", value=lambda one: one[0].name),
        Column("region", value=lambda one: one[1].region),
        Column("held", value=lambda one: one[0].refusal is None),
        Column("refused_event", value=lambda one: one[0].refusal and one[0].refusal.event),
        Column("peak", value=lambda one: one[0].peak),
        Column("planned_peak", value=lambda one: peak_of_plan(one[1])),
    ]
    if runs:
        yield Table(columns, runs, "in_plans_regions")
    for run, plan_file in runs:
        yield from map(Line, describe_run(run, plan_file))


def _split_words(words: list[str], allocators: list[str]) -> tuple[list[Path], list[str]]:
    """The recordings and the allocators; an allocator's name among the words is no file's."""
    named = [find_heap_name(word) for word in words if is_heap(word)]
    others = [word for word in words if not is_heap(word)]
    for word in others:
        if not is_path(word):
            hint = did_you_mean(word.partition(":")[0], list_heap_names())
            raise HeapfitError(f"{word}: no such file, and no such allocator ({hint})")
        if not Path(word).exists():
            raise HeapfitError(f"{word}: {describe_missing_file(Path(word))}")
    sources = [require_kind(Path(word), Kind.RECORDING) for word in others]
    return sources, [*named, *expand_names(allocators, _OFFERED)]
