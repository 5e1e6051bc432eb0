# SPDX-License-Identifier: Apache-2.0
"""`heapfit workload`: a synthetic workload as a stored trace."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from textwrap import wrap

from heapfit import _engine
from heapfit.cli.commands.recordings import WorkloadCommand
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import step_bar
from heapfit.drawing.parts import Column, Fields, Line, Part, Table, columns, object_of
from heapfit.drawing.text import WIDTH
from heapfit.workloads.synthetic import generate_workload, parse_workload


def run(command: WorkloadCommand) -> None:
    name = command.workload
    parts = _list() if name is None else _write_synthetic(name, command.output, command.seed)
    print_result(parts, command.as_json)


def _write_synthetic(workload: str, output: Path | None, seed: int) -> list[Part]:
    spec = parse_workload(workload, seed)
    with step_bar() as progress:
        trace = generate_workload(spec, output or Path(f"{spec.name}.parquet"), progress)
    fields = {
        "trace": trace.path,
        **asdict(trace.info),
        "workload": spec.name,
        "seed": spec.seed,
        "parameters": spec.source().parameters,
    }
    line = f"{trace.path}: {trace.info.events:,} events of {spec.label}, seed {spec.seed}"
    return [Fields(fields), Line(line, is_copied=True)]


_PARAMETER = columns("name", "meaning", "lowest", "highest", "standard")
_WORKLOAD: tuple[Column[_engine.WorkloadInfo], ...] = (
    *columns("name", "title", "origin"),
    Column(
        "parameters", value=lambda info: [object_of(_PARAMETER, one) for one in info.parameters]
    ),
)


def _list() -> list[Part]:
    infos = _engine.workloads()
    width = max(len(info.name) for info in infos)
    return [
        Table(_WORKLOAD, infos, "workloads"),
        *(
            Line(f"{name:{width}}  {text}")
            for info in infos
            for name, text in (
                (info.name, info.title),
                *(
                    ("", row)
                    for row in wrap(
                        " ".join(f"{one.name}={one.standard}" for one in info.parameters),
                        WIDTH - width - 2,
                    )
                ),
            )
        ),
    ]
