# SPDX-License-Identifier: Apache-2.0
"""Streams that are full or closed, and inputs that cannot be read: one line, never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from program import run_heapfit

pytestmark = pytest.mark.usefixtures("unmeasured")

TRACE = "# pointer_bits 32\n" + "".join(f"a {i} {16 + i % 3 * 40} 1 1 a\n" for i in range(30))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs")
    (folder / "small.heap").write_text(TRACE)
    (folder / "plan.toml").write_text('region = 8192\n[plan]\nallocator = "tlsf"\n')
    return folder


def heapfit(words, folder, stdout, stderr=subprocess.PIPE):
    return subprocess.run(
        [sys.executable, "-m", "heapfit", *words.split()],
        stdout=stdout,
        stderr=stderr,
        stdin=subprocess.DEVNULL,
        cwd=folder,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize("words", ["profile nosuch", "generate plan.toml -o code"])
def test_messages_that_cannot_be_written_change_no_status(folder, words):
    told = heapfit(words, folder, subprocess.DEVNULL)
    with Path("/dev/full").open("w") as full:
        assert heapfit(words, folder, subprocess.DEVNULL, full).returncode == told.returncode


def test_a_closed_stdout_fails_in_one_line_and_other_closed_streams_do_not(folder):
    words = f"{sys.executable} -m heapfit profile small.heap"

    def run(closed):
        command = ["sh", "-c", f"{words} {closed}"]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    assert run("2>&- <&-").returncode == 0
    failed = run(">&- <&-")
    assert failed.returncode == 1
    (line,) = failed.stderr.splitlines()
    assert line.startswith("heapfit: stdout is closed")


# What is wrong with it, for commands that read a recording, a plan or a scenario.
BAD_INPUTS = {
    "missing": "missing: no such file (check the path)",
    "folder": "folder: is a folder (name a file in it)",
    "empty": "empty: is empty",
    "garbage": "garbage: its format is unknown (known: ",
    "other.parquet": "other.parquet: Parquet, but not a heapfit trace (`heapfit import` makes one)",
    "cut.parquet": "cut.parquet: cannot be read as a stored trace: ",
}
READERS = ("fit", "profile", "sites", "bounds", "size", "import")


@pytest.fixture(scope="module")
def bad_inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    (folder / "folder").mkdir()
    (folder / "empty").touch()
    (folder / "garbage").write_bytes(bytes(range(256)) * 8)
    pq.write_table(pa.table({"a": [1]}), folder / "other.parquet")
    (folder / "cut.parquet").write_bytes((folder / "other.parquet").read_bytes()[:-20])
    (folder / "good.heap").write_text(TRACE)
    return folder


@pytest.mark.parametrize("command", READERS)
def test_what_cannot_be_read_is_one_line_that_says_what_to_do(command, bad_inputs):
    before = sorted(bad_inputs.iterdir())
    stored = "is Parquet already (a stored trace needs no import)"
    of_import = {name: f"{name}: {stored}" for name in ("other.parquet", "cut.parquet")}
    for name, told in (BAD_INPUTS | (of_import if command == "import" else {})).items():
        done = run_heapfit(command, name, folder=bad_inputs, environment=os.environ)
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        assert done.stderr.startswith(f"heapfit: {told}")
        assert done.stderr.count("\n") == 1
    assert sorted(bad_inputs.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        ("check good.heap --plan garbage", 1, "garbage: not TOML: it is not UTF-8 text"),
        ("check good.heap --plan missing", 1, "missing: no such file (check the path)"),
        ("generate folder", 1, "folder: is a folder (name a file in it)"),
        ("simulate garbage", 1, "garbage: not TOML: it is not UTF-8 text (is this a scenario?)"),
        ("fit good.heap --queue xx", 1, 'queue model: "xx" is none (use fill-drain:N'),
    ],
)
def test_a_wrong_word_is_refused_before_anything_is_done(words, status, told, bad_inputs):
    before = sorted(bad_inputs.iterdir())
    done = run_heapfit(*words.split(), folder=bad_inputs, environment=os.environ)
    assert (done.returncode, done.stdout) == (status, "")
    assert told in done.stderr
    assert sorted(bad_inputs.iterdir()) == before
