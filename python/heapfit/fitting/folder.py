# SPDX-License-Identifier: Apache-2.0
"""Where the parts of a fit lie, and which of an earlier one may be replaced."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from heapfit.fit_result import FitPaths
from heapfit.generate.folder import require_replaceable as require_our_code
from heapfit.outputs.folder import staged_folder
from heapfit.plan.plan_file import require_our_entry

_PLAN, _CODE = "plan.toml", "code"


def paths_in(folder: Path, traces: tuple[Path, ...], *, has_plan: bool) -> FitPaths:
    """Where a fit's parts lie in its folder; without a plan where today's heap is kept."""
    report = folder / "report.html"
    if not has_plan:
        return FitPaths(folder, traces, None, None, report)
    return FitPaths(folder, traces, folder / _PLAN, folder / _CODE, report)


def staged_results(folder: Path) -> AbstractContextManager[Path]:
    """As `staged_folder`; a plan and code of an earlier fit go even if there are no new ones."""
    return staged_folder(folder, _require_ours, (_PLAN, _CODE, "report.html"))


def _require_ours(entry: Path) -> None:
    if entry.name == _CODE:
        require_our_code(entry)
    else:
        require_our_entry(entry)
