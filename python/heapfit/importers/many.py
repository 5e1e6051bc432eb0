# SPDX-License-Identifier: Apache-2.0
"""Imports many files at once, by the workers of a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from heapfit.errors import HeapfitError, read_error_reason
from heapfit.importers import STEP, ImportOptions, import_file, open_any
from heapfit.importers.file_kind import require_kind
from heapfit.importers.formats import STORED_MAGIC
from heapfit.importers.stream import begins_with
from heapfit.progress import Progress, ignore_progress
from heapfit.store_file import StoreFile, is_address
from heapfit.sweep import Job, Sweep
from heapfit.trace.kinds import SourceKind
from heapfit.trace.stored import Trace

_BYTES_AN_EVENT = 8  # of a recording's file, about


def read_paths(word: str, kinds: Sequence[SourceKind], *, is_one: bool) -> list[Path]:
    """The files that a word names, each of one of these kinds; `is_one`: of no folder or list."""
    return [
        require_kind(path, *kinds)
        for path in (
            [Path(word)] if is_one or SourceKind.RECORDING not in kinds else list_recordings([word])
        )
    ]


def list_recordings(words: Iterable[str | Path]) -> list[Path]:
    """The files that words name, in their order: each a file, a folder or an address of a store.

    Of these all files below them count, but hidden ones. `@FILE` stands for the lines of a file.
    """
    found: list[Path] = []
    for word in words:
        path = Path(word)
        if isinstance(word, StoreFile):
            found.append(word)
        elif is_address(text := str(word)):
            found += StoreFile.list(text)
        elif text.startswith("@"):
            found += list_recordings(_lines_of(Path(text[1:])))
        elif path.is_dir():
            below = sorted(one for one in path.rglob("[!.]*") if one.is_file())
            if any(one.name == "plan.toml" for one in below):
                raise HeapfitError(
                    f"{path}: is a folder with a plan, as heapfit fit writes it (give recordings)"
                )
            found += below or [path]  # which is no file, as is told where it is opened
        else:
            found.append(path)
        if not found:
            raise HeapfitError(f"{word}: has no recording in it")
    return found


def _lines_of(listing: Path) -> list[str]:
    """The names in a list of recordings, a line each; those that begin with # are left out."""
    try:
        lines = listing.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        reason = read_error_reason(error) if isinstance(error, OSError) else "is no text"
        raise HeapfitError(f"{listing}: {reason}") from error
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


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
    is_shared = sweep.cluster is None and all(source.is_file() for source, _ in named)
    if len(named) == 1 or not is_shared:
        return [import_file(*one, options, progress) for one in named]
    jobs = [
        Job(f"import {one[0].name}", _import_one, (*one, options), events=estimate_events(one[0]))
        for one in named
    ]
    return sweep.run(STEP, jobs, progress)


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
    to_import = [one for one in named if not begins_with(one[0], STORED_MAGIC)]
    imported = {one.path: one for one in import_files(to_import, options, sweep, progress)}
    return [imported.get(target) or Trace.open(source) for source, target in named]


def _import_one(asked: tuple[Path, Path, ImportOptions]) -> Trace:
    return import_file(*asked)


def estimate_events(source: Path) -> int:
    """The events in a recording, by its file; a missing one is an error where it is opened."""
    return max(source.stat().st_size // _BYTES_AN_EVENT, 1) if source.exists() else 0
