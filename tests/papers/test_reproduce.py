# SPDX-License-Identifier: Apache-2.0
"""Every row of the four papers, measured in its small form: what matches, and what does not.

A figure that is not listed here agrees. One that does not says why in its finding. The full form,
which docs/evidence/reproduce.md shows, has other seeds and longer walks, and of rows 003-14 and
003-16 some other verdicts: how long the paper's were is not told.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from changes import opened
from row_changes import changes_of

from grid import of_the_day
from heapfit.errors import HeapfitError
from heapfit.sweep import Sweep
from heapfit_papers.reproduce.finding import Verdict
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import Kind, load_published
from heapfit_papers.reproduce.rows import reproduce, rows_of, select_rows
from program import run_heapfit

DIFFERS = {
    *("000-10.request", "000-11.cost", "000-13.internal", "000-16.limit"),
    *("000-17.utilisation", "000-17.services"),
    *("001-10.described", "001-14.saved", "001-16.code"),
    "002-6.maximum",
    *("003-5.fragmentation", "003-8.infeasible"),
    *("003-14.lea_least", "003-14.lea_most", "003-14.test1", "003-14.test6", "003-14.tlsf"),
    *("003-16.start", "003-16.crossing", "003-17.saving"),
}
UNKNOWN = {
    *("000-12.lists", "000-13.overhead"),
    *("001-6.accesses", "001-11.mean", "001-11.best", "001-11.pools", "001-15.steady"),
    "002-5.utility",
    *("003-9.exhaustive_ms", "003-9.greedy_ms", "003-9.faster"),
    *("003-9.exhaustive", "003-9.greedy"),
}


# These measure for seconds: one a day, all of them in `make test-long`.
DEAR = ("003-5", "003-8", "003-10", "003-14", "003-15", "003-16")
LEFT_OUT = {*DEAR} - {*of_the_day(len(DEAR), DEAR, os.environ.get("HEAPFIT_ALL_ROWS") == "1")}
ROWS = [row for row in load_published().rows.values() if row.identity not in LEFT_OUT]
EVIDENCE = [
    f"{row.identity}.{name}"
    for row in ROWS
    for name, one in row.figures.items()
    if one.kind.can_match
]


def expected_verdict(name: str, kind: Kind) -> Verdict:
    if name in UNKNOWN:
        return Verdict.UNKNOWN
    if name in DIFFERS:
        return Verdict.DIFFERS
    return Verdict.MATCHES if kind.can_match else Verdict.NO_EVIDENCE


@pytest.mark.parametrize("identity", [row.identity for row in ROWS])
def test_each_figure_of_a_row_stands_as_listed(identity, laboratory):
    [result] = reproduce([identity], laboratory)
    assert {one.figure.name for one in result.findings} == set(result.row.figures)
    for one in result.findings:
        name = f"{identity}.{one.figure.name}"
        assert one.verdict == expected_verdict(name, one.figure.kind), f"{name}: {one.ours}"
        assert one.ours
        assert one.why or one.verdict not in {Verdict.DIFFERS, Verdict.UNKNOWN}


def verdict_of(row: Any, measured: Any, name: str) -> Verdict | None:
    """None where nothing can be judged, such as a minimum over nothing."""
    try:
        return next(one.verdict for one in row.judge(measured) if one.figure.name == name)
    except (ArithmeticError, ValueError, LookupError, AssertionError):
        return None


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_a_change_of_what_was_measured_turns_the_verdict(evidence, laboratory):
    """What nothing measured can turn says nothing."""
    identity, name = evidence.split(".")
    row = rows_of(identity[:3])[identity]
    measured = opened(laboratory.measure_once(row.measure))
    before = verdict_of(row, measured, name)
    if before == Verdict.UNKNOWN:
        return  # nothing of it is judged, and its finding says why
    turned = {Verdict.MATCHES: Verdict.DIFFERS, Verdict.DIFFERS: Verdict.MATCHES}[before]
    after = (verdict_of(row, one, name) for one in changes_of(evidence, measured))
    assert turned in after


def test_only_results_and_mechanisms_match():
    assert {kind for kind in Kind if kind.can_match} == {Kind.RESULT, Kind.MECHANISM}


def test_every_row_of_the_papers_is_measured():
    known = load_published()
    assert {number: len(rows_of(number)) for number in known.papers} == {
        **{"000": 17, "001": 17, "002": 13, "003": 17}
    }


def test_every_published_figure_tells_its_place_and_what_would_match():
    for row in load_published().rows.values():
        assert row.figures
        for one in row.figures.values():
            assert one.where
            assert one.says.endswith((".", "than", "least", "most", "requested", "from"))
            kinds = (one.tolerance, one.within, one.absolute, one.least or one.most)
            assert sum(kind not in (None, "") for kind in kinds) <= 1


def test_papers_and_rows_are_chosen_by_name():
    assert select_rows(["001-3", "001-2"]) == ["001-2", "001-3"]
    assert len(select_rows(["002"])) == 13
    assert select_rows([]) == list(load_published().rows)
    with pytest.raises(HeapfitError, match="004: no such paper"):
        select_rows(["004"])


def test_work_gives_the_same_in_any_number_of_processes():
    items = list(range(5))
    with Sweep(workers=2) as sweep:
        found = Laboratory(sweep=sweep).map("abs", abs, items)
    assert found == Laboratory().map("abs", abs, items)


def reproduce_command(*words: str) -> subprocess.CompletedProcess[str]:
    return run_heapfit("reproduce", *words, folder=Path.cwd(), environment=os.environ)


def test_an_interrupt_ends_the_command_and_its_processes():
    """Sent to the whole group, as a terminal does."""
    words = [sys.executable, "-m", "heapfit", "reproduce", "003-14", "--workers", "2"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True) as process:
        time.sleep(2)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(120) == 130


def test_the_command_prints_a_table_within_the_page():
    done = reproduce_command("001-3", "001-6", "--small")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("001  S. Mamagkakis")
    assert max(map(len, lines[1:])) <= 100
    assert lines[-3:] == [
        "3 figures in 2 rows.",
        "1 result: 1 cannot be known.",
        "2 echoes: 2 agree, which is no evidence.",
    ]


def test_json_tells_published_and_found_of_each_figure():
    assert "\n1 figure in 1 row.\n" in reproduce_command("001-3").stdout
    told = json.loads(reproduce_command("001-3", "--json").stdout)
    [row] = told["rows"]
    assert (told["schema"], row["id"], row["verdict"]) == (1, "001-3", "no evidence")
    [packets] = row["figures"]
    assert (packets["published"], packets["number"], packets["kind"]) == (45.0, 45.0, "echo")
    assert told["verdicts"]["echo"]["no evidence"] == 1
    assert sum(n for some in told["verdicts"].values() for n in some.values()) == 1


@pytest.mark.parametrize(("words", "code"), [((), 2), (("--all", "000"), 2), (("004",), 1)])
def test_wrong_usage_is_refused(words, code):
    done = reproduce_command(*words)
    assert (done.returncode, done.stdout) == (code, "")
