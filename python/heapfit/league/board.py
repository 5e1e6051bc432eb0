# SPDX-License-Identifier: Apache-2.0
"""Figures measured on an emulated board, from a checkout: `python -m harness league` there.

    board.json    rows      whole rows, of heaps of C libraries that run on boards alone
                  figures   instructions, code and stack of plug-ins that the host measures
                  entrants  whose rows these are

The harness is no part of the package, so a league takes the file that it wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeVar

from heapfit.errors import HeapfitError
from heapfit.league.others import entrant_name
from heapfit.league.recordings import LeagueRecording
from heapfit.league.rows import PLUGIN, LeagueRow, row_from_dict, row_to_dict
from heapfit.league.stamps import sources_stamp
from heapfit.outputs.file import stage_file
from heapfit.plugin import Plugin, PluginRow

_SCHEMA_VERSION = 2
_Row = TypeVar("_Row", LeagueRow, PluginRow)


@dataclass(frozen=True, slots=True)
class Entrant:
    """An entrant's name, and the stamp of its code."""

    name: str
    stamp: str
    made_with: tuple[str, ...]  # compiler's version and flags


@dataclass(frozen=True, slots=True)
class BoardFigures:
    """The figures of one plug-in on one recording, on the board."""

    entrant: str
    sources: str  # its sources_stamp
    content: str  # of the recording
    alignment: int
    instructions: float  # the mean of a call
    code: int  # bytes, of init, alloc and free
    stack: int  # bytes, the deepest call


@dataclass(frozen=True, slots=True)
class Board:
    """The content of a board file."""

    rows: tuple[LeagueRow, ...] = ()
    figures: tuple[BoardFigures, ...] = ()
    entrants: tuple[Entrant, ...] = ()

    def save(self, path: Path) -> None:
        """Writes the file, whole or not at all."""
        values = {
            "schema_version": _SCHEMA_VERSION,
            "rows": [row_to_dict(row) for row in self.rows],
            "figures": [asdict(one) for one in self.figures],
            "entrants": [asdict(one) for one in self.entrants],
        }
        with stage_file(path) as staging:
            staging.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


def read_board(path: Path) -> Board:
    """Reads a board file; HeapfitError if it is none, or of another version."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values["schema_version"] != _SCHEMA_VERSION:
            raise ValueError("another version")
        return Board(
            tuple(row_from_dict(one) for one in values["rows"]),
            tuple(BoardFigures(**one) for one in values["figures"]),
            tuple(
                Entrant(one["name"], one["stamp"], tuple(one["made_with"]))
                for one in values["entrants"]
            ),
        )
    except OSError as error:
        raise HeapfitError(f"{path}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise HeapfitError(
            f"{path}: not what `python -m harness league` writes now (write it again)"
        ) from error


def require_same_sources(board: Board, plugins: Iterable[Plugin]) -> None:
    """HeapfitError if a plug-in has changed since the board measured it."""
    measured = {one.entrant: one.sources for one in board.figures}
    for plugin in plugins:
        name = entrant_name(plugin)
        if name in measured and measured[name] != sources_stamp(plugin):
            raise HeapfitError(
                f"--board: {plugin.name} changed since the count, or --cflags differ "
                "(run `python -m harness league` again)"
            )


def add_board_figures(
    board: Board, rows: Iterable[tuple[Plugin, str, PluginRow]]
) -> list[PluginRow]:
    """Plug-in rows with the board's figures for the recording's content, where it has them.

    HeapfitError if it has none.
    """
    by_entrant = _index_figures(board)
    asked = [(row, (entrant_name(one), content, row.alignment)) for one, content, row in rows]
    if asked and not any(key in by_entrant for _, key in asked):
        raise HeapfitError(f"--board: {_describe_absence(by_entrant, [key for _, key in asked])}")
    return [_add_figures(row, by_entrant.get(key)) for row, key in asked]


def join_board_rows(
    rows: Iterable[LeagueRow],
    board: Board,
    recordings: Sequence[LeagueRecording],
    alignments: Sequence[int],
) -> list[LeagueRow]:
    """The host's rows with the board's figures, and the board's own rows of the recordings.

    HeapfitError if it has nothing of any of them.
    """
    names = {one.content: one.name for one in recordings}
    contents = {row.content for row in board.rows} | {one.content for one in board.figures}
    if contents and not contents & names.keys():
        raise HeapfitError("--board: has none of these recordings (give both the same --events)")
    figures = _index_figures(board)
    found = [
        _add_figures(row, figures.get((row.entrant, row.content, row.alignment)))
        if row.kind == PLUGIN
        else row
        for row in rows
    ]
    return found + [
        replace(row, recording=names[row.content])
        for row in board.rows
        if row.content in names and row.alignment in alignments
    ]


def _describe_absence(
    present: Iterable[tuple[str, str, int]], asked: Sequence[tuple[str, str, int]]
) -> str:
    """Why no figures are there of (entrant, content of the recording, alignment)."""
    without_alignment = {key[:2] for key in asked}
    alignments = sorted({key[2] for key in present if key[:2] in without_alignment})
    if not alignments:
        return "has none of these plug-ins on these whole traces"
    measured = " and ".join(map(str, alignments))
    return f"has these plug-ins at an alignment of {measured}, not of {asked[0][2]} (--alignment)"


def _index_figures(board: Board) -> dict[tuple[str, str, int], BoardFigures]:
    return {(one.entrant, one.content, one.alignment): one for one in board.figures}


def _add_figures(row: _Row, figures: BoardFigures | None) -> _Row:
    if figures is None:
        return row
    return replace(row, instructions=figures.instructions, code=figures.code, stack=figures.stack)
