# SPDX-License-Identifier: Apache-2.0
"""`heapfit compare`: allocators and plans side by side, on one trace or on many."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heapfit.cli.arguments import command_line
from heapfit.cli.commands.comparisons import CompareCommand
from heapfit.cli.parser import UsageError
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.running import exit_unless, import_options, note_parts, start_sweep
from heapfit.comparison.case import case_of_matrix
from heapfit.comparison.heap_map import measure_case
from heapfit.comparison.incumbents.heap_names import (
    find_heap_name,
    is_heap,
    list_heap_names,
    list_offered_allocators,
)
from heapfit.comparison.matrix import ComparisonRequest, Matrix, compare_traces, with_plugins
from heapfit.comparison.measuring import EXACT, STANDARD_PRECISION
from heapfit.design.portfolio import comparison_portfolio
from heapfit.drawing.parts import Fields, Line, Part
from heapfit.errors import HeapfitError, describe_missing_file, did_you_mean
from heapfit.importers import open_traces
from heapfit.importers.file_kind import is_path
from heapfit.importers.many import read_paths
from heapfit.outputs.scratch import scratch_folder
from heapfit.plan.energy import Sram, load_sram
from heapfit.plan.plan_file import load_plan
from heapfit.plan.values import expand_names
from heapfit.plugin import Plugin, PluginRow, measure_all, plugins_of
from heapfit.progress import Progress
from heapfit.results.matrix import comparison_page, matrix_table
from heapfit.results.plugins import plugin_parts
from heapfit.results.ranking import ranking
from heapfit.trace.kinds import SourceKind
from heapfit.trace.names import source_name
from heapfit.trace.origin import WorkloadSpec
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import generate_workload, is_workload, parse_workload

# What takes how much of the time, measured on the lwIP example.
_WORK = {"import": 5, "compare": 95, "replay": 2}
_ALL = "all"  # of the allocators, as a word
_OFFERED = [info.name for info in list_offered_allocators()]


def run(command: CompareCommand) -> None:
    words = command.words or []
    specs = [parse_workload(word, command.seed) for word in words if is_workload(word)]
    words = [word for word in words if not is_workload(word)]
    sources, named = _split_words(words)
    if not (sources or specs):
        raise UsageError("give a trace or a workload")
    request = ComparisonRequest(
        tuple(named),
        tuple(map(load_plan, command.plans or [])),
        command.alignment,
        EXACT if command.exact else STANDARD_PRECISION,
    )
    sweeping, importing = start_sweep(command.workers), import_options(command.queue)
    with (
        progress_bar(_WORK) as progress,
        sweeping as sweep,
        open_traces(sources, importing, progress) as traces,
    ):
        plugins = _find_plugins(command, traces)
        compared: list[tuple[str, Trace | WorkloadSpec]] = [
            *zip(map(source_name, sources), traces, strict=True),
            *((spec.label, spec) for spec in specs),
        ]
        matrix = compare_traces(compared, request, comparison_portfolio, sweep, progress)
        if plugins:
            matrix = with_plugins(matrix, _measure_plugins(compared, plugins, request, progress))
        if command.report is not None:
            from heapfit.drawing.html import write_document  # loads jinja2, which takes long

            with scratch_folder() as folder:
                shown = [one for _, one in compared]
                case = case_of_matrix(matrix, shown, command.programs or [], Path(folder))
                page = comparison_page(
                    case, measure_case(case), matrix=matrix, command=command_line()
                )
                write_document(command.report, page)
    seed = command.seed if specs else None
    print_result(_parts(matrix, load_sram(command.sram), seed), command.as_json)
    exit_unless(not any(row.faults for one in matrix.columns for row in one.comparison.plugins))


def _find_plugins(command: CompareCommand, traces: Sequence[Trace]) -> tuple[Plugin, ...]:
    """The plug-ins that were named; HeapfitError if one is to be built against --no-build."""
    recorded = next((one.info.pointer_bits for one in traces if one.info.pointer_bits), 64)
    bits, flags = command.pointer_bits or recorded, command.cflags or []
    found = plugins_of(command.plugins or [], bits, flags)
    built = [one.name for one in found if not one.is_ready]
    if built and command.no_build:
        raise HeapfitError(
            f"--no-build: {', '.join(built)} would be built (give an archive or an object)"
        )
    return found


def _measure_plugins(
    compared: Sequence[tuple[str, Trace | WorkloadSpec]],
    plugins: Sequence[Plugin],
    request: ComparisonRequest,
    progress: Progress,
) -> list[tuple[PluginRow, ...]]:
    """Each plug-in measured on each trace, as precisely as ours."""
    with scratch_folder() as folder:
        traces = [
            one if isinstance(one, Trace) else generate_workload(one, Path(folder) / f"drawn{i}")
            for i, (_, one) in enumerate(compared)
        ]
        return measure_all(
            plugins, traces, request.alignment, progress, every_size=request.precision is EXACT
        )


def _parts(matrix: Matrix, sram: Sram | None, seed: int | None) -> list[Part]:
    first, *others = matrix.columns
    return [
        Line(matrix.sentence()),
        *([] if seed is None else [Fields({"seed": seed})]),
        *(matrix_table(matrix, sram) if others else ranking(first.comparison, sram)),
        *([] if seed is None else [Line(f"Seed of the synthetic workloads: {seed}.")]),
        *(part for one in matrix.columns for part in note_parts(one.comparison.trace, one.label)),
        *plugin_parts(
            [(one.label, row) for one in matrix.columns for row in one.comparison.plugins]
        ),
    ]


def _split_words(words: list[str]) -> tuple[list[Path], list[str]]:
    """The recordings and the allocators; an allocator's name among the words is no file's."""
    names = [word for word in words if word == _ALL or is_heap(word)]
    others = [word for word in words if word not in names]
    for word in others:
        if not is_path(word):
            hint = did_you_mean(word.partition(":")[0], list_heap_names())
            raise HeapfitError(f"{word}: no such file, and no such allocator ({hint})")
    sources = [
        one for word in others for one in read_paths(word, [SourceKind.RECORDING], is_one=False)
    ]
    for path in sources:
        if not path.exists():
            raise HeapfitError(f"{path}: {describe_missing_file(path)}")
    return sources, [*map(find_heap_name, expand_names(names, _OFFERED))]
