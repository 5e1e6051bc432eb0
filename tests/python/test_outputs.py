# SPDX-License-Identifier: Apache-2.0
"""Every command, where its output cannot be written: one line and status 1, never a traceback."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_scenarios

from grid import thin
from heapfit.cli import main
from program import run_heapfit

pytestmark = pytest.mark.usefixtures("unmeasured")

ROOT = Path(__file__).parents[2]

# Of each command the shortest run that has a result.
RUNS = {
    "fit": "small.heap -o out",
    "record": "-o recorded.parquet -- sh -c :",
    "import": "small.heap -o imported.parquet",
    "workload": "",
    "profile": "small.heap",
    "sites": "small.heap",
    "bounds": "small.heap",
    "compare": "small.heap tlsf",
    "place": "small.heap --memory a=64K --memory b=1M",
    "run": "plan.toml -- sh -c :",
    "check": "small.heap --plan plan.toml",
    "size": "small.heap",
    "settings": "lwip small.heap",
    "verify": "large.toml --qemu image/firmware.elf --build ./build --for freertos --times 1 "
    "--icount shift=6,sleep=off -o verified -- {run} 1",
    "generate": "plan.toml -o code",
    "simulate": "scenario.toml",
    "forecast": "states.log",
    "allocators": "tlsf",
    "reproduce": "000-1 --small",
    "slotbuf": "10 10",
}
PLAN = 'region = 8192\n[plan]\nallocator = "tlsf"\nalignment = 8\n'
BUILD = f"""#!/bin/sh
make -s -C {ROOT}/examples/firmware HEAP=$PWD/verified/code RECORD=1 SYSTEM=loop BUILD=$PWD/image
"""
TRACE = "# pointer_bits 32\n" + "".join(f"a {i} {16 + i % 3 * 40} 1 1 a\n" for i in range(30))
FREES = "".join(f"f {i}\n" for i in range(0, 30, 2))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs")
    (folder / "small.heap").write_text(TRACE + FREES)
    (folder / "plan.toml").write_text(PLAN)
    (folder / "states.log").write_text("".join(f"free heap: {9000 - i} B\n" for i in range(30)))
    (folder / "large.toml").write_text(PLAN.replace("8192", "65536"))
    (folder / "build").write_text(BUILD)
    (folder / "build").chmod(0o755)
    few = [("requests = 4000", "requests = 100"), ("warm_up = 200", "warm_up = 10")]
    small_scenarios.small(folder, *few).rename(folder / "scenario.toml")
    return folder


def heapfit(words, folder, stdout, stderr=subprocess.PIPE):
    shutil.rmtree(folder / "verified", ignore_errors=True)
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


def test_every_command_has_a_run():
    assert RUNS.keys() == main.all_commands().keys()


OUTPUTS = thin(2, RUNS, ["full", "gone"])


@pytest.mark.parametrize("name", [name for name, output in OUTPUTS if output == "full"])
def test_an_output_that_is_full_is_one_line_of_every_command(folder, name):
    with Path("/dev/full").open("w") as full:
        done = heapfit(f"{name} {RUNS[name]}", folder, full)
    *_, last = done.stderr.splitlines()
    assert (done.returncode, last) == (1, "heapfit: output: No space left on device")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", [name for name, output in OUTPUTS if output == "gone"])
def test_a_reader_that_goes_away_is_no_traceback_of_any_command(folder, name):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = heapfit(f"{name} {RUNS[name]}", folder, writer)
    finally:
        os.close(writer)
    assert done.returncode == -signal.SIGPIPE
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


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
