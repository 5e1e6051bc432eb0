# SPDX-License-Identifier: Apache-2.0
"""Where the parts of a fit lie, and which of an earlier one may be replaced."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from heapfit.generate.folder import require_replaceable as require_our_code
from heapfit.outputs.folder import staged_folder
from heapfit.plan.plan_file import require_our_entry

_PLAN, _CODE, _PAGE = "plan.toml", "code", "report.html"


@dataclass(frozen=True, slots=True)
class FitPaths:
    """What a fit wrote, all inside `folder`."""

    folder: Path
    # Stored traces, the sources themselves where they already were; then excerpts of long ones.
    traces: tuple[Path, ...]
    plan: Path | None  # plan.toml; None where the incumbent heap is kept
    code: Path | None  # folder of generated C; likewise
    report: Path | None  # report.html; None where no page is drawn


def paths_in(folder: Path, traces: tuple[Path, ...], *, has_plan: bool, has_page: bool) -> FitPaths:
    """Where a fit's parts lie in its folder; without a plan where the incumbent heap is kept."""
    page = folder / _PAGE if has_page else None
    if not has_plan:
        return FitPaths(folder, traces, None, None, page)
    return FitPaths(folder, traces, folder / _PLAN, folder / _CODE, page)


def staged_results(folder: Path) -> AbstractContextManager[Path]:
    """As `staged_folder`; a plan and code of an earlier fit go even if there are no new ones."""
    return staged_folder(folder, _require_ours, (_PLAN, _CODE, _PAGE))


def _require_ours(entry: Path) -> None:
    if entry.name == _CODE:
        require_our_code(entry)
    else:
        require_our_entry(entry)
