# SPDX-License-Identifier: Apache-2.0
"""`heapfit compare --output`: a league of allocators over a set of recordings."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.cli.printing.league import league_parts
from heapfit.cli.printing.progress import progress_bar
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions
from heapfit.league import (
    LeagueOptions,
    OpeningOptions,
    open_recordings,
    run_league,
    save_league,
    standings_of,
)
from heapfit.league.board import read_board
from heapfit.league.others import crates
from heapfit.league.run import ALIGNMENTS, NO_BOARD, RowCache
from heapfit.outputs.scratch import scratch_folder
from heapfit.plugin import Plugin, plugins_of
from heapfit.results.html import write_page
from heapfit.results.league.page import render
from heapfit.results.parts import Part
from heapfit.sweep import Sweep

_PAGE = "league.html"
_WORK = {"open recordings": 2, "build plug-ins": 3, "league": 95}  # roughly, of the time


@dataclass(frozen=True, slots=True)
class ForeignAllocators:
    """Allocators that are not heapfit's: plug-ins and crates."""

    paths: Sequence[Path]
    has_crates: bool
    cflags: Sequence[str]  # for all plug-ins, or NAME: FLAGS
    bits: int
    board: Path | None = None  # what was counted of them on one
    no_build: bool = False  # takes no sources and crates, whose build runs as the user

    def plugins(self) -> tuple[Plugin, ...]:
        """The plug-ins and crates; HeapfitError if there is no plug-in at a path."""
        own = plugins_of(self.paths, self.bits, self.cflags)
        found = (*own, *(crates(self.bits) if self.has_crates else []))
        built = [one.name for one in found if not one.is_ready]
        if built and self.no_build:
            raise HeapfitError(
                f"--no-build: {', '.join(built)} would be built (give an archive or an object)"
            )
        return found

    def words(self) -> Iterator[str]:
        """The words of the command line that name these allocators."""
        for path in self.paths:
            yield from ("--plugin", str(path))
        if self.has_crates:
            yield "--crates"
        if self.paths or self.has_crates:
            yield from ("--pointer-bits", str(self.bits))
        for flags in self.cflags:
            yield from ("--cflags", flags)
        if self.board is not None:
            yield from ("--board", str(self.board))
        if self.no_build:
            yield "--no-build"


@dataclass(frozen=True, slots=True)
class LeagueRequest:
    """The recordings, allocators and options of a league."""

    sources: Sequence[Path]  # recordings, and folders of them
    allocators: Sequence[str]  # of ours; none: all
    alignments: Sequence[int]
    foreign: ForeignAllocators
    has_designs: bool
    events: int | None  # of each recording
    importing: ImportOptions

    def options(self) -> LeagueOptions:
        """The options of the league, plug-ins and board read from their files."""
        board = self.foreign.board
        return LeagueOptions(
            alignments=tuple(self.alignments) or ALIGNMENTS,
            allocators=tuple(self.allocators),
            plugins=self.foreign.plugins(),
            has_designs=self.has_designs,
            board=NO_BOARD if board is None else read_board(board),
        )

    def command_line(self) -> str:
        """The command line that makes the league again, without workers and output folder."""
        words = ["heapfit", "compare", *map(str, self.sources), *self.foreign.words()]
        for alignment in self.alignments or ALIGNMENTS:
            words += ["--alignment", str(alignment)]
        words += ["--allocators", ",".join(self.allocators)] if self.allocators else []
        words += [] if self.events is None else ["--events", str(self.events)]
        words += [] if self.has_designs else ["--no-designs"]
        return shlex.join([*words, "--output", "FOLDER"])


def make_league(asked: LeagueRequest, output: Path, workers: int | None) -> Iterator[Part]:
    """Measures what `output` has not cached, and writes tables and a page there."""
    options = asked.options()
    with progress_bar(_WORK) as progress, Sweep(workers) as sweep, scratch_folder() as folder:
        opening = OpeningOptions(asked.importing, asked.events)
        recordings = open_recordings(asked.sources, Path(folder), opening, progress)
        league = run_league(recordings, options, RowCache(output / "kept"), sweep, progress)
    standings = standings_of(league.rows)
    write_page(output / _PAGE, render(league, standings, asked.command_line()))
    yield from league_parts(league, standings, [*save_league(league, output), output / _PAGE])
