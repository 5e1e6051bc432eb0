# SPDX-License-Identifier: Apache-2.0
"""A misspelt name of each kind: the right one is offered, and nothing is done."""

import pytest

from heapfit.cli.removed import REMOVED
from program import call_heapfit

TRACE = "# name echo\n# pointer_bits 32\na 0 24\nf 0\n"
PLAN = """name = "tlsf"
region = 4096
[trained_on]
[plan]
allocator = "tlfs"
"""
MISSPELT = [
    ("compar echo.heap", "compare"),
    ("sizes echo.heap", "size"),
    ("simulat scenario.toml", "simulate"),
    ("reproduse", "reproduce"),
    ("compare echo.heap tlfs", "tlsf"),
    ("compare echo.heap bestfit", "best_fit"),
    ("compare echo.heap tlsf:probe=3", "probes"),
    ("compare echo.heap first_fit:coalece=0", "coalesce"),
    ("allocators tailord", "tailored"),
    ("workload t2w1 -o x.parquet", "t2_w1"),
    ("workload campos -o x.parquet", "campus"),
    ("workload campus:bursts=3 -o x.parquet", "burst"),
    ("settings freertoss echo.heap", "freertos"),
    ("settings open-thread echo.heap", "openthread"),
    ("settings freertos echo.heap --assume alignmnt=4", "alignment"),
    ("fit echo.heap --prefer tme", "time"),
    ("fit echo.heap --poolz", "--pools"),
    ("fit echo.heap --effort quik", "quick"),
    ("fit echo.heap --now heap4", "heap_4"),
    ("generate plan.toml --for freertoss", "freertos"),
    ("generate plan.toml --language rst", "rust"),
    ("generate plan.toml", "tlsf"),
    ("slotbuf 10 10 segregated_fitt", "segregated_fit"),
]


def asked(words: str) -> str:
    done = call_heapfit(*words.split())
    assert done.returncode != 0
    return done.stderr


@pytest.mark.parametrize(("words", "right"), MISSPELT, ids=[words for words, _ in MISSPELT])
def test_the_right_name_is_offered(words, right, tmp_path, monkeypatch):
    (tmp_path / "echo.heap").write_text(TRACE)
    (tmp_path / "plan.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    told = asked(words)
    assert f"did you mean '{right}'?" in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["echo.heap", "plan.toml"]


def test_a_name_like_none_is_told_with_all_there_are(tmp_path, monkeypatch):
    (tmp_path / "echo.heap").write_text(TRACE)
    monkeypatch.chdir(tmp_path)
    assert "(one of first_fit, address_first_fit, segregated_fit, tlsf" in asked(
        "compare echo.heap xyz"
    )
    assert "(one of fit, check, verify" in asked("zzz")


@pytest.mark.parametrize("old", REMOVED)
def test_what_was_a_command_is_answered_with_what_does_its_work(old):
    done = call_heapfit(*" ".join(old).split(), "echo.heap")
    assert done.returncode == 2
    assert done.stderr.startswith(f"heapfit: {' '.join(old).strip()} is gone: {REMOVED[old]}")


def test_help_of_a_command_is_its_own_help():
    for words in ("settings", "fit", ""):
        asked_for = call_heapfit("help", *words.split())
        own = call_heapfit(*words.split(), "--help")
        assert (asked_for.returncode, own.returncode) == (0, 0)
        assert asked_for.stdout.rstrip() == own.stdout.rstrip()
