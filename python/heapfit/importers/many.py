# SPDX-License-Identifier: Apache-2.0
"""Imports many files at once, by the workers of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from heapfit.importers import ImportOptions, import_file, open_any
from heapfit.importers.formats import STORED_MAGIC
from heapfit.progress import Progress, ignore_progress
from heapfit.sweep import Job, Sweep
from heapfit.trace.stored import Trace

_STEP = "import"
_BYTES_AN_EVENT = 8  # of a recording's file, about


class Import(NamedTuple):
    """A file, and the trace that it becomes."""

    source: Path
    output: Path
    options: ImportOptions


def import_files(
    imports: Sequence[Import], sweep: Sweep, progress: Progress = ignore_progress
) -> list[Trace]:
    """The traces in the order of their files; each appears whole or not at all.

    HeapfitError is that of the first file that is none; what was stored before it stays. Pipes,
    which no other process can read, and workers of a cluster, which write elsewhere, are not
    shared out.
    """
    if len(imports) == 1:
        return [import_file(*imports[0], progress)]
    if not (sweep.is_on_this_machine and all(one.source.is_file() for one in imports)):
        return [import_file(*one) for one in imports]
    jobs = [
        Job(f"import {one.source.name}", _import_one, one, events=estimate_events(one.source))
        for one in imports
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
    to_import = [
        Import(source, folder / f"{name}.parquet", options)
        for source, name in sources
        if not _is_stored(source)
    ]
    imported = {one.path: one for one in import_files(to_import, sweep, progress)}
    return [
        imported.get(folder / f"{name}.parquet") or Trace.open(source) for source, name in sources
    ]


def _import_one(one: Import) -> Trace:
    return import_file(*one)


def estimate_events(source: Path) -> int:
    """The events in a recording, by its file; a missing one is an error where it is opened."""
    return max(source.stat().st_size // _BYTES_AN_EVENT, 1) if source.exists() else 0


def _is_stored(source: Path) -> bool:
    with source.open("rb") as file:
        return file.read(len(STORED_MAGIC)) == STORED_MAGIC
