# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit`: the main job, one heap for all sources."""

from __future__ import annotations

import sys
from pathlib import Path

from heapfit.cli.commands.fitting import FitCommand
from heapfit.cli.parser import UsageError
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.running import import_options, start_sweep
from heapfit.drawing.parts import (
    Fields,
    Group,
    Line,
    Part,
    Table,
    content_of,
    hide_unless,
    paragraph,
)
from heapfit.fitting.fit import fit, folder_for
from heapfit.fitting.options import MOST_SEARCHED, FitOptions
from heapfit.fitting.result import Fit, rank_by_memory, save_plans
from heapfit.forecast.horizon import parse_horizon
from heapfit.outputs.folder import stage_folder
from heapfit.plan.plan_file import require_our_entry
from heapfit.plan.values import expand_names
from heapfit.results.fit_page import RUNS, write_report
from heapfit.results.incumbent import incumbent_parts
from heapfit.results.plans import plans_parts, several_plans_parts
from heapfit.results.ranking import explain_ranking, ranking_table
from heapfit.results.screen import first_screen


def run(command: FitCommand) -> None:
    """Runs the fit, writes its folders and prints it."""
    if len(command.sources) > 1 and command.allocators:
        raise UsageError("--allocators takes one recording")
    options = _make_options(command)
    with start_sweep(command.workers) as sweep, progress_bar() as progress:
        folder = folder_for(command.sources, command.output)
        fitted = fit(
            command.sources,
            folder,
            options,
            progress=progress,
            sweep=sweep,
            write_page=write_report,
        )
        candidates = _write_candidates(fitted, command.plans_folder)
    parts = [*parts_of_fit(fitted, command.every), *candidates]
    if command.as_json:
        parts = [Fields({"fits": [content_of(parts)]})]
    print_result(parts, command.as_json)


def _make_options(command: FitCommand) -> FitOptions:
    """Options of the fit; whole recordings are searched for candidates."""
    has_candidates = command.plans_folder is not None
    given = command.allocators or []
    return FitOptions(
        alignment=command.alignment,
        importing=import_options(command.queue),
        prefer=command.prefer,
        call_sites=command.call_sites,
        sized=command.sized,
        pools=command.pools,
        peak=command.peak,
        horizon=None if command.horizon is None else parse_horizon(command.horizon),
        margin=command.margin,
        effort=command.effort,
        whole=command.every or has_candidates,
        now=command.now,
        code=command.code,
        programs=tuple(command.programs or ()),
        most_events=sys.maxsize if has_candidates else MOST_SEARCHED,
        seed=command.seed,
        allocators=() if given == ["all"] else tuple(expand_names(given, ())),
    )


def _write_candidates(fitted: Fit, folder: Path | None) -> list[Part]:
    """Writes the candidates into a folder, if there is one; tells what to print."""
    if folder is None:
        return []
    with stage_folder(folder, require_our_entry) as staging:
        paths = [folder / one.name for one in save_plans(fitted, staging)]
    if fitted.designs is not None:
        return [Group("plans", several_plans_parts(fitted.designs, paths))]
    return [Group("plans", plans_parts(rank_by_memory(fitted), paths, fitted.options.effort))]


def parts_of_fit(outcome: Fit, is_whole: bool = False) -> list[Part]:
    """The first screen; with `is_whole` each recording, every plan and why this one, too."""
    answer, sized = outcome.answer, outcome.answer.size
    told = {
        "region": sized.region,
        "peak": sized.peak,
        "u_max": sized.u_max,
        "r_safe": sized.r_safe,
        "margin_percent": sized.margin,
        "recordings": answer.known.load.runs,
        "is_enough": answer.known.is_enough,
        "sentences": [*outcome.kinds.growth, *answer.sentences(lasts=outcome.lasts)],
    }
    source = {
        "source": outcome.shown.source,
        "name": outcome.shown.name,
        "trace": outcome.trace.info,
    }
    rest: list[Part] = [
        Line(""),
        *_runs(outcome),
        *ranking_table(outcome.comparison),
        Line(""),
        # Why this plan was chosen, what the figures mean, and what was skipped.
        *paragraph(outcome.verdict),
        *explain_ranking(outcome.comparison, outcome.work, outcome.holdout.recorded),
        *(Line(f"trace  {path}", is_copied=True) for path in outcome.paths.traces),
    ]
    return [
        Fields(source),
        *first_screen(outcome, is_whole),
        Fields({"answer": told, "verdict": outcome.verdict, "warnings": outcome.warnings}),
        *hide_unless(is_whole, rest),
    ]


def _runs(outcome: Fit) -> list[Part]:
    """Tables of the recordings: in the incumbent and the fitted heap, and over their peaks."""
    runs = Table(RUNS, outcome.runs, "runs")
    several: list[Part] = [runs, Line("")] if len(outcome.runs) > 1 else []
    if outcome.today is None:
        return several
    # The incumbent's table has shown each recording in both heaps.
    return [*incumbent_parts(outcome.today), *hide_unless(False, several[:1]), *several[1:]]
