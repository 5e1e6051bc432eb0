# SPDX-License-Identifier: Apache-2.0
"""Help, the man page and completion, made from one source; examples that run; 80 columns."""

import datetime
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import small_scenarios
from captures import ethernet, ipv4, pcap
from small_traces import heapfit

from heapfit.cli.main import all_commands

ROOT = Path(__file__).parents[2]
NAMES = list(all_commands())
EXAMPLES = [one for declared in all_commands().values() for one in declared.EXAMPLES]
NOT_RUN = ("heapfit verify ", "heapfit run ")  # which need a program of the user: they are parsed
# One of a command's two examples runs, the other one the next day; all of them in `make test-long`.
TODAY = datetime.datetime.now(datetime.UTC).date().toordinal() % 2
ALL = os.environ.get("HEAPFIT_ALL_EXAMPLES") == "1"
RUN = EXAMPLES if ALL else EXAMPLES[TODAY::2]
WIDTH = 80
PATH = re.compile(r"\S*(/|\.parquet|\.toml|\.c\b|\.html)")  # of a line that is to be copied
PLAN = 'region = 8192\n[plan]\nallocator = "tlsf"\nalignment = 8\n'
TRACE = "# pointer_bits 32\n" + "".join(f"a {i} {16 + i % 3 * 40} 1 1 a\n" for i in range(30))
FREES = "".join(f"f {i}\n" for i in range(0, 30, 2))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("examples")
    (made / "run.heap").write_text(TRACE + FREES)
    (made / "run2.heap").write_text(TRACE.replace("a 7 32", "a 7 40") + FREES)
    (made / "plan.toml").write_text(PLAN)
    (made / "device.log").write_text("free 500 largest 400\nfree 490 largest 400\n")
    (made / "recordings").mkdir()
    packets = [(0.001 * i, frame, len(frame)) for i, frame in enumerate([ethernet(ipv4(60))] * 40)]
    (made / "capture.pcap").write_bytes(pcap(packets))
    few = [("requests = 4000", "requests = 100"), ("warm_up = 200", "warm_up = 10")]
    small_scenarios.small(made, *few).rename(made / "scenario.toml")
    return made


def wide_lines(text: str) -> list[str]:
    """Those wider than the page that are no paths and no text to copy."""
    return [line for line in text.splitlines() if len(line) > WIDTH and not PATH.search(line)]


def test_every_command_has_two_examples():
    for name in NAMES:
        assert len(all_commands()[name].EXAMPLES) == 2, name


@pytest.mark.parametrize("example", [one for one in RUN if not one.startswith(NOT_RUN)])
def test_an_example_runs_within_80_columns(example, folder):
    program, *words = shlex.split(example)
    done = heapfit(*words, folder=folder)
    assert (program, done.returncode) == ("heapfit", 0), done.stderr
    if "--json" not in words and "settings" not in words:
        assert wide_lines(done.stdout) == []
    assert wide_lines(done.stderr) == []


@pytest.mark.parametrize("name", NAMES)
def test_help_keeps_to_80_columns_and_shows_its_examples(name, folder):
    shown = heapfit(*name.split(), "--help", folder=folder).stdout
    wide = [line for line in shown.splitlines() if len(line) > WIDTH]
    assert [line for line in wide if "heapfit" not in line] == []
    assert not re.search(r"list\[|<(str|int|float|path|Path)|x<=|\{source", shown)
    assert "\n  Examples:\n    heapfit " in shown


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("fit", "Missing argument 'SOURCE'"),
        ("fit run.heap --workers 0", "'--workers': must be at least 1"),
        ("fit run.heap --workers 9999", "'--workers': must be at most 1,024"),
        ("fit run.heap --peak many", "'--peak': many is not a size in bytes, such as 65536"),
        ("size a.pcap --admission 99.9", "is not a share from 0 to 1, such as 0.999 or 99.9%"),
        ("fit run.heap --margin much", "'--margin': much is not a percentage from 0 to 9999"),
    ],
)
def test_a_wrong_value_is_told_in_plain_words(words, told, folder):
    done = heapfit(*words.split(), folder=folder)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


@pytest.fixture(scope="module")
def completion(tmp_path_factory):
    path = tmp_path_factory.mktemp("completion") / "heapfit"
    path.write_text(made_by("bash"))
    return path


def made_by(*words: str) -> str:
    script = ROOT / "scripts" / "man_page.py"
    done = subprocess.run(
        [sys.executable, script, *words], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_man_page_is_one(tmp_path):
    groff = shutil.which("groff")
    assert groff, "groff is in scripts/install-packages"
    page = tmp_path / "heapfit.1"
    page.write_text(made_by())
    words = [groff, "-man", "-Tutf8", "-ww", page]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    text = " ".join(re.sub(r".\x08|\x1b\[[0-9]*m", "", done.stdout).split())
    for name in NAMES:
        assert f"heapfit {name}" in text, "`make docs` renews docs/heapfit.1"


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("compare x.heap tls", "tlsf"),
        ("workload t2_w", "t2_w1 t2_w2 t2_w3 t2_w4 t2_w5"),
        ("settings zep", "zephyr zephyr-bluetooth"),
        ("fit --pl", "--plans"),
        ("ver", "verify"),
    ],
)
def test_a_name_is_completed(typed, offered, completion, tmp_path):
    words = ["heapfit", *typed.split()]
    script = (
        f"source {completion}; COMP_WORDS=({' '.join(words)}); "
        f'COMP_CWORD={len(words) - 1}; _heapfit; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split() == offered.split()


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ("profile nosuch.heap", 1, "nosuch.heap: "),
        ("profile --nosuch", 2, "No such option"),
        ("compare", 2, "give a trace"),
        ("compar run.heap", 2, "did you mean 'compare'?"),
        ("generate nosuch.toml", 1, "nosuch.toml: "),
        ("check run.heap --plan tight.toml", 3, None),
    ],
)
def test_an_error_is_json_where_json_is_asked_for(words, status, message, folder):
    (folder / "tight.toml").write_text(PLAN.replace("8192", "2048"))
    done = heapfit(*words.split(), "--json", folder=folder)
    assert done.returncode == status
    told = json.loads(done.stdout)
    assert told["schema"] == 1
    if message is None:
        assert "error" not in told
    else:
        assert told["error"]["status"] == status
        assert any(message in one for one in told["error"]["messages"])


def test_every_exit_code_is_on_its_page():
    page = (ROOT / "docs/commands.md").read_text()
    assert re.findall(r"^\| (\d+) \|", page, re.MULTILINE) == ["0", "1", "2", "3", "130"]
