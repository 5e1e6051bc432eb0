# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit --plans`: writes the candidates that a fit compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from heapfit.cli.arguments import command_line
from heapfit.cli.printing.robust import robust_table
from heapfit.design.plan_files import designs_of
from heapfit.fitting.result import Fit, rank_by_memory, save_plans
from heapfit.outputs.folder import stage_folder
from heapfit.plan.plan_file import require_our_entry
from heapfit.results.heap import design as page
from heapfit.results.parts import Group, Part
from heapfit.results.plans import plans_parts
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace

_PAGE = "plans.html"


def write_candidates(fitted: Fit, folder: Path | None) -> Iterator[Part]:
    """Writes the candidates and their page into a folder, if there is one; yields what to print."""
    if folder is None:
        return
    options = fitted.options
    shown = load_trace(fitted.searched, options.alignment)
    asked = page.DesignPageOptions(
        options.alignment, options.plans.precision, options.programs, command_line()
    )
    with stage_folder(folder, require_our_entry) as staging:
        paths = tuple(folder / path.name for path in save_plans(fitted, staging))
        if fitted.designs is not None:
            traces = [Trace.open(path) for path in fitted.paths.traces[: len(fitted.runs)]]
            names = [run.name for run in fitted.runs]
            several = page.RobustDesignInput(fitted.designs, traces, names)
            page.write_robust_page(staging / _PAGE, several, asked)
            parts = robust_table(fitted.designs, (paths, folder / _PAGE))
        else:
            designs = designs_of(rank_by_memory(fitted), paths, shown)
            page.write_design_page(staging / _PAGE, designs, shown, asked)
            parts = plans_parts(designs, options.effort, folder / _PAGE)
    yield Group("plans", list(parts))
