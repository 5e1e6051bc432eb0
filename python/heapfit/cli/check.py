# SPDX-License-Identifier: Apache-2.0
"""`heapfit check`: for continuous integration: do new recordings run on a plan, and what grew?

Exit codes in addition to those of every command: 3 if a recording fails.
"""

from __future__ import annotations

from pathlib import Path

from heapfit.checks.check import Check, CheckOptions, check_recordings
from heapfit.checks.shards import merge
from heapfit.checks.shown import read_shown
from heapfit.cli.arguments import command_line
from heapfit.cli.commands.fitting import CheckCommand
from heapfit.cli.parser import UsageError
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.running import exit_unless, import_options, start_sweep
from heapfit.comparison.incumbents.heap_plans import parse_heap_size
from heapfit.drawing.markdown import save_markdown
from heapfit.memories.joint import check_jointly
from heapfit.plan.memories import MemoriesPlan
from heapfit.plan.plan_file import PlanFile, load_plan
from heapfit.results.check import check_parts, headline_of
from heapfit.results.check_page import check_page
from heapfit.results.memories import joint_parts


def run(command: CheckCommand) -> None:
    options = CheckOptions(
        base=tuple(command.base or []),
        growth=command.growth,
        is_strict=command.strict,
        measure=command.measure or any(path.suffix != ".md" for path in command.report or []),
        programs=tuple(command.programs or []),
        base_programs=tuple(command.base_programs or []),
        importing=import_options(command.queue),
    )
    plan = _read_plan(command)
    if plan is not None and plan.memories is not None:
        _check_memories(command, plan.memories, options)
        return
    if command.merge:
        if plan is None or command.base or command.growth or command.strict:
            raise UsageError("--merge takes results of --json, and their --plan or --heap")
        check = merge(command.sources, plan)
    else:
        with progress_bar() as progress, start_sweep(command.workers) as sweep:
            check = check_recordings(command.sources, plan, options, progress, sweep)
    for path in command.report or []:
        _write_report(path, check, command)
    print_result(check_parts(check), command.as_json)
    exit_unless(check.holds)


def _write_report(path: Path, check: Check, command: CheckCommand) -> None:
    """Writes the result as Markdown if the file's name ends in .md, else as a page."""
    if path.suffix == ".md":
        save_markdown(path, headline_of(check), check_parts(check, is_whole=True)[1:])
        return
    from heapfit.drawing.html import write_document  # loads jinja2, which takes long

    write_document(
        path, check_page(read_shown(check, command.sources), command.sources, command_line())
    )


def _check_memories(command: CheckCommand, plan: MemoriesPlan, options: CheckOptions) -> None:
    """A check of several memories: whether all is served."""
    given = (command.base, command.measure, command.strict, command.report)
    if any(given):
        raise UsageError("a plan of several memories takes recordings and --json alone")
    joint = check_jointly(plan, command.sources, options.importing)
    print_result(joint_parts(joint), command.as_json)
    exit_unless(joint.refusal is None)


def _read_plan(command: CheckCommand) -> PlanFile | None:
    """The plan of a file, or of a heap and its size; None: recordings are compared with a base."""
    if command.plan is not None and command.heap is not None:
        raise UsageError("give --plan or --heap, one of the two")
    if command.plan is not None:
        return load_plan(command.plan, takes_memories=True)
    if command.heap is not None:
        return parse_heap_size(command.heap)
    if not command.base:
        raise UsageError("give --plan or --heap, or --base to compare recordings")
    if command.measure:
        raise UsageError("--measure judges a plan: give --plan or --heap")
    return None
