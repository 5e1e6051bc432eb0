# SPDX-License-Identifier: Apache-2.0
"""What a fit writes appears whole or not at all, and replaces nothing that somebody else wrote."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.fit_result import FitPaths
from heapfit.generate.folder import require_replaceable
from heapfit.plan.plan_file import require_unedited

_PLAN, _CODE = "plan.toml", "code"


def paths_in(folder: Path, traces: tuple[Path, ...], *, has_plan: bool) -> FitPaths:
    """Where a fit's parts lie in its folder; without a plan where today's heap is kept."""
    report = folder / "report.html"
    if not has_plan:
        return FitPaths(folder, traces, None, None, report)
    return FitPaths(folder, traces, folder / _PLAN, folder / _CODE, report)


@contextlib.contextmanager
def results_aside(folder: Path) -> Iterator[Path]:
    """A folder to write to, which becomes `folder` at the end and is gone on any exception.

    Where `folder` is there, what was written is moved into it, beside what else it holds; a plan
    and code of an earlier fit go even if there are no new ones. An exception meanwhile, Ctrl-C
    included, puts back what was replaced. HeapfitError, at once, if the folder's plan or code was
    edited or not written by heapfit.
    """
    _require_replaceable(folder)
    is_there = folder.is_dir()  # beside it may be another disk
    with _written(folder):
        parent = folder if is_there else folder.parent
        parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".fit-", dir=parent))
    try:
        new, old = scratch / "new", scratch / "old"
        new.mkdir()
        old.mkdir()
        yield new
        _require_replaceable(folder)
        with _written(folder):
            if is_there:
                _exchange(new, folder, old)
            else:
                new.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _require_replaceable(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise HeapfitError(f"{folder}: is not a folder (choose another place)")
    require_unedited(folder / _PLAN)
    require_replaceable(folder / _CODE)


@contextlib.contextmanager
def _written(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise HeapfitError(
            f"{folder}: cannot be written: {reason} (choose another place)"
        ) from error


def _exchange(new: Path, folder: Path, old: Path) -> None:
    """Moves each entry of `new` into `folder`, and what had its name, or is a plan, into `old`."""
    made = sorted(entry.name for entry in new.iterdir())
    try:
        for name in sorted({_PLAN, _CODE, *made}):
            if (folder / name).exists():
                (folder / name).rename(old / name)
            if name in made:
                (new / name).rename(folder / name)
    except BaseException:
        _restore(made, new, folder, old)
        raise


def _restore(made: list[str], new: Path, folder: Path, old: Path) -> None:
    """Undoes an exchange, however far it came: what is no longer in `new` has been moved."""
    for name in made:
        if not (new / name).exists():
            (folder / name).rename(new / name)
    for entry in sorted(old.iterdir()):
        entry.rename(folder / entry.name)
