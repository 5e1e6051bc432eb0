# SPDX-License-Identifier: Apache-2.0
"""Every row of the four papers, measured in its small form: what matches, and what does not.

A figure that is not listed here matches. One that does not says why in its finding.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heapfit.errors import HeapfitError
from heapfit.sweep import Sweep
from heapfit_papers.reproduce.finding import Verdict
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import published
from heapfit_papers.reproduce.rows import chosen_rows, reproduce, rows_of

DIFFERS = {
    *("000-10.request", "000-11.cost", "000-13.internal", "000-16.limit"),
    *("000-17.utilisation", "000-17.services"),
    *("001-14.saved", "001-16.code"),
    "002-9.count",
    *("003-7.complexity", "003-8.infeasible", "003-14.always_least", "003-14.lea_most"),
    *("003-14.test1", "003-14.test6", "003-16.crossing"),
    *("003-14.tlsf", "003-16.start", "003-17.saving"),
}
UNKNOWN = {
    *("000-12.lists", "000-13.overhead"),
    *("001-1.ack", "001-1.mtu", "001-1.sizes", "001-6.accesses"),
    *("001-11.mean", "001-11.best", "001-11.pools", "001-15.steady"),
    "002-5.utility",
    *("003-9.exhaustive_ms", "003-9.greedy_ms", "003-9.faster"),
    *("003-9.exhaustive", "003-9.greedy"),
}


def expected_verdict(name: str) -> Verdict:
    if name in UNKNOWN:
        return Verdict.UNKNOWN
    return Verdict.DIFFERS if name in DIFFERS else Verdict.MATCHES


@pytest.mark.parametrize("identity", list(published().rows))
def test_each_figure_of_a_row_stands_as_listed(identity, laboratory):
    [result] = reproduce([identity], laboratory)
    assert {one.figure.name for one in result.findings} == set(result.row.figures)
    for one in result.findings:
        name = f"{identity}.{one.figure.name}"
        assert one.verdict == expected_verdict(name), f"{name}: {one.ours}"
        assert one.ours
        assert one.why or one.verdict == Verdict.MATCHES


def test_every_row_of_the_papers_is_measured():
    known = published()
    assert {number: len(rows_of(number)) for number in known.papers} == {
        **{"000": 17, "001": 17, "002": 13, "003": 17}
    }


def test_every_published_figure_tells_its_place_and_what_would_match():
    for row in published().rows.values():
        assert row.figures
        for one in row.figures.values():
            assert one.where
            assert one.says.endswith((".", "than", "least", "most", "requested"))
            kinds = (one.tolerance, one.within, one.absolute, one.least or one.most)
            assert sum(kind not in (None, "") for kind in kinds) <= 1


def test_papers_and_rows_are_chosen_by_name():
    assert chosen_rows(["001-3", "001-2"]) == ["001-2", "001-3"]
    assert len(chosen_rows(["002"])) == 13
    assert chosen_rows([]) == list(published().rows)
    with pytest.raises(HeapfitError, match="004: no such paper"):
        chosen_rows(["004"])


def test_work_gives_the_same_in_any_number_of_processes():
    items = list(range(5))
    with Sweep(workers=2) as sweep:
        found = Laboratory(sweep=sweep).map("abs", abs, items)
    assert found == Laboratory().map("abs", abs, items)


def reproduce_command(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "heapfit", "reproduce", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


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
    assert lines[-1] == "3 figures in 2 rows: 2 match, 1 cannot be known."


def test_json_tells_published_and_found_of_each_figure():
    told = json.loads(reproduce_command("001-3", "--json").stdout)
    [row] = told["rows"]
    assert (told["schema"], row["id"], row["verdict"]) == (1, "001-3", "matches")
    [packets] = row["figures"]
    assert (packets["published"], packets["number"]) == (45.0, 45.0)
    assert told["verdicts"] == {**{"matches": 1, "differs": 0, "cannot be known": 0}}


@pytest.mark.parametrize(("words", "code"), [((), 2), (("--all", "000"), 2), (("004",), 1)])
def test_wrong_usage_is_refused(words, code):
    done = reproduce_command(*words)
    assert (done.returncode, done.stdout) == (code, "")


def test_the_page_of_the_documentation_has_every_published_figure():
    page = Path(__file__).resolve().parents[2] / "docs/reproduce.md"
    text = page.read_text().replace("\\", "")
    for identity, row in published().rows.items():
        assert f"| {identity} |" in text
        assert [one.says for one in row.figures.values() if one.says not in text] == []
