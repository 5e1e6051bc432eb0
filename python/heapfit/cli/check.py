# SPDX-License-Identifier: Apache-2.0
"""`heapfit check`: for continuous integration: do new recordings run on a plan, and what grew?

Exit codes beside those of every command: 3 if a recording fails.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from heapfit.checks.check import CheckOptions, check_recordings
from heapfit.cli.arguments import (
    AsJson,
    ClusterAddress,
    DropUnknown,
    PointerBitsOption,
    Programs,
    Queue,
    ReportPage,
    Sources,
    Workers,
    import_options,
    typed_command,
)
from heapfit.cli.printing.check import check_parts, title_of
from heapfit.cli.printing.markdown import save_markdown
from heapfit.cli.printing.parts import out_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.importers.source import STANDARD_QUEUE
from heapfit.plan.plan_file import load_plan
from heapfit.sweep import Sweep

_FAILED = 3
_PERCENT = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,4})?) ?%?")


_Plan: TypeAlias = Annotated[
    Path, typer.Option("--plan", help="The plan, with the region its heap is set to.")
]
_Bases: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option("--base", help="An earlier recording, to show what grew. Repeatable."),
]
_Growth: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--growth",
        metavar="PERCENT",
        help="Fail where a peak is further above the base's highest (without --base: the plan's).",
    ),
]
_Strict: TypeAlias = Annotated[
    bool, typer.Option("--strict", help="Fail also where a run eats into the margin.")
]
_Measure: TypeAlias = Annotated[
    bool, typer.Option("--measure", help="Search the least region also of recordings that run.")
]
_Markdown: TypeAlias = Annotated[
    Path | None, typer.Option("--markdown", help="Write the result for a pull request, too.")
]
_BasePrograms: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option("--base-program", help="The program that the base recorded [those of --program]."),
]


def command(
    sources: Sources,
    plan: _Plan,
    base: _Bases = None,
    growth: _Growth = None,
    strict: _Strict = False,
    measure: _Measure = False,
    markdown: _Markdown = None,
    report: ReportPage = None,
    programs: Programs = None,
    base_programs: _BasePrograms = None,
    queue: Queue = STANDARD_QUEUE,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    as_json: AsJson = False,
) -> None:
    """Check that new recordings run on a plan in its region, and show what grew.

    Exit status 0 if all do, 3 if one does not.
    """
    options = CheckOptions(
        base=tuple(base or []),
        growth=None if growth is None else _percent(growth),
        is_strict=strict,
        measure=measure,
        programs=tuple(programs or []),
        base_programs=tuple(base_programs or []),
        importing=import_options(queue, drop_unknown, pointer_bits),
    )
    with progress_bar() as progress, Sweep(workers, cluster) as sweep:
        check = check_recordings(sources, load_plan(plan), options, progress, sweep)
    if markdown is not None:
        save_markdown(markdown, title_of(check), check_parts(check))
    if report is not None:
        from heapfit.report.heap.check import write_check_page  # jinja2 takes long to load

        write_check_page(report, check, sources, typed_command())
    out_result(check_parts(check), as_json)
    if not check.holds:
        raise typer.Exit(_FAILED)


def _percent(text: str) -> float:
    """2% as 2.0."""
    number = _PERCENT.fullmatch(text)
    if number is None:
        raise typer.BadParameter(f"{text} is no percentage from 0 to 9999, such as 2%")
    return float(number[1])
