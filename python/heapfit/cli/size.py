# SPDX-License-Identifier: Apache-2.0
"""`heapfit size`: memory for a chance to run out, of a recording's pools or of offered traffic."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from heapfit.cli.arguments import (
    Admission,
    AsJson,
    ClosedForm,
    ClusterAddress,
    DropUnknown,
    PointerBitsOption,
    QueueOfCapture,
    ReportPage,
    Seed,
    Workers,
    import_options,
    reject_options,
    take_file,
    take_size,
)
from heapfit.cli.printing.parts import Part, print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.printing.sized_pools import pools_table
from heapfit.cli.printing.sized_schemes import schemes_table
from heapfit.importers import ImportOptions, open_trace
from heapfit.importers.file_kind import Kind
from heapfit.plan.quantities import parse_sizes
from heapfit.simulation.traffic import is_traffic, load_traffic
from heapfit.sizing.demand import require_queue
from heapfit.sizing.from_traffic import STANDARD_REPLICATIONS, Aim, size_for
from heapfit.sizing.pools import PoolOptions, size_pools
from heapfit.sweep import Sweep, usable_cores

# What takes how much of the time, measured on the lwIP example; others are resampled if asked for.
_WORK = {"import": 20, "profile": 40, "demand": 5, "counts": 10, "other draws": 25}
# Parameters that only one kind of source has a use for.
_RECORDING_PARAMETERS = ("sizes", "overall", "queue", "drop_unknown", "pointer_bits", "cluster")
_TRAFFIC_PARAMETERS = ("admission_by", "overhead", "buffer", "closed_form", "seed")


class Unit(StrEnum):
    """What is counted as admitted."""

    BYTES = "bytes"
    REQUESTS = "requests"


_Source: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="A stored trace, a recording or a capture to import first, or a TOML file with the "
        "[traffic] of a scenario.",
        **take_file(Kind.RECORDING, Kind.SCENARIO),
    ),
]
_Sizes: TypeAlias = Annotated[
    str | None,
    typer.Option("--pool-sizes", metavar="SIZE,...", help="Sizes of the pools, as 64,512,2K."),
]
_Overall: TypeAlias = Annotated[
    bool,
    typer.Option("--overall", help="Serve the share of all requests together, not in each pool."),
]
_By: TypeAlias = Annotated[
    Unit | None,
    typer.Option("--admission-by", help="Of traffic: count bytes or requests [bytes]."),
]
_Overhead: TypeAlias = Annotated[
    int,
    typer.Option(
        "--overhead",
        help="Of traffic: bytes of bookkeeping that each buffer takes.",
        **take_size(0, 4096),
    ),
]
_Buffer: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--buffer",
        help="Of traffic: bytes of each fixed buffer [the largest request].",
        **take_size(1, 2**30),
    ),
]
_Replications: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--replications",
        min=2,
        max=10_000,
        help="Number of simulated or resampled runs that judge the sizes.",
    ),
]


def command(
    context: typer.Context,
    source: _Source,
    admission: Admission = 0.999,
    sizes: _Sizes = None,
    overall: _Overall = False,
    admission_by: _By = None,
    overhead: _Overhead = 0,
    buffer: _Buffer = None,
    closed_form: ClosedForm = False,
    replications: _Replications = None,
    seed: Seed = 1,
    queue: QueueOfCapture = None,
    report: ReportPage = None,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    as_json: AsJson = False,
) -> None:
    """Size pools to serve a share of requests, and show how often they run out."""
    if is_traffic(source):
        reject_options(context, _RECORDING_PARAMETERS, f"{source.name} is traffic")
        aim = Aim(
            admission,
            (admission_by or Unit.BYTES).value,
            overhead,
            buffer,
            closed_form,
            replications or STANDARD_REPLICATIONS,
            seed,
            curve=report is not None,
        )
        parts = _size_for_traffic(source, aim, workers or usable_cores(), report)
    else:
        reject_options(
            context, _TRAFFIC_PARAMETERS, f"{source.name} is no TOML file with [traffic]"
        )
        importing = import_options(queue, drop_unknown, pointer_bits)
        pools = PoolOptions([] if sizes is None else parse_sizes(sizes), overall, replications)
        asked = _PoolsRequest(source, admission, pools, importing)
        parts = _size_for_recording(asked, Sweep(workers, cluster), report)
    print_result(parts, as_json)


@dataclass(frozen=True, slots=True)
class _PoolsRequest:
    """The recording whose pools are sized, and the options."""

    source: Path
    admission: float
    options: PoolOptions
    importing: ImportOptions


def _size_for_recording(asked: _PoolsRequest, sweep: Sweep, report: Path | None) -> Iterator[Part]:
    source, importing = asked.source, asked.importing
    with (
        progress_bar(_WORK) as progress,
        sweep,
        open_trace(source, importing, progress) as trace,
    ):
        require_queue(source, trace, importing.queue)
        sizing = size_pools(trace, asked.admission, asked.options, progress, sweep)
    if report is not None:
        from heapfit.report.sizing import write_trace_page  # jinja2 takes long to load

        write_trace_page(report, sizing, source, _pools_command_line(asked))
    return pools_table(sizing, trace.info, source.name)


def _size_for_traffic(path: Path, aim: Aim, threads: int, report: Path | None) -> Iterator[Part]:
    with progress_bar() as progress:
        sizing = size_for(load_traffic(path), aim, threads, progress)
    if report is not None:
        from heapfit.report.sizing import write_traffic_page  # jinja2 takes long to load

        write_traffic_page(report, sizing, path, _traffic_command_line(path, aim))
    return schemes_table(sizing, path)


def _pools_command_line(asked: _PoolsRequest) -> str:
    """The command line that sizes these pools again."""
    options, queue = asked.options, asked.importing.queue
    words = ["heapfit", "size", str(asked.source), "--admission", f"{asked.admission:.15g}"]
    words += ["--pool-sizes", ",".join(map(str, options.sizes))] if options.sizes else []
    words += ["--overall"] if options.is_overall else []
    words += ["--replications", str(options.draws)] if options.draws else []
    words += ["--queue", queue] if queue else []
    return shlex.join(words)


def _traffic_command_line(path: Path, aim: Aim) -> str:
    """The command line that sizes schemes for this traffic again."""
    words = ["heapfit", "size", str(path), "--admission", f"{aim.admission:.15g}"]
    words += ["--admission-by", aim.by, "--overhead", str(aim.overhead)]
    words += ["--buffer", str(aim.buffer_size)] if aim.buffer_size is not None else []
    words += ["--closed-form"] if aim.exact_alone else []
    words += ["--replications", str(aim.replications), "--seed", str(aim.seed)]
    return shlex.join(words)
