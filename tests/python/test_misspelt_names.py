# SPDX-License-Identifier: Apache-2.0
"""A misspelt name of each kind: the right one is offered, and nothing is done."""

import pytest
from typer.testing import CliRunner

from heapfit.cli.main import REPLACED, make_app

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
    ("fit echo.heap --front out --by tim", "time"),
    ("generate plan.toml --for freertoss", "freertos"),
    ("generate plan.toml --language rst", "rust"),
    ("generate plan.toml", "tlsf"),
    ("slotbuf 10 10 segregated_fitt", "segregated_fit"),
]


def asked(words: str) -> str:
    done = CliRunner().invoke(make_app(), words.split())
    assert done.exit_code != 0
    return f"{done.output}{done.exception}"


@pytest.mark.parametrize(("words", "right"), MISSPELT, ids=[words for words, _ in MISSPELT])
def test_the_right_name_is_offered(words, right, tmp_path, monkeypatch):
    (tmp_path / "echo.heap").write_text(TRACE)
    (tmp_path / "plan.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    told = asked(words)
    assert f"did you mean '{right}'?" in told or f"options: {right}" in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["echo.heap", "plan.toml"]


def test_a_name_like_none_is_told_with_all_there_are(tmp_path, monkeypatch):
    (tmp_path / "echo.heap").write_text(TRACE)
    monkeypatch.chdir(tmp_path)
    assert "(one of first_fit, address_first_fit, segregated_fit, tlsf" in asked(
        "compare echo.heap xyz"
    )
    assert "(one of fit, check, verify" in asked("zzz")


@pytest.mark.parametrize("old", REPLACED)
def test_what_was_a_command_is_answered_with_what_does_its_work(old):
    done = CliRunner().invoke(make_app(), [*old.split(), "echo.heap"])
    assert done.exit_code == 2
    assert f"{old} is now `heapfit {REPLACED[old]}`" in done.output


def test_help_of_a_command_is_its_own_help():
    for words in ("settings", "fit", ""):
        asked_for = CliRunner().invoke(make_app(), ["help", *words.split()])
        own = CliRunner().invoke(make_app(), [*words.split(), "--help"])
        assert (asked_for.exit_code, own.exit_code) == (0, 0)
        assert asked_for.output.rstrip() == own.output.rstrip()
