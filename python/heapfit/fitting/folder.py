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


def paths_in(folder: Path, traces: tuple[Path, ...]) -> FitPaths:
    """Where a fit's parts lie in its folder."""
    return FitPaths(folder, traces, folder / "plan.toml", folder / "code", folder / "report.html")


@contextlib.contextmanager
def results_aside(folder: Path) -> Iterator[Path]:
    """A folder to write to, which becomes `folder` at the end and is gone on any exception.

    Where `folder` is there, what was written is moved into it, beside what else it holds; an
    exception meanwhile, Ctrl-C included, puts back what was replaced. HeapfitError, at once, if
    its plan or its code was edited or not written by heapfit.
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
    paths = paths_in(folder, ())
    require_unedited(paths.plan)
    require_replaceable(paths.code)


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
    """Moves each entry of `new` into `folder`, and what had its name into `old`."""
    names = sorted(entry.name for entry in new.iterdir())
    try:
        for name in names:
            if (folder / name).exists():
                (folder / name).rename(old / name)
            (new / name).rename(folder / name)
    except BaseException:
        _restore(names, new, folder, old)
        raise


def _restore(names: list[str], new: Path, folder: Path, old: Path) -> None:
    """Undoes an exchange, however far it came: what is no longer in `new` has been moved."""
    for name in names:
        if not (new / name).exists():
            (folder / name).rename(new / name)
        if (old / name).exists():
            (old / name).rename(folder / name)
