# SPDX-License-Identifier: Apache-2.0
"""Imports many files at once, by the workers of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heapfit.importers import ImportOptions, import_file, open_any
from heapfit.importers.formats import STORED_MAGIC
from heapfit.progress import Progress, ignore_progress
from heapfit.sweep import Job, Sweep
from heapfit.trace.stored import Trace

_STEP = "import"
_BYTES_AN_EVENT = 8  # of a recording's file, about


def import_files(
    named: Sequence[tuple[Path, Path]],
    options: ImportOptions,
    sweep: Sweep,
    progress: Progress = ignore_progress,
) -> list[Trace]:
    """The traces of files with where they are to be; each appears whole or not at all.

    HeapfitError is that of the first file that is none; what was stored before it stays. Pipes,
    which no other process can read, and workers of a cluster, which write elsewhere, are not
    shared out.
    """
    if len(named) == 1:
        return [import_file(*named[0], options, progress)]
    if not (sweep.is_on_this_machine and all(source.is_file() for source, _ in named)):
        return [import_file(*one, options) for one in named]
    jobs = [
        Job(f"import {one[0].name}", _import_one, (*one, options), events=estimate_events(one[0]))
        for one in named
    ]
    return sweep.run(_STEP, jobs, progress)


def open_all(
    sources: Sequence[tuple[Path, str]],
    options: ImportOptions,
    folder: Path,
    sweep: Sweep | None = None,
    progress: Progress = ignore_progress,
) -> list[Trace]:
    """Opens each file under its name like `open_any`; without a sweep one after the other."""
    if sweep is None or len(sources) == 1 or not all(source.is_file() for source, _ in sources):
        return [open_any(source, options, folder, progress, name) for source, name in sources]
    named = [(source, folder / f"{name}.parquet") for source, name in sources]
    to_import = [one for one in named if not _is_stored(one[0])]
    imported = {one.path: one for one in import_files(to_import, options, sweep, progress)}
    return [imported.get(target) or Trace.open(source) for source, target in named]


def _import_one(asked: tuple[Path, Path, ImportOptions]) -> Trace:
    return import_file(*asked)


def estimate_events(source: Path) -> int:
    """The events in a recording, by its file; a missing one is an error where it is opened."""
    return max(source.stat().st_size // _BYTES_AN_EVENT, 1) if source.exists() else 0


def _is_stored(source: Path) -> bool:
    with source.open("rb") as file:
        return file.read(len(STORED_MAGIC)) == STORED_MAGIC
