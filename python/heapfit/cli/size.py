# SPDX-License-Identifier: Apache-2.0
"""`heapfit size`: memory for a chance to run out, of a recording's pools or of offered traffic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from heapfit.cli.arguments import command_line, reject_options
from heapfit.cli.commands.pools import SizeCommand, Unit
from heapfit.cli.parser import UsageError
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.running import import_options, note_parts, require_local, start_sweep
from heapfit.importers import ImportOptions, open_trace
from heapfit.plan.quantities import parse_sizes
from heapfit.results.html import write
from heapfit.results.parts import Part
from heapfit.results.sized_pools import pools_page, pools_table
from heapfit.results.sized_schemes import schemes_page, schemes_table
from heapfit.simulation.traffic import is_traffic, load_traffic
from heapfit.sizing.demand import require_queue
from heapfit.sizing.from_traffic import STANDARD_REPLICATIONS, Aim, size_for
from heapfit.sizing.pools import PoolOptions, size_pools
from heapfit.sweep import Sweep, usable_cores

# What takes how much of the time, measured on the lwIP example.
_WORK = {"import": 5, "profile": 5, "demand": 10, "counts": 25, "other draws": 55}
# Parameters that only one kind of source has a use for.
_RECORDING_PARAMETERS = ("overall", "queue")
_TRAFFIC_PARAMETERS = ("admission_by", "overhead", "closed_form", "seed")


def run(command: SizeCommand) -> None:
    if is_traffic(command.source):
        reject_options(command, _RECORDING_PARAMETERS, f"{command.source.name} is traffic")
        aim = Aim(
            command.admission,
            (command.admission_by or Unit.BYTES).value,
            command.overhead,
            _parse_block_size(command.sizes),
            command.closed_form,
            command.times or STANDARD_REPLICATIONS,
            command.seed,
            curve=command.report is not None,
        )
        parts = _size_for_traffic(
            command.source, aim, require_local(command.workers) or usable_cores(), command.report
        )
    else:
        reject_options(
            command,
            _TRAFFIC_PARAMETERS,
            f"{command.source.name} is no TOML file with [traffic]",
        )
        importing = import_options(command.queue)
        pools = PoolOptions(
            [] if command.sizes is None else parse_sizes(command.sizes),
            command.overall,
            command.times,
        )
        asked = _PoolsRequest(command.source, command.admission, pools, importing)
        parts = _size_for_recording(asked, start_sweep(command.workers), command.report)
    print_result(parts, command.as_json)


def _parse_block_size(sizes: str | None) -> int | None:
    """The one size of --pool-sizes for traffic; a usage error if there are several."""
    given = [] if sizes is None else parse_sizes(sizes)
    if len(given) > 1:
        raise UsageError("--pool-sizes: traffic has one fixed pool, so give one size")
    return given[0] if given else None


@dataclass(frozen=True, slots=True)
class _PoolsRequest:
    """The recording whose pools are sized, and the options."""

    source: Path
    admission: float
    options: PoolOptions
    importing: ImportOptions


def _size_for_recording(asked: _PoolsRequest, sweep: Sweep, report: Path | None) -> Iterator[Part]:
    source, importing = asked.source, asked.importing
    with progress_bar(_WORK) as progress, sweep, open_trace(source, importing, progress) as trace:
        require_queue(source, trace, importing.queue)
        sizing = size_pools(trace, asked.admission, asked.options, progress, sweep)
    if report is not None:
        write(report, pools_page(sizing, source.name, command_line()))
    return chain(pools_table(sizing, trace.info, source.name), note_parts(trace.info))


def _size_for_traffic(path: Path, aim: Aim, threads: int, report: Path | None) -> Iterator[Part]:
    with progress_bar() as progress:
        sizing = size_for(load_traffic(path), aim, threads, progress)
    if report is not None:
        write(report, schemes_page(sizing, path.name, command_line()))
    return schemes_table(sizing, path)
