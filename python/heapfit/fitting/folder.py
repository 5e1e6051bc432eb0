# SPDX-License-Identifier: Apache-2.0
"""The files of a fit: where they lie, which may be replaced, and writing plan and code."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from heapfit.generate import GenerateOptions, generate
from heapfit.generate.folder import require_our_code
from heapfit.outputs.folder import stage_folder
from heapfit.plan.plan_file import PlanFile, require_our_entry, save_plan
from heapfit.progress import Progress
from heapfit.sweep.threads import run_beside_body

_PLAN, _CODE, _PAGE = "plan.toml", "code", "report.html"


@dataclass(frozen=True, slots=True)
class FitPaths:
    """What a fit wrote, all inside `folder`."""

    folder: Path
    # Stored traces, the sources themselves where they already were; then excerpts of long ones.
    traces: tuple[Path, ...]
    plan: Path  # plan.toml, of the heap that is kept where one is
    code: Path | None  # folder of generated C; None where a heap is kept
    report: Path | None  # report.html; None where no page is drawn

    @classmethod
    def in_folder(
        cls, folder: Path, traces: tuple[Path, ...] = (), *, has_code: bool, has_page: bool
    ) -> FitPaths:
        """Where a fit's parts lie in its folder."""
        code, page = (folder / _CODE if has_code else None), (folder / _PAGE if has_page else None)
        return cls(folder, traces, folder / _PLAN, code, page)


def stage_results(folder: Path) -> AbstractContextManager[Path]:
    """Stages a fit's files; an earlier plan and code are removed even if no new ones come."""
    return stage_folder(folder, _require_ours, (_PLAN, _CODE, _PAGE))


def _require_ours(entry: Path) -> None:
    if entry.name == _CODE:
        require_our_code(entry)
    else:
        require_our_entry(entry)


def start_writing_code(
    plan_file: PlanFile, paths: FitPaths, threads: int, progress: Progress
) -> AbstractContextManager[Callable[[], Path | None]]:
    """Writes plan and code while the body runs, as compilers that weigh the code are processes of
    their own; gives what waits for the code's folder.
    """

    def write() -> Path | None:
        save_plan(paths.plan, plan_file)
        if paths.code is None:
            return None
        options = GenerateOptions(counts=True, threads=threads, progress=progress)
        generate(plan_file, paths.code, options=options)
        return paths.code

    return run_beside_body(threads, write)
