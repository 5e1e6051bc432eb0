# SPDX-License-Identifier: Apache-2.0
"""`heapfit league`: allocators side by side over a set of recordings."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from heapfit.cli.arguments import Alignment, AsJson, PointerBits, Workers
from heapfit.cli.printing.parts import (
    Column,
    Fields,
    Line,
    Part,
    Table,
    columns,
    out_result,
    paragraph,
)
from heapfit.cli.printing.progress import progress_bar
from heapfit.league import (
    League,
    LeagueOptions,
    Standing,
    opened_recordings,
    run_league,
    save_league,
    standings_of,
)
from heapfit.league.board import read_board
from heapfit.league.others import crates
from heapfit.league.row_cache import Kept
from heapfit.league.run import ALIGNMENTS, NO_BOARD
from heapfit.plugin import Plugin, plugin_of
from heapfit.report.drawing.rendering import write_page
from heapfit.report.league.page import render
from heapfit.report.league.verdict import LEARNED, verdicts
from heapfit.sweep import Sweep

_SHOWN = 12  # lines of a table; the files have all
_WORK = {"open recordings": 2, "build plug-ins": 3, "league": 95}  # roughly, of the time

_Sources: TypeAlias = Annotated[
    list[Path], typer.Argument(metavar="FOLDER|RECORDING", help="Recordings, or folders of them.")
]
_Plugins: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin", help="An allocator of yours: source, folder or crate; may be given many times."
    ),
]
_Crates: TypeAlias = Annotated[
    bool,
    typer.Option("--crates", help="Also four crates of Rust that have an adapter; cargo builds."),
]
_Bits: TypeAlias = Annotated[
    PointerBits, typer.Option("--bits", help="Pointer size of plug-ins, in bits; boards have 32.")
]
_CFlags: TypeAlias = Annotated[
    str, typer.Option("--cflags", help="More compiler options for plug-ins.")
]
_Alignments: TypeAlias = Annotated[
    list[Alignment] | None,
    typer.Option(
        "--alignment", help="Alignment of every block, in bytes; may be given many times [4 8]."
    ),
]
_Allocators: TypeAlias = Annotated[
    str,
    typer.Option("--allocators", help="Only these of our allocators, separated by commas [all]."),
]
_Designs: TypeAlias = Annotated[
    bool, typer.Option("--designs/--no-designs", help="Also what is learned from the recordings.")
]
_Events: TypeAlias = Annotated[
    int | None, typer.Option("--events", min=1, help="Only so many of each recording, the first.")
]
_Board: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--board", help="What `python -m harness league` measured on a board (docs/league.md)."
    ),
]
_Output: TypeAlias = Annotated[
    Path, typer.Option("-o", "--output", help="Folder of the result, and of what is kept.")
]


def command(
    sources: _Sources,
    plugins: _Plugins = None,
    has_crates: _Crates = False,
    bits: _Bits = PointerBits.BITS_32,
    cflags: _CFlags = "",
    alignments: _Alignments = None,
    allocators: _Allocators = "",
    has_designs: _Designs = True,
    events: _Events = None,
    board: _Board = None,
    output: _Output = Path("out/league"),
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Measure all allocators over a set of recordings: tables and a page to quote.

    Core's, baselines, plug-ins and designs made from the recordings, which are measured on other
    runs of a program, too: NAME-1 and NAME-2 are two. What did not change since a run into the same
    folder is not measured again.
    """
    options = LeagueOptions(
        alignments=tuple(int(one) for one in alignments or []) or ALIGNMENTS,
        allocators=tuple(name for name in allocators.split(",") if name),
        plugins=_given(plugins or [], has_crates, int(bits), shlex.split(cflags)),
        has_designs=has_designs,
        board=NO_BOARD if board is None else read_board(board),
    )
    with (
        progress_bar(_WORK) as progress,
        Sweep(workers) as sweep,
        tempfile.TemporaryDirectory(prefix="heapfit-") as folder,
    ):
        recordings = opened_recordings(sources, Path(folder), events, progress)
        league = run_league(recordings, options, Kept(output / "kept"), sweep, progress)
    standings = standings_of(league.rows)
    page = output / "league.html"
    typed = {
        "--plugin": [str(path) for path in plugins or []],
        "--bits": [bits.value] if options.plugins else [],
        "--cflags": [cflags] if cflags else [],
        "--alignment": [str(one) for one in options.alignments],
        "--allocators": [allocators] if allocators else [],
        "--events": [] if events is None else [str(events)],
        "--board": [] if board is None else [str(board)],
    }
    switches = [*(["--crates"] if has_crates else []), *([] if has_designs else ["--no-designs"])]
    command_line = shlex.join(["heapfit", "league", *map(str, sources), *_words(typed), *switches])
    write_page(page, render(league, standings, command_line))
    out_result(_parts(league, standings, [*save_league(league, output), page]), as_json)


def _given(
    paths: Sequence[Path], has_crates: bool, bits: int, cflags: Sequence[str]
) -> tuple[Plugin, ...]:
    own = [plugin_of(path, bits, cflags) for path in paths]
    return (*own, *(crates(bits) if has_crates else []))


def _words(typed: Mapping[str, Sequence[str]]) -> list[str]:
    """Options to be typed again; where the result goes and who does the work is left out."""
    return [word for option, values in typed.items() for one in values for word in (option, one)]


def _parts(league: League, standings: Sequence[Standing], paths: Sequence[Path]) -> Iterator[Part]:
    yield Fields(
        {
            "recordings": len(league.recordings),
            "rows": len(league.rows),
            "jobs_measured": league.measured,
            "jobs_reused": league.reused,
            "files": [str(path) for path in paths],
        }
    )
    for sentence in verdicts(standings):
        yield from paragraph(sentence)
    yield Line("")
    yield Table(columns(*(field.name for field in fields(Standing))), standings, "standings")
    for alignment in sorted({one.alignment for one in standings}):
        for learned, told in LEARNED.items():
            these = [
                one for one in standings if (one.alignment, one.learned) == (alignment, learned)
            ]
            if these:
                yield Line(f"Blocks aligned to {alignment} B, {told}; R_safe / U_max:")
                yield Table(_COLUMNS, these, shown=these[:_SHOWN])
                yield Line(_left_out(len(these)))
    yield Line(
        f"{len(league.recordings)} recordings, {league.measured} jobs measured, "
        f"{league.reused} reused."
    )
    yield from (Line(str(path)) for path in paths)


def _left_out(count: int) -> str:
    return f"{count - _SHOWN} more are in the page.\n" if count > _SHOWN else ""


def _shown(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


_COLUMNS: tuple[Column[Standing], ...] = (
    Column(heading="entrant", value=lambda one: one.entrant[:26]),
    Column(heading="interface", value=lambda one: one.interface),
    Column(heading="served", value=lambda one: f"{one.served}/{one.recordings}"),
    Column(heading="median", value=lambda one: _shown(one.median, 4)),
    Column(heading="worst", value=lambda one: _shown(one.worst, 3)),
    Column(heading="least on", value=lambda one: one.best_on),
    Column(heading="accesses", value=lambda one: _shown(one.accesses, 1)),
)
