# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit --plans`: writes the candidates that a fit compared."""

from __future__ import annotations

from pathlib import Path

from heapfit.cli.arguments import command_line
from heapfit.comparison.case import case_of_several, make_case
from heapfit.comparison.heap_map import measure_case
from heapfit.comparison.verdict import select_row
from heapfit.design.plan_files import designs_of
from heapfit.fitting.result import Fit, rank_by_memory, save_plans
from heapfit.outputs.folder import stage_folder
from heapfit.plan.plan_file import require_our_entry
from heapfit.results.html import write
from heapfit.results.parts import Group, Part
from heapfit.results.plans import plans_page, plans_parts
from heapfit.results.plans_of_several import several_plans_page, several_plans_parts
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace

_PAGE = "plans.html"


def write_candidates(fitted: Fit, folder: Path | None) -> list[Part]:
    """Writes the candidates and their page into a folder, if there is one; tells what to print."""
    if folder is None:
        return []
    options, typed = fitted.options, command_line()
    with stage_folder(folder, require_our_entry) as staging:
        paths, page = [folder / one.name for one in save_plans(fitted, staging)], folder / _PAGE
        if fitted.designs is not None:
            traces = [Trace.open(path) for path in fitted.paths.traces[: len(fitted.runs)]]
            names = [run.name for run in fitted.runs]
            case = case_of_several(
                fitted.designs,
                traces,
                alignment=options.alignment,
                precision=options.precision,
                programs=options.programs,
            )
            told = several_plans_page(fitted.designs, names, case, measure_case(case), typed)
            parts = several_plans_parts(fitted.designs, paths, page)
        else:
            shown, ranked = load_trace(fitted.searched, options.alignment), rank_by_memory(fitted)
            designs = designs_of(ranked, tuple(paths), shown)
            case = make_case(shown, ranked, select_row(ranked), options.programs)
            told = plans_page(designs, case, measure_case(case), typed)
            parts = plans_parts(designs, options.effort, page)
        write(staging / _PAGE, told)
    return [Group("plans", parts)]
