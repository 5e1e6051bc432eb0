# SPDX-License-Identifier: Apache-2.0
"""A run of the league: its jobs, those stored from earlier runs, and the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.league.board import Board, Entrant, join_board_rows, require_same_sources
from heapfit.league.others import PluginJob, entrant_name, plugin_rows
from heapfit.league.own import DesignJob, PlainJob, design_rows, plain_rows
from heapfit.league.recordings import LeagueRecording, group_by_program
from heapfit.league.rows import LeagueRow, row_from_dict, row_order, row_to_dict
from heapfit.league.stamps import hash_parts, own_stamp, plugin_stamp, tool_version
from heapfit.outputs.file import stage_file
from heapfit.outputs.ours import allow_replacing
from heapfit.outputs.scratch import scratch_folder
from heapfit.plan.allocators import find_allocators, takes_pools
from heapfit.plugin import Built, Plugin, build
from heapfit.progress import Progress, ignore_progress
from heapfit.sweep import Job, Sweep


@dataclass(frozen=True, slots=True)
class RowCache:
    """A folder with a file for each job that was ever done."""

    folder: Path

    def rows(self, key: str) -> list[LeagueRow] | None:
        """The rows of a job; None if they are not stored, or can no longer be read."""
        try:
            text = self._file(key).read_text(encoding="utf-8")
            return [row_from_dict(values) for values in json.loads(text)]
        except (OSError, ValueError, TypeError, AttributeError):
            return None

    def store(self, key: str, rows: Sequence[LeagueRow]) -> None:
        """Stores the rows of a job, whole or not at all; a damaged file is replaced."""
        text = json.dumps([row_to_dict(row) for row in rows], indent=0)
        with allow_replacing(), stage_file(self._file(key)) as staging:
            staging.write_text(text, encoding="utf-8")

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"


ALIGNMENTS: Final = (4, 8)
NO_BOARD: Final = Board()
_USUAL_REPLAYS: Final = 200  # replays of a recording that a job is thought to take

_Job: TypeAlias = PlainJob | DesignJob | PluginJob


@dataclass(frozen=True, slots=True)
class LeagueOptions:
    """Who takes part in a league, and how."""

    alignments: tuple[int, ...] = ALIGNMENTS
    allocators: tuple[str, ...] = ()  # of ours; without any, all
    plugins: tuple[Plugin, ...] = ()
    has_designs: bool = True
    board: Board = NO_BOARD


@dataclass(frozen=True, slots=True)
class League:
    """All rows of a league, in their order, and the recordings and entrants they are of."""

    version: str  # of heapfit
    rows: tuple[LeagueRow, ...]
    recordings: tuple[LeagueRecording, ...]
    entrants: tuple[Entrant, ...]
    measured: int  # jobs that were run now; not part of what is saved
    reused: int  # jobs whose rows were in the cache


def run_league(
    recordings: Sequence[LeagueRecording],
    options: LeagueOptions,
    cache: RowCache,
    sweep: Sweep,
    progress: Progress = ignore_progress,
) -> League:
    """Runs every job whose rows are not stored, and stores them.

    HeapfitError if there is nothing to do, or a plug-in cannot be built.
    """
    if not recordings:
        raise HeapfitError("no recordings (give a folder with some)")
    require_same_sources(options.board, options.plugins)
    with scratch_folder() as folder:
        built = _build_plugins(options.plugins, Path(folder), progress)
        jobs = {_job_key(job): job for job in _list_jobs(recordings, options, built)}
        found = {key: rows for key in jobs if (rows := cache.rows(key)) is not None}
        _run_jobs(
            {key: job for key, job in jobs.items() if key not in found}, cache, sweep, progress
        )
        rows = [row for key in jobs for row in found.get(key) or cache.rows(key) or []]
        rows = join_board_rows(rows, options.board, recordings, options.alignments)
        ours = Entrant("heapfit", own_stamp(), ())
        entrants = (ours, *map(_entrant, built), *options.board.entrants)
    return League(
        version=_engine.version,
        rows=tuple(sorted(rows, key=row_order)),
        recordings=tuple(recordings),
        entrants=entrants,
        measured=len(jobs) - len(found),
        reused=len(found),
    )


def _build_plugins(plugins: Sequence[Plugin], folder: Path, progress: Progress) -> list[Built]:
    names = [entrant_name(one) for one in plugins]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise HeapfitError(f"two plug-ins have the name {twice} (rename one's file or folder)")
    done = []
    for number, plugin in enumerate(plugins):
        progress("build plug-ins", number / len(plugins))
        done.append(build(plugin, folder / str(number)))
    return done


def _list_jobs(
    recordings: Sequence[LeagueRecording], options: LeagueOptions, built: Sequence[Built]
) -> Iterator[_Job]:
    infos = find_allocators(options.allocators)
    names = tuple(info.name for info in infos)
    without_pools = tuple(info.name for info in infos if not takes_pools(info))
    for alignment in options.alignments:
        for recording in recordings:
            yield PlainJob(recording, alignment, without_pools)
            yield from (PluginJob(one, recording, alignment) for one in built)
        if options.has_designs:
            for first, others in group_by_program(recordings).items():
                yield DesignJob(first, others, alignment, names)


def _job_key(job: _Job) -> str:
    """The key of a job; names are part of it, since rows have them."""
    match job:
        case PlainJob():
            return hash_parts("plain", own_stamp(), *_recording_key(job.recording), job.alignment,
                          job.allocators)  # fmt: skip
        case DesignJob():
            runs = [_recording_key(one) for one in (job.learned_from, *job.others)]
            return hash_parts("designs", own_stamp(), runs, job.alignment, job.allocators)
        case PluginJob():
            who = entrant_name(job.built.plugin)
            return hash_parts(
                who, plugin_stamp(job.built), *_recording_key(job.recording), job.alignment
            )


def _recording_key(recording: LeagueRecording) -> tuple[str, str]:
    return recording.name, recording.content


def _run_jobs(jobs: Mapping[str, _Job], cache: RowCache, sweep: Sweep, progress: Progress) -> None:
    """Runs jobs; each is stored at once, so that an interrupt loses no finished job."""
    keys = list(jobs)
    work = [
        Job(f"league {number}", _run_job, job, events=_USUAL_REPLAYS * _events(job))
        for number, job in enumerate(jobs.values(), 1)
    ]

    def keep(number: int, rows: list[LeagueRow]) -> Sequence[Job]:
        cache.store(keys[number], rows)
        return ()

    if work:
        sweep.run("league", work, progress, keep)


def _run_job(job: _Job) -> list[LeagueRow]:
    match job:
        case PlainJob():
            return plain_rows(job)
        case DesignJob():
            return design_rows(job)
        case PluginJob():
            return plugin_rows(job)


def _events(job: _Job) -> int:
    if isinstance(job, DesignJob):
        return job.learned_from.events + sum(one.events for one in job.others)
    return job.recording.events


def _entrant(built: Built) -> Entrant:
    plugin = built.plugin
    tools: Callable[[str], str] = tool_version
    versions = [tools("gcc"), *([tools("rustc")] if plugin.is_crate else [])]
    flags = [flag for flag in plugin.cflags if not flag.startswith("-I")]
    return Entrant(entrant_name(plugin), plugin_stamp(built), (*versions, *flags))
