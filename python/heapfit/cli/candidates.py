# SPDX-License-Identifier: Apache-2.0
"""`heapfit fit --plans`: writes the candidates that a fit compared."""

from __future__ import annotations

from pathlib import Path

from heapfit.fitting.result import Fit, rank_by_memory, save_plans
from heapfit.outputs.folder import stage_folder
from heapfit.plan.plan_file import require_our_entry
from heapfit.results.parts import Group, Part
from heapfit.results.plans import plans_parts
from heapfit.results.plans_of_several import several_plans_parts


def write_candidates(fitted: Fit, folder: Path | None) -> list[Part]:
    """Writes the candidates into a folder, if there is one; tells what to print."""
    if folder is None:
        return []
    with stage_folder(folder, require_our_entry) as staging:
        paths = [folder / one.name for one in save_plans(fitted, staging)]
    if fitted.designs is not None:
        return [Group("plans", several_plans_parts(fitted.designs, paths))]
    parts = plans_parts(rank_by_memory(fitted), paths, fitted.options.effort)
    return [Group("plans", parts)]
