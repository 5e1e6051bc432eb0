# SPDX-License-Identifier: Apache-2.0
"""`heapfit workload`: a synthetic workload as a stored trace."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any

import typer

from heapfit import _engine
from heapfit.cli.arguments import AsJson, Seed
from heapfit.cli.opened_trace import opened_trace
from heapfit.cli.printing import console
from heapfit.importers.source import ImportOptions
from heapfit.trace.names import source_name
from heapfit.workloads.draw import draw_trace
from heapfit.workloads.drawn_set import LIMITS
from heapfit.workloads.model import fit_model
from heapfit.workloads.synthetic import WorkloadSpec, generate_workload, parse_workload


def command(
    workload: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME[:PARAMETER=VALUE,...]",
            help="Which one, and what differs from its standard; without any, they are listed.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The trace to write [NAME.parquet].")
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option("--like", help="Draw from this trace instead, in blocks of its requests."),
    ] = None,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Write a synthetic workload as a stored trace: the same for a seed on every machine."""
    if workload is not None and like is not None:
        raise typer.BadParameter("a workload's name, or --like, not both")
    if like is not None:
        _write_like(like, output, seed, as_json)
    elif workload is not None:
        _write(workload, output, seed, as_json)
    elif as_json:
        console.out_json({"workloads": [_info_json(info) for info in _engine.workloads()]})
    else:
        _print_list()


def _write(workload: str, output: Path | None, seed: int, as_json: bool) -> None:
    spec = parse_workload(workload, seed)
    with console.progress() as progress:
        trace = generate_workload(spec, output or Path(f"{spec.name}.parquet"), progress)
    if as_json:
        console.out_json({"trace": str(trace.path), **asdict(trace.info), **_spec_json(spec)})
    else:
        console.out(f"{trace.path}: {trace.info.events:,} events of {spec.label}, seed {spec.seed}")


def _write_like(source: Path, output: Path | None, seed: int, as_json: bool) -> None:
    path = output or Path(f"{source_name(source)}-drawn-{seed}.parquet")
    with console.progress() as progress, opened_trace(source, ImportOptions(), progress) as trace:
        drawn = draw_trace(fit_model(trace), seed, path, trace.info)
    if as_json:
        told = {"like": str(source), "seed": seed, "limits": LIMITS}
        console.out_json({"trace": str(path), **asdict(drawn.info), **told})
    else:
        console.out(f"{path}: {drawn.info.events:,} events drawn from {source}, seed {seed}")
        for line in wrap(LIMITS, console.WIDTH):
            console.out(line)


def _print_list() -> None:
    infos = _engine.workloads()
    width = max(len(info.name) for info in infos)
    for info in infos:
        standards = " ".join(f"{one.name}={one.standard}" for one in info.parameters)
        console.out(f"{info.name:{width}}  {info.title}")
        for row in wrap(standards, console.WIDTH - width - 2):
            console.out(f"{'':{width}}  {row}")


def _spec_json(spec: WorkloadSpec) -> dict[str, Any]:
    return {"workload": spec.name, "seed": spec.seed, "parameters": spec.source().parameters}


def _info_json(info: _engine.WorkloadInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "title": info.title,
        "origin": info.origin,
        "parameters": [
            {
                "name": one.name,
                "meaning": one.meaning,
                "lowest": one.lowest,
                "highest": one.highest,
                "standard": one.standard,
            }
            for one in info.parameters
        ],
    }
