# SPDX-License-Identifier: Apache-2.0
"""`heapfit size`: memory for a chance to run out, of a recording's pools or of offered traffic."""

from __future__ import annotations

from heapfit.cli.arguments import command_line, reject_options
from heapfit.cli.commands.pools import SizeCommand
from heapfit.cli.parser import UsageError
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.running import import_options, note_parts, require_local, start_sweep
from heapfit.drawing.html import write_document
from heapfit.drawing.parts import Part
from heapfit.importers import open_trace
from heapfit.plan.quantities import parse_sizes
from heapfit.results.sized_pools import pools_page, pools_table
from heapfit.results.sized_schemes import schemes_page, schemes_table
from heapfit.simulation.traffic import is_traffic, load_traffic
from heapfit.sizing.demand import require_queue
from heapfit.sizing.from_traffic import STANDARD_REPLICATIONS, Aim, size_for
from heapfit.sizing.pools import PoolOptions, size_pools
from heapfit.sweep import usable_cores

# What takes how much of the time, measured on the lwIP example.
_WORK = {"import": 5, "profile": 5, "demand": 10, "counts": 25, "other draws": 55}


def run(command: SizeCommand) -> None:
    offered = is_traffic(command.source)
    only, kind = ("queue", "traffic") if offered else ("seed", "no TOML file with [traffic]")
    reject_options(command, (only,), f"{command.source.name} is {kind}")
    size = _size_for_traffic if offered else _size_for_recording
    sizes = [*parse_sizes(command.sizes)] if command.sizes else []
    print_result(size(command, sizes), command.as_json)


def _size_for_recording(command: SizeCommand, sizes: list[int]) -> list[Part]:
    source, importing = command.source, import_options(command.queue)
    options, sweep = PoolOptions(sizes, command.times), start_sweep(command.workers)
    with progress_bar(_WORK) as progress, sweep, open_trace(source, importing, progress) as trace:
        require_queue(source, trace, importing.queue)
        sizing = size_pools(trace, command.admission, options, progress, sweep)
    if command.report is not None:
        write_document(command.report, pools_page(sizing, source.name, command_line()))
    return [*pools_table(sizing, trace.info, source.name), *note_parts(trace.info)]


def _size_for_traffic(command: SizeCommand, sizes: list[int]) -> list[Part]:
    if len(sizes) > 1:
        raise UsageError("--sizes: traffic has one fixed pool, so give one size")
    aim = Aim(
        command.admission,
        sizes[0] if sizes else None,
        judged=command.times or STANDARD_REPLICATIONS,
        seed=command.seed,
        curve=command.report is not None,
    )
    threads = require_local(command.workers) or usable_cores()
    with progress_bar() as progress:
        sizing = size_for(load_traffic(command.source), aim, threads, progress)
    if command.report is not None:
        write_document(command.report, schemes_page(sizing, command.source.name, command_line()))
    return schemes_table(sizing, command.source)
