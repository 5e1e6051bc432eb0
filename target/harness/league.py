# SPDX-License-Identifier: Apache-2.0
"""What only a board can tell a league: heaps of C libraries, and plug-ins in C, counted there."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.library import ALIGNMENT, LIBRARIES, Library, LibraryRun, run_library
from harness.plugin import Target, count_plugin
from harness.workbench import Workbench
from heapfit.bounds.trace_bounds import quick_bounds
from heapfit.errors import HeapfitError
from heapfit.league import LeagueRecording, LeagueRow
from heapfit.league.board import Board, BoardFigures, Entrant
from heapfit.league.others import entrant_name
from heapfit.league.rows import LIBRARY, PLAIN, UNSIZED
from heapfit.league.stamps import sources_stamp, tool_version
from heapfit.plugin import Plugin
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace


def board_of(
    folder: Path, recordings: Sequence[LeagueRecording], plugins: Sequence[Plugin], target: Target
) -> Board:
    """Every library and plug-in on every recording that fits the board; who does not is told."""
    stamps = {one.name: _stamp(one, folder) for one in LIBRARIES}
    rows = tuple(_library_rows(folder, recordings, stamps))
    figures = tuple(_plugin_figures(folder, recordings, plugins, target))
    version = tool_version(f"{target.board.tools}gcc")
    entrants = (Entrant(name, stamp, (version, "as installed")) for name, stamp in stamps.items())
    return Board(rows, figures, tuple(entrants))


def _stamp(library: Library, folder: Path) -> str:
    return hashlib.sha256(library.archive(folder).read_bytes()).hexdigest()[:16]


def _library_rows(
    folder: Path, recordings: Sequence[LeagueRecording], stamps: dict[str, str]
) -> Iterator[LeagueRow]:
    for recording in recordings:
        trace = Trace.open(recording.path)
        for library in LIBRARIES:
            workbench = _workbench(folder, library.name, recording.name)
            try:
                found = run_library(workbench, library, trace)
            except HeapfitError as error:
                _skip_reason(library.name, recording, error)
                continue
            yield _row(library, recording, found, stamps[library.name])


def _row(library: Library, recording: LeagueRecording, found: LibraryRun, stamp: str) -> LeagueRow:
    loaded = load_trace(Trace.open(recording.path), ALIGNMENT)
    return LeagueRow(
        recording=recording.name,
        content=recording.content,
        recorded_bits=loaded.trace.info.pointer_bits,
        events=recording.events,
        alignment=ALIGNMENT,
        kind=LIBRARY,
        entrant=library.name,
        interface=UNSIZED,
        bits=32,
        learned=PLAIN,
        learned_from="",
        u_max=loaded.profile.u_max,
        packing=quick_bounds(loaded).packing,
        r_min=found.region,
        r_safe=found.region,
        step=0,
        accesses=None,
        instructions=found.instructions,
        code=found.code,
        stack=found.stack,
        worst_case="",
        faults="",
        note="the most that it takes by sbrk, with its variables; faults were not looked for",
        events_replayed=3 * recording.events,
        stamp=stamp,
    )


def _plugin_figures(
    folder: Path, recordings: Sequence[LeagueRecording], plugins: Sequence[Plugin], target: Target
) -> Iterator[BoardFigures]:
    for recording in recordings:
        for plugin in plugins:
            workbench = _workbench(folder, f"plugin-{plugin.name}", recording.name)
            try:
                found = count_plugin(workbench, plugin, Trace.open(recording.path), target)
            except HeapfitError as error:
                _skip_reason(plugin.name, recording, error)
                continue
            yield BoardFigures(
                entrant=entrant_name(plugin),
                sources=sources_stamp(plugin),
                content=recording.content,
                alignment=target.alignment,
                instructions=float(found.calls.records["instructions"].mean()),
                code=found.size.total,
                stack=found.calls.deepest_stack(found.stack, *found.calls.functions),
            )


def _workbench(folder: Path, *names: str) -> Workbench:
    here = folder.joinpath(*names)
    here.mkdir(parents=True)
    return Workbench(here)


def _skip_reason(who: str, recording: LeagueRecording, error: HeapfitError) -> None:
    print(f"{who} on {recording.name} left out: {error}", file=sys.stderr)
