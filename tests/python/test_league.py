# SPDX-License-Identifier: Apache-2.0
"""The league of `heapfit compare --output`: its rows, what is measured again, what it writes."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from page_reader import Page
from small_traces import bimodal, heapfit

from heapfit.comparison.measuring import Ground, measure_candidate
from heapfit.design.portfolio import build_portfolio
from heapfit.errors import HeapfitError
from heapfit.league import (
    League,
    LeagueOptions,
    OpeningOptions,
    open_recordings,
    run_league,
    standings_of,
)
from heapfit.league.board import Board, BoardFigures, join_board_rows, read_board
from heapfit.league.recordings import group_by_program
from heapfit.league.rows import OTHER_RUN, PLAIN, SIZED, THIS_RUN, UNSIZED, LeagueRow
from heapfit.league.run import RowCache
from heapfit.plugin import Plugin
from heapfit.results.league.verdict import verdicts
from heapfit.sweep import Sweep
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core"
ALLOCATORS = ("tlsf", "best_fit", "tailored", "class_pools", "kingsley")
FILES = ("league.parquet", "league.csv", "league.json", "league.html")


def plugin(*cflags: str) -> Plugin:
    """tlsf of core, given as a plug-in; or, with flags of its own, the faulty one."""
    flags = (
        *(f"-I{CORE / 'include'}", f"-I{CORE}", "-ffreestanding"),
        *("-fno-tree-loop-distribute-patterns", "-DNAME=tlsf", "-DPLAN_VALUES={{8},0,2}"),
    )
    here = ROOT / "tests/python/plugins/core.c"
    return Plugin("other", (here, CORE / "src/tiling/tlsf.c"), 32, (*flags, *cflags))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of one program, and one of another."""
    folder = tmp_path_factory.mktemp("recordings")
    bimodal(folder / "echo-1.heap", events=400, seed=1)
    bimodal(folder / "echo-2.heap", events=500, seed=2)
    bimodal(folder / "alone.heap", events=300, seed=3)
    return folder


def run(folder: Path, kept: Path, scratch: Path, **options: object) -> League:
    wish = LeagueOptions(**{"alignments": (8,), "allocators": ALLOCATORS, **options})
    with Sweep(workers=1) as sweep:
        return run_league(open_recordings([folder], scratch), wish, RowCache(kept), sweep)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("imported")


@pytest.fixture(scope="module")
def league(folder: Path, kept: Path, imported: Path) -> League:
    return run(folder, kept, imported, plugins=(plugin(),))


def rows_of(league: League, **wanted: object) -> list[LeagueRow]:
    return [
        row
        for row in league.rows
        if all(getattr(row, name) == value for name, value in wanted.items())
    ]


def test_a_plain_row_has_the_regions_of_a_comparison(league: League) -> None:
    (row,) = rows_of(league, recording="echo-2", entrant="tlsf", learned=PLAIN)
    (recording,) = (one for one in league.recordings if one.name == "echo-2")
    loaded = load_trace(Trace.open(recording.path), 8)
    (candidate,) = build_portfolio(loaded, ["tlsf"], []).candidates
    expected = measure_candidate(candidate, loaded.events, Ground(loaded.profile.u_max, 8))
    assert (row.r_min, row.r_safe, row.step) == (expected.r_min, expected.r_safe, expected.step)
    assert row.accesses == expected.accesses_per_operation
    assert row.packing <= row.r_safe
    assert row.instructions is not None and row.code is not None


def test_an_allocator_given_as_a_plugin_stands_where_it_stood(league: League) -> None:
    for recording in ("alone", "echo-1", "echo-2"):
        (own,) = rows_of(league, recording=recording, entrant="tlsf")
        (given,) = rows_of(league, recording=recording, entrant="other")
        assert (given.r_min, given.r_safe) == (own.r_min, own.r_safe)
        assert given.accesses == pytest.approx(own.accesses, rel=0.01)
        assert (given.kind, given.interface, given.bits, given.faults) == (
            *("plug-in", "unsized", 32),
            "",
        )


def test_what_one_run_teaches_is_measured_on_the_others(league: League) -> None:
    learned = rows_of(league, entrant="heapfit fit")
    told = {(row.recording, row.learned, row.learned_from) for row in learned}
    assert told == {
        ("alone", THIS_RUN, "alone"),
        ("echo-1", THIS_RUN, "echo-1"),
        ("echo-2", OTHER_RUN, "echo-1"),
    }
    assert rows_of(league, entrant="class_pools", learned=OTHER_RUN)
    assert not rows_of(league, entrant="class_pools", learned=PLAIN)


def test_runs_of_a_program_are_told_by_their_names(league: League) -> None:
    programs = {
        first.name: [one.name for one in runs]
        for first, runs in group_by_program(league.recordings).items()
    }
    assert programs == {"alone": [], "echo-1": ["echo-2"]}


def test_a_second_run_measures_nothing(
    league: League, folder: Path, kept: Path, tmp_path: Path
) -> None:
    again = run(folder, kept, tmp_path, plugins=(plugin(),))
    assert (again.measured, again.reused) == (0, league.measured)
    assert again.rows == league.rows
    assert again.entrants == league.entrants


@pytest.mark.usefixtures("league")
def test_what_changes_is_measured_and_nothing_else(
    folder: Path, kept: Path, tmp_path: Path
) -> None:
    assert run(folder, kept, tmp_path, alignments=(4, 8)).measured == 5  # 3 plain, 2 designs
    other_code = (plugin("-O1"),)
    again = run(folder, kept, tmp_path, plugins=other_code, has_designs=False)
    assert (again.measured, again.reused) == (3, 3)


def test_a_kept_file_that_is_damaged_is_measured_again(
    league: League, folder: Path, kept: Path, tmp_path: Path
) -> None:
    damaged = sorted(kept.glob("*.json"))[:2]
    for path, text in zip(damaged, ('[{"recording": 1}]', "["), strict=True):
        path.write_text(text)
        assert RowCache(kept).rows(path.stem) is None
    again = run(folder, kept, tmp_path)
    assert again.measured <= len(damaged)
    assert again.rows == tuple(row for row in league.rows if row.kind != "plug-in")


def test_a_plugin_with_faults_has_their_names_and_no_region(folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.c"
    broken.write_text(
        '#include "heapfit_plugin.h"\n'
        "static char *next;\n"
        "void *plugin_init(void *region, size_t size, size_t alignment) {\n"
        "    (void)size, (void)alignment;\n    return next = region;\n}\n"
        "void *plugin_alloc(void *heap, size_t size) {\n    (void)size;\n    return heap;\n}\n"
        "void plugin_free(void *heap, void *block) {\n    (void)heap, (void)block;\n}\n"
    )
    given = Plugin("broken", (broken,))
    league = run(folder, tmp_path / "kept", tmp_path, plugins=(given,), has_designs=False)
    (row,) = rows_of(league, entrant="broken", recording="alone")
    assert "overlap" in row.faults.split("; ")
    assert row.r_safe is None
    assert row.note.startswith("overlap: event ")


def test_the_same_inputs_give_the_same_bytes_whoever_does_the_work(
    folder: Path, tmp_path: Path
) -> None:
    for name, workers in (("one", "1"), ("two", "2")):
        done = heapfit(
            "compare", ".", "-o", str(tmp_path / name), "--alignment", "8", "--workers", workers,
            "--allocators", "tlsf,class_pools", folder=folder,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    for name in FILES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    rows = pq.read_table(tmp_path / "one/league.parquet")
    stamps = json.loads(rows.schema.metadata[b"heapfit league"])
    assert stamps == json.loads((tmp_path / "one/league.json").read_text())
    assert set(stamps["recordings"]) == {"alone", "echo-1", "echo-2"}
    csv_lines = (tmp_path / "one/league.csv").read_text().splitlines()
    assert len(csv_lines) == rows.num_rows + 1
    assert done.stdout.startswith("Aligned to 8 B, nothing learned: tlsf needs the least, ")
    page = Page((tmp_path / "one/league.html").read_text())
    assert not page.unclosed
    assert any(row[0] == "tlsf" and row[3] == "3 of 3" for row in page.rows)
    assert "told sizes" not in page.text and "sized deallocation" in page.text


def test_the_verdict_names_who_needs_least_of_those_that_serve_most(league: League) -> None:
    (first,) = rows_of(league, recording="alone", entrant="tlsf")
    needs = {"a": (1100, 1300), "b": (1200, 1250), "c": (1000, None), "sized": (1000, 1000)}
    rows = [
        replace(
            first, recording=str(run), entrant=name, u_max=1000, r_safe=region,
            interface=SIZED if name == "sized" else UNSIZED,
        )
        for name, regions in needs.items()
        for run, region in enumerate(regions)
    ]  # fmt: skip
    (told,) = verdicts(standings_of(rows))
    assert told == (
        f"Aligned to {first.alignment} B, nothing learned: a needs the least, 1.200 times the peak "
        "in the median of 2 recordings, 1.300 times in the worst case."
    )


def test_standings_are_medians_worst_and_who_needs_least(league: League) -> None:
    (first,) = rows_of(league, recording="alone", entrant="tlsf")
    needs = {"a": (1100, 1300, None), "b": (1200, 1200, 1400)}
    rows = [
        replace(first, recording=str(run), entrant=name, u_max=1000, r_safe=region)
        for name, regions in needs.items()
        for run, region in enumerate(regions)
    ]
    b, a = standings_of(rows)
    assert (b.entrant, b.median, b.worst, b.served, b.best_on) == ("b", 1.2, 1.4, 3, 2)
    assert (a.entrant, round(a.median, 9), a.worst, a.served, a.best_on) == ("a", 1.2, 1.3, 2, 1)


def test_only_the_first_events_are_taken_where_that_is_asked(folder: Path, tmp_path: Path) -> None:
    (one,) = open_recordings([folder / "alone.heap"], tmp_path, OpeningOptions(events=100))
    assert one.events == Trace.open(one.path).info.events == 100


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere"], "nowhere: no such file, and no such allocator"),
        (["empty"], "empty: no recording in this folder"),
        ([".", "--plugin", "none.c"], "none.c: no such plug-in"),
        ([".", "--allocators", "tlfs"], "tlfs: no such allocator"),
    ],
)
def test_a_wrong_word_is_told_in_one_line(words, told, folder: Path, tmp_path: Path) -> None:
    (folder / "empty").mkdir(exist_ok=True)
    done = heapfit("compare", *words, "-o", str(tmp_path / "out"), folder=folder)
    assert done.returncode == 1
    assert done.stderr.startswith(f"heapfit: {told}") and done.stderr.count("\n") == 1
    assert not (tmp_path / "out/league.csv").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--output", "out", "--plan", "plan.toml"], "--plan has no effect here: --output makes"),
        (["--output", "out", "--seed", "2"], "--seed has no effect here: --output makes"),
        (["--events", "9"], "--events has no effect here: it needs --output"),
        (["--no-designs"], "--designs has no effect here: it needs --output"),
        (
            ["--alignment", "4", "--alignment", "8"],
            "--alignment: give one, or --output for a league table",
        ),
    ],
)
def test_options_of_a_ranking_and_of_a_league_are_told_apart(words, told, folder: Path) -> None:
    done = heapfit("compare", "alone.heap", *words, folder=folder)
    assert (done.returncode, told in " ".join(done.stderr.split())) == (2, True), done.stderr
    assert not (folder / "out").exists()


def board_with(league: League, content: str) -> Board:
    (given,) = rows_of(league, recording="alone", entrant="other")
    library = replace(
        given, recording="elsewhere", content=content, kind="library", entrant="nano", stack=52
    )
    return Board((library,), (BoardFigures("other", "", content, 8, 12.5, 300, 40),))


def test_what_a_board_measured_joins_the_rows_of_the_same_recording(league: League) -> None:
    (given,) = rows_of(league, recording="alone", entrant="other")
    rows = join_board_rows(league.rows, board_with(league, given.content), league.recordings, (8,))
    (nano,) = (row for row in rows if row.entrant == "nano")
    others = [row for row in rows if row.entrant == "other"]
    assert nano.recording == "alone"
    assert {row.recording: (row.instructions, row.code, row.stack) for row in others} == {
        "alone": (12.5, 300, 40),
        "echo-1": (None, None, None),
        "echo-2": (None, None, None),
    }


def test_a_board_of_other_recordings_is_refused(league: League, tmp_path: Path) -> None:
    with pytest.raises(HeapfitError, match="has none of these recordings"):
        join_board_rows(league.rows, board_with(league, "sha256:0"), league.recordings, (8,))
    (tmp_path / "board.json").write_text('{"schema_version": 1}')
    with pytest.raises(HeapfitError, match=r"board.json: not what .* writes now"):
        read_board(tmp_path / "board.json")


def test_two_plugins_of_one_name_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(HeapfitError, match="two plug-ins have the name other"):
        run(folder, tmp_path, tmp_path, plugins=(plugin(), plugin()))
