# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit --plans` and `--front`: writes the candidates that a fit compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit.cli.arguments import command_line
from heapfit.cli.printing.front import front_parts
from heapfit.cli.printing.plans import plans_parts
from heapfit.cli.printing.robust import robust_table
from heapfit.comparison.costs.measures import Measure
from heapfit.design.front.design_front import ALL_MEASURES, Configuration, Front, save_front
from heapfit.design.plan_files import designs_of
from heapfit.fitting.result import Fit, front_of_fit, rank_by_memory, save_plans
from heapfit.outputs.folder import stage_folder
from heapfit.plan.plan_file import require_our_entry
from heapfit.results.front.page import render
from heapfit.results.heap import design as page
from heapfit.results.html import write_page
from heapfit.results.parts import Group, Part
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.stored import Trace

_PLANS_PAGE, _FRONT_PAGE = "plans.html", "front.html"


@dataclass(frozen=True, slots=True)
class CandidateFolders:
    """The folders of candidates; None: these are not written."""

    plans: Path | None
    front: Path | None
    by: Sequence[Measure] = ALL_MEASURES  # what the front is of

    def subfolders(self, name: str) -> CandidateFolders:
        """The same with a folder of this name in each, for one of several sources."""
        plans = None if self.plans is None else self.plans / name
        return replace(self, plans=plans, front=None if self.front is None else self.front / name)


def write_candidates(fitted: Fit, folders: CandidateFolders) -> Iterator[Part]:
    """Writes the candidates that were asked for; yields what to print."""
    if folders.plans is None and folders.front is None:
        return
    shown = load_trace(fitted.searched, fitted.options.alignment)
    if folders.plans is not None:
        yield Group("plans", _write_plans(fitted, shown, folders.plans))
    if folders.front is not None:
        yield Group("front", _write_front(fitted, shown, folders.front, folders.by))


def _write_plans(fitted: Fit, shown: LoadedTrace, folder: Path) -> list[Part]:
    options = fitted.options
    asked = page.DesignPageOptions(
        options.alignment, options.plans.precision, options.programs, command_line()
    )
    placed = folder / _PLANS_PAGE
    with stage_folder(folder, require_our_entry) as staging:
        written = save_plans(fitted, staging)
        paths = tuple(folder / path.name for path in written)
        if fitted.designs is not None:
            traces = [Trace.open(path) for path in fitted.paths.traces[: len(fitted.runs)]]
            names = [run.name for run in fitted.runs]
            several = page.RobustDesignInput(fitted.designs, traces, names)
            page.write_robust_page(staging / _PLANS_PAGE, several, asked)
            return list(robust_table(fitted.designs, (paths, placed)))
        designs = designs_of(rank_by_memory(fitted), paths, shown)
        page.write_design_page(staging / _PLANS_PAGE, designs, shown, asked)
    return list(plans_parts(designs, options.effort, placed))


def _write_front(
    fitted: Fit, shown: LoadedTrace, folder: Path, by: Sequence[Measure]
) -> list[Part]:
    front = front_of_fit(fitted, shown, by)
    choice = _find_preferred(fitted, front)
    text = render(front, fitted.name, choice, command_line(), fitted.options.sram)
    with stage_folder(folder, require_our_entry) as staging:
        paths = save_front(front, staging, fitted.plan_file.trained_on)
        write_page(staging / _FRONT_PAGE, text)
    placed = [folder / path.name for path in paths]
    return list(front_parts(front, choice, fitted.options.effort, (placed, folder / _FRONT_PAGE)))


def _find_preferred(fitted: Fit, front: Front) -> Configuration | None:
    """The configuration that was chosen, where something else than memory was preferred."""
    if fitted.options.is_by_memory:
        return None
    return next(one for one in front.configurations if one.name == fitted.winner.name)
