# SPDX-License-Identifier: Apache-2.0
"""What replays came to, kept: found again, or as if it were not there; and it changes nothing."""

import os
import random
import sqlite3
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from heapfit import _engine
from heapfit.design.robust.design import RobustOptions, design_robust
from heapfit.plan.plan import Plan
from heapfit.sweep import Sweep
from heapfit.trace.replay_cache import answers as kept_answers
from heapfit.trace.replay_cache.answers import Answers, answer_key
from heapfit.trace.replay_cache.fleet import CachedFleet
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

KEY = answer_key("a question", 1)


def kept_in(folder: Path, numbers: tuple[int, ...] = (1, 2**63, -1)) -> Path:
    with closing(Answers(folder)) as answers:
        answers.keep(KEY, numbers)
    return folder / "heapfit-answers.sqlite"


def found_in(folder: Path) -> tuple[int, ...] | None:
    with closing(Answers(folder)) as answers:
        return answers.get(KEY)


def drawn(folder: Path, count: int, workload: str = "phases_x16:events=800") -> list[Trace]:
    return [
        generate_workload(parse_workload(workload, seed), folder / f"{seed}.parquet")
        for seed in range(1, count + 1)
    ]


def test_what_is_kept_is_found_by_another_process(tmp_path: Path) -> None:
    kept_in(tmp_path / "new" / "folder")
    assert found_in(tmp_path / "new" / "folder") == (1, 2**63, -1)
    with closing(Answers(tmp_path / "new" / "folder")) as answers:
        assert answers.get(answer_key("a question", 2)) is None


def test_another_build_of_the_engine_has_other_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_answers, "engine_hash", lambda: "another")
    assert answer_key("a question", 1) != KEY


def test_a_damaged_row_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    file = kept_in(tmp_path, (1, 2, 3))
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE answer SET row = replace(row, '1 2 3', '1 2 4')")
    assert found_in(tmp_path) is None
    kept_in(tmp_path, (1, 2, 3))
    assert found_in(tmp_path) == (1, 2, 3)


def test_a_damaged_file_makes_room_for_another(tmp_path: Path) -> None:
    file = kept_in(tmp_path)
    file.write_bytes(b"no database" * 1000)
    assert found_in(tmp_path) is None
    kept_in(tmp_path)
    assert found_in(tmp_path) is not None


def test_a_folder_that_cannot_be_one_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept_in(tmp_path / "file")
    assert found_in(tmp_path / "file") is None


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "link of the log"])
def test_what_is_no_plain_file_is_left_alone(tmp_path: Path, kind: str) -> None:
    elsewhere = tmp_path / "elsewhere.sqlite"
    with closing(sqlite3.connect(elsewhere)) as database, database:
        database.execute("CREATE TABLE theirs (text)")
    before = elsewhere.read_bytes()
    folder = tmp_path / "kept"
    folder.mkdir()
    file = folder / "heapfit-answers.sqlite"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        (file if kind == "link" else Path(f"{file}-wal")).symlink_to(elsewhere)
    kept_in(folder)
    assert found_in(folder) is None
    assert elsewhere.read_bytes() == before
    assert file.exists() == (kind != "link of the log")


@pytest.mark.parametrize(
    "made",
    [
        "CREATE VIEW answer AS WITH RECURSIVE n(row) AS (SELECT 1 UNION ALL SELECT row FROM n)"
        " SELECT x'00' AS key, row FROM n",
        "CREATE TABLE answer (key, row); CREATE TABLE theirs (text)",
        "CREATE TABLE answer (one, other)",
        "CREATE TABLE answer (key BLOB PRIMARY KEY, row TEXT) WITHOUT ROWID; CREATE TRIGGER more"
        " AFTER INSERT ON answer BEGIN DELETE FROM answer; END",
    ],
)
def test_a_database_with_anything_but_our_table_is_left_alone(tmp_path: Path, made: str) -> None:
    file = tmp_path / "heapfit-answers.sqlite"
    with closing(sqlite3.connect(file)) as database:
        database.executescript(made)
    before = file.read_bytes()
    kept_in(tmp_path)
    assert found_in(tmp_path) is None
    assert file.read_bytes() == before


def test_a_file_cut_anywhere_or_with_bytes_flipped_tells_what_was_kept_or_nothing(
    tmp_path: Path,
) -> None:
    whole = kept_in(tmp_path).read_bytes()
    draw = random.Random(1)
    found = set()
    for number in range(400):
        damaged = bytearray(whole)
        if number < len(whole) // 512:
            del damaged[512 * number :]
        else:
            for _ in range(draw.randrange(1, 5)):
                damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "heapfit-answers.sqlite").write_bytes(damaged)
        found.add(found_in(folder))
        kept_in(folder)
    assert found == {None, (1, 2**63, -1)}


@pytest.mark.parametrize("text", ["", "1", "1 2", "1 2 3 4", "1 -2 3", f"1 {2**64} 3", "1 x 3"])
def test_an_answer_that_no_heapfit_writes_is_replayed(tmp_path: Path, text: str) -> None:
    (trace,) = drawn(tmp_path, 1)
    plan = Plan("tlsf", {"alignment": 8})

    def results(folder: Path) -> tuple[int, int]:
        with closing(Answers(folder)) as answers:
            trial = CachedFleet([trace.events()], ["content"], answers).trial(plan, 0)
            one = trial.run(65536)
            return one.reach, one.events

    expected = results(tmp_path / "kept")
    with closing(sqlite3.connect(tmp_path / "kept/heapfit-answers.sqlite")) as database, database:
        ((key,),) = database.execute("SELECT key FROM answer").fetchall()
        row = f"{text} {zlib.crc32(key + text.encode())}"  # as whole as ours
        database.execute("UPDATE answer SET row = ?", (row,))
    assert results(tmp_path / "kept") == expected


def test_several_may_write_at_once(tmp_path: Path) -> None:
    def keep(number: int) -> None:
        with closing(Answers(tmp_path)) as answers:
            for i in range(50):
                answers.keep(answer_key(number, i), (number, i))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(keep, range(4)))
    with closing(Answers(tmp_path)) as answers:
        assert all(answers.get(answer_key(n, i)) == (n, i) for n in range(4) for i in range(50))


@pytest.mark.parametrize("allocator", ["tailored", "tlsf"])
def test_a_kept_trial_tells_what_a_replay_does(tmp_path: Path, allocator: str) -> None:
    traces = drawn(tmp_path, 4)
    arrays = tuple(trace.events() for trace in traces)
    plan = Plan(allocator, {"alignment": 8})
    for _ in ("replayed", "known"):
        with closing(Answers(tmp_path / "kept")) as answers:
            known = CachedFleet(arrays, [str(i) for i in range(4)], answers)
            fleet = _engine.Fleet(arrays)
            here, there = known.trial(plan, 0), _engine.FleetTrial(plan.engine(), fleet)
            for region in (64, *range(8192, 65536, 4008)):
                one, other = here.run(region), there.run(region)
                assert (one.runs, one.is_region, one.reach, one.events) == (
                    (other.runs, other.is_region, other.reach, other.events)
                )
                assert known.hardest_first == fleet.hardest_first
            one, other = here.first_success(1000), there.first_success(1000)
            assert (one.region, one.replays, one.events) == (
                (other.region, other.replays, other.events)
            )
            one, other = here.descend(65536, 8, [40]), there.descend(65536, 8, [40])
            assert (one.region, one.replays) == (other.region, other.replays)
    assert answers.found > 10


def test_a_design_is_the_same_with_answers_from_before(tmp_path: Path) -> None:
    traces = drawn(tmp_path, 5)
    plain = RobustOptions(is_for_choice=True)
    kept = replace(plain, kept=tmp_path / "kept")
    expected = design_robust(traces[:4], plain)
    with Sweep(workers=2) as sweep:
        assert design_robust(traces[:4], kept, sweep=sweep) == expected
    again = design_robust(traces[:4], kept)
    assert again == expected
    assert (expected.recalled, again.recalled) == (0, 4)
    more = design_robust(traces, kept)
    assert more == design_robust(traces, plain)
    assert more.recalled == 4
