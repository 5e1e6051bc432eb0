# SPDX-License-Identifier: Apache-2.0
"""`heapfit check`: for continuous integration: do new recordings run on a plan, and what grew?

Exit codes in addition to those of every command: 3 if a recording fails.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from heapfit.checks.check import CheckOptions, check_recordings
from heapfit.cli.arguments import (
    OUTPUT,
    SEARCHING,
    AsJson,
    ClusterAddress,
    DropUnknown,
    PlanPath,
    PointerBitsOption,
    Programs,
    Queue,
    ReportPage,
    Sources,
    Workers,
    command_line,
    import_options,
    take_file,
    take_percent,
)
from heapfit.cli.printing.check import check_parts, title_of
from heapfit.cli.printing.markdown import save_markdown
from heapfit.cli.printing.parts import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.importers.file_kind import Kind
from heapfit.plan.plan_file import load_plan
from heapfit.sweep import Sweep
from heapfit.trace.kinds import STANDARD_QUEUE

_FAILED = 3
_Bases: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--base", help="An earlier recording, to show what grew.", **take_file(Kind.RECORDING)
    ),
]
_Growth: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--growth",
        help="Fail if a peak exceeds the base's (without --base: the plan's) by more.",
        **take_percent(),
    ),
]
_Strict: TypeAlias = Annotated[
    bool, typer.Option("--strict", help="Fail also if a run uses part of the margin.")
]
_Measure: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--measure",
        help="Search the smallest region of recordings that pass, too.",
        rich_help_panel=SEARCHING,
    ),
]
_Markdown: TypeAlias = Annotated[
    Path | None,
    typer.Option("--markdown", help="Write the result also as Markdown, for a pull request."),
]
_BasePrograms: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--base-program",
        help="The program of the base recording [those of --program].",
        rich_help_panel=OUTPUT,
        **take_file(Kind.PROGRAM),
    ),
]


def command(
    sources: Sources,
    plan: PlanPath,
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
    """Check that new recordings still run in a plan's heap, and show what grew.

    Exit status 0 if all do, 3 if one does not.
    """
    options = CheckOptions(
        base=tuple(base or []),
        growth=growth,
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

        write_check_page(report, check, sources, command_line())
    print_result(check_parts(check), as_json)
    if not check.holds:
        raise typer.Exit(_FAILED)
