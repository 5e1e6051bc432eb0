# SPDX-License-Identifier: Apache-2.0
"""`heapfit generate`: a plan becomes a folder of plain C."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from heapfit.cli.arguments import AsJson
from heapfit.cli.printing.parts import Fields, Line, Note, Part, out_result
from heapfit.generate import generate
from heapfit.plan.plan_file import load_plan, pointer_size_warning


def command(
    plan: Annotated[Path, typer.Argument(help="A plan file.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for the C [code beside PLAN].")
    ] = None,
    prefix: Annotated[
        str, typer.Option("--prefix", help="What every function's name begins with.")
    ] = "app",
    as_json: AsJson = False,
) -> None:
    """Write the C of a plan: const tables, a thin wrapper and the allocator's own files."""
    plan_file = load_plan(plan)
    paths = generate(plan_file, output or plan.parent / "code", prefix)
    warning = pointer_size_warning(plan_file.trained_on.kind, plan_file.pointer_bits)
    out_result(_parts(plan, paths, [warning] if warning else []), as_json)


def _parts(plan: Path, paths: Sequence[Path], warnings: Sequence[str]) -> Iterator[Part]:
    yield Fields({"plan": plan, "files": paths, "warnings": warnings})
    for path in paths:
        yield Line(str(path))
    yield from map(Note, warnings)
