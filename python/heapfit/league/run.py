# SPDX-License-Identifier: Apache-2.0
"""The league run: jobs, those kept from before, and what all of them came to."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.league.board import Board, Entrant, joined, require_same_sources
from heapfit.league.others import PluginJob, entrant_name, plugin_rows
from heapfit.league.own import DesignJob, PlainJob, design_rows, plain_rows
from heapfit.league.recordings import Recording, other_runs
from heapfit.league.row_cache import Kept
from heapfit.league.rows import LeagueRow, row_order
from heapfit.league.stamps import built_stamp, key_of, own_stamp, tool_version
from heapfit.plan.allocators import find_allocators, takes_pools
from heapfit.plugin import Built, Plugin, build
from heapfit.progress import Progress, no_progress
from heapfit.sweep import Job, Sweep

ALIGNMENTS: Final = (4, 8)
NO_BOARD: Final = Board()
_ORDINARY: Final = 200  # replays of a recording that a job is thought to take

_Job: TypeAlias = PlainJob | DesignJob | PluginJob


@dataclass(frozen=True, slots=True)
class LeagueOptions:
    """Who takes part, and how."""

    alignments: tuple[int, ...] = ALIGNMENTS
    allocators: tuple[str, ...] = ()  # of ours; without any, all
    plugins: tuple[Plugin, ...] = ()
    has_designs: bool = True
    board: Board = NO_BOARD


@dataclass(frozen=True, slots=True)
class League:
    """All rows, in their order, and what they are of."""

    version: str  # of heapfit
    rows: tuple[LeagueRow, ...]
    recordings: tuple[Recording, ...]
    entrants: tuple[Entrant, ...]
    measured: int  # jobs that were done now; not part of what is saved
    reused: int  # and those that were kept


def run_league(
    recordings: Sequence[Recording],
    options: LeagueOptions,
    kept: Kept,
    sweep: Sweep,
    progress: Progress = no_progress,
) -> League:
    """Does every job that is not kept, and keeps it.

    HeapfitError if there is nothing to do, or a plug-in cannot be built.
    """
    if not recordings:
        raise HeapfitError("no recordings (give a folder with some)")
    require_same_sources(options.board, options.plugins)
    with tempfile.TemporaryDirectory(prefix="heapfit-") as folder:
        built = _built(options.plugins, Path(folder), progress)
        jobs = {_key(job): job for job in _jobs(recordings, options, built)}
        found = {key: rows for key in jobs if (rows := kept.rows(key)) is not None}
        _measure({key: job for key, job in jobs.items() if key not in found}, kept, sweep, progress)
        rows = [row for key in jobs for row in found.get(key) or kept.rows(key) or []]
        rows = joined(rows, options.board, recordings, options.alignments)
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


def _built(plugins: Sequence[Plugin], folder: Path, progress: Progress) -> list[Built]:
    names = [entrant_name(one) for one in plugins]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise HeapfitError(f"two plug-ins have the name {twice} (rename one's file or folder)")
    done = []
    for number, plugin in enumerate(plugins):
        progress("build plug-ins", number / len(plugins))
        done.append(build(plugin, folder / str(number)))
    return done


def _jobs(
    recordings: Sequence[Recording], options: LeagueOptions, built: Sequence[Built]
) -> Iterator[_Job]:
    infos = find_allocators(options.allocators)
    names = tuple(info.name for info in infos)
    without_pools = tuple(info.name for info in infos if not takes_pools(info))
    for alignment in options.alignments:
        for recording in recordings:
            yield PlainJob(recording, alignment, without_pools)
            yield from (PluginJob(one, recording, alignment) for one in built)
        if options.has_designs:
            for first, others in other_runs(recordings).items():
                yield DesignJob(first, others, alignment, names)


def _key(job: _Job) -> str:
    """Names are in it, since rows have them."""
    match job:
        case PlainJob():
            return key_of("plain", own_stamp(), *_told(job.recording), job.alignment,
                          job.allocators)  # fmt: skip
        case DesignJob():
            runs = [_told(one) for one in (job.learned_from, *job.others)]
            return key_of("designs", own_stamp(), runs, job.alignment, job.allocators)
        case PluginJob():
            who = entrant_name(job.built.plugin)
            return key_of(who, built_stamp(job.built), *_told(job.recording), job.alignment)


def _told(recording: Recording) -> tuple[str, str]:
    return recording.name, recording.content


def _measure(jobs: Mapping[str, _Job], kept: Kept, sweep: Sweep, progress: Progress) -> None:
    """Each is kept as it comes, so that what was done before an interrupt is not lost."""
    keys = list(jobs)
    work = [
        Job(f"league {number}", _done, job, events=_ORDINARY * _events(job))
        for number, job in enumerate(jobs.values(), 1)
    ]

    def keep(number: int, rows: list[LeagueRow]) -> Sequence[Job]:
        kept.keep(keys[number], rows)
        return ()

    if work:
        sweep.run("league", work, progress, keep)


def _done(job: _Job) -> list[LeagueRow]:
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
    return Entrant(entrant_name(plugin), built_stamp(built), (*versions, *flags))
