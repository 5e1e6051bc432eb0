# SPDX-License-Identifier: Apache-2.0
"""The recordings of a league: files and folders of them, and which are of the same program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.content import content_hash
from heapfit.trace.names import distinct_source_names
from heapfit.trace.oversized import leave_out_oversized
from heapfit.trace.stored import COLUMNS, Trace, write_trace

_RUN = re.compile(r"(.+)-\d+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class LeagueRecording:
    """A stored trace under its name in the league."""

    name: str
    path: Path
    content: str  # hash of what decides a replay
    events: int

    @property
    def program(self) -> str:
        """The program's name; its runs differ in a number at the end of theirs.

        >>> LeagueRecording("nginx-2", Path("nginx-2.parquet"), "", 0).program
        'nginx'
        """
        match = _RUN.fullmatch(self.name)
        return match[1] if match else self.name


@dataclass(frozen=True, slots=True)
class OpeningOptions:
    """Options of opening recordings."""

    importing: ImportOptions = field(default_factory=ImportOptions)  # of what is not stored
    events: int | None = None  # only the first so many of each


def open_recordings(
    sources: Sequence[Path],
    folder: Path,
    opening: OpeningOptions | None = None,
    progress: Progress = ignore_progress,
) -> tuple[LeagueRecording, ...]:
    """All recordings of the files and folders, imported to `folder` where they are not stored.

    HeapfitError names the file that is none.
    """
    opening = opening or OpeningOptions()
    events = opening.events
    files = [file for source in sources for file in _files_of(source)]
    found = []
    for number, (file, name) in enumerate(zip(files, distinct_source_names(files), strict=True)):
        progress("open recordings", number / len(files))
        opened = open_any(file, opening.importing, folder, name=f"whole-{name}")
        trace = leave_out_oversized(opened, folder)
        if events is not None and trace.info.events > events:
            trace = _cut_trace(trace, events, folder / f"{name}.parquet")
        found.append(LeagueRecording(name, trace.path, content_hash(trace), trace.info.events))
    progress("open recordings", 1.0)
    return tuple(found)


def _files_of(source: Path) -> list[Path]:
    if not source.is_dir():
        return [source]
    files = sorted(
        file for file in source.iterdir() if file.is_file() and not file.name.startswith(".")
    )
    if not files:
        raise HeapfitError(f"{source}: no recording in this folder")
    return files


def _cut_trace(trace: Trace, events: int, path: Path) -> Trace:
    def batches() -> Iterator[dict[str, Any]]:
        left = events
        for batch in trace.batches(tuple(COLUMNS)):
            if left > 0:
                yield {name: column[:left] for name, column in batch.items()}
                left -= len(batch["op"])

    return write_trace(path, batches(), replace(trace.info, notes=()))


def group_by_program(
    recordings: Sequence[LeagueRecording],
) -> dict[LeagueRecording, tuple[LeagueRecording, ...]]:
    """The first run of each program, with the program's other runs."""
    programs: dict[str, list[LeagueRecording]] = {}
    for one in recordings:
        programs.setdefault(one.program, []).append(one)
    return {runs[0]: tuple(runs[1:]) for runs in programs.values()}
