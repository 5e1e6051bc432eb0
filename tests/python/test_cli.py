# SPDX-License-Identifier: Apache-2.0
"""The program's frame: exit codes, where output goes, and what reaches a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from heapfit.cli import main
from heapfit.trace.stored import Trace
from program import run_heapfit

COLOUR = re.compile(rb"\x1b\[[0-9;]*[39][0-9]")
TEXT = "# name echo\n# pointer_bits 32\na 0 24\nf 0\n"


def heapfit(*words, cwd=None):
    return run_heapfit(*words, folder=cwd or Path.cwd(), environment=os.environ)


def start_heapfit(*words, **environment):
    return subprocess.run(
        [sys.executable, "-m", "heapfit", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "echo.heap"
    path.write_text(TEXT)
    return path


def test_commands_of_other_packages_are_those_that_they_declare():
    declared = entry_points(group=main.ENTRY_POINT_GROUP)
    found = {name: f"{module}:{made}" for name, module, made in main.external_commands()}
    assert found == {one.name: one.value for one in declared}
    assert {"reproduce", "slotbuf"} <= declared.names
    assert "\n  reproduce  " in heapfit("--help").stdout


def test_import_writes_the_trace_and_tells_it_on_stdout(source, tmp_path):
    done = heapfit("import", source, "-o", tmp_path / "t.parquet")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path / 't.parquet'}: 2 events of echo (32 bit)\n"
    assert Trace.open(tmp_path / "t.parquet").info.program == "echo"


def test_json_is_all_there_is_on_stdout(source, tmp_path):
    source.write_text("a 0 8\nf 0\nf 0\n")
    target = tmp_path / "t.parquet"
    words = ["import", source, "-o", target, "--drop-unknown", "--pointer-bits", "64", "--json"]
    done = heapfit(*words)
    told = json.loads(done.stdout)
    assert done.returncode == 0
    assert (told["schema"], told["trace"], told["events"]) == (1, str(target), 2)
    assert told["pointer_bits"] == 64
    assert told["notes"] == ["1 free of an unknown or freed id dropped: 0."]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_import_makes_a_trace_of_each_of_several_files(source, tmp_path, workers):
    other = tmp_path / "other"
    other.mkdir()
    (other / source.name).write_text("a 0 8\nf 0\nf 0\n")
    words = ["import", source, other / source.name, "-o", tmp_path / "traces"]
    done = heapfit(*words, "--workers", workers, "--drop-unknown")
    paths = [tmp_path / "traces" / name for name in ("echo.parquet", "echo-2.parquet")]
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2)
    assert (
        " ".join(done.stderr.split()) == f"{paths[1]}: 1 free of an unknown or freed id dropped: 0."
    )
    assert [Trace.open(path).info.events for path in paths] == [2, 2]
    assert sorted((tmp_path / "traces").iterdir()) == sorted(paths)


def test_of_several_files_the_first_bad_one_is_named_and_the_others_stay(source, tmp_path):
    (tmp_path / "bad.heap").write_text("a 0 8\nf 1\n")
    words = ["import", source, tmp_path / "bad.heap", "-o", tmp_path / "traces"]
    done = heapfit(*words, "--workers", "2", "--json")
    assert (done.returncode, done.stdout.count("line 2: free of unknown")) == (1, 1)
    assert f"{tmp_path / 'bad.heap'}: line 2" in done.stdout
    assert [path.name for path in (tmp_path / "traces").iterdir()] == ["echo.parquet"]


def test_several_pipes_are_imported(source, tmp_path):
    script = f'{sys.executable} -m heapfit import <(cat "$1") <(cat "$1") -o "$2" --json'
    words = ["bash", "-c", script, "bash", source, tmp_path / "traces"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [one["events"] for one in json.loads(done.stdout)["traces"]] == [2, 2]


def test_bad_input_exits_with_1_and_one_line_on_stderr(source, tmp_path):
    source.write_text("a 0 8\nf 1\n")
    done = heapfit("import", source, "-o", tmp_path / "t.parquet")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"heapfit: {source}: line 2: free of unknown or freed id 1 "
        "(heapfit import --drop-unknown drops such events and counts them)\n"
    )
    assert not (tmp_path / "t.parquet").exists()


def test_a_reader_that_goes_away_is_no_traceback(source, tmp_path):
    command = f"{sys.executable} -m heapfit import {source} -o {tmp_path / 't'} --json | true"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.stderr == ""


@pytest.mark.parametrize(
    "name", ["a\x1b[2Jb", "a\x9b31mb", "a\u202eb", "a\rb", "a\x07b", "a\u2028b", "a\u200fb"]
)
def test_a_hostile_name_never_steers_the_terminal(tmp_path, name):
    source = tmp_path / "s"
    source.write_text(f"# name {name}\na 0 8\n", encoding="utf-8", newline="")
    done = start_heapfit("import", source, "-o", tmp_path / "t.parquet", PYTHONUTF8="1")
    assert done.returncode == 0
    assert done.stdout.removesuffix("\n").isprintable()


def test_a_name_that_is_no_text_is_shown_as_far_as_it_is(tmp_path):
    source = tmp_path / "s"
    source.write_bytes(b"# name caf\xe9\na 0 8\n")
    assert heapfit("import", source, "-o", tmp_path / "t", "--json").returncode == 0
    assert Trace.open(tmp_path / "t").info.program == "caf\N{REPLACEMENT CHARACTER}"


def on_terminal(*words, **environment):
    """What a terminal receives as stderr."""
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "heapfit", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        check=True,
        env={**os.environ, "TERM": "xterm", **environment},
    )
    os.close(theirs)
    received = b""
    try:
        while chunk := os.read(ours, 4096):
            received += chunk
    except OSError:  # the end of a terminal
        pass
    os.close(ours)
    return received


def test_a_progress_bar_shows_on_a_terminal_without_colour_if_so_asked(source, tmp_path):
    bar = on_terminal("import", source, "-o", tmp_path / "t")
    assert b"import" in bar
    assert COLOUR.search(bar)
    plain = on_terminal("import", source, "-o", tmp_path / "t", NO_COLOR="1")
    assert b"import" in plain
    assert not COLOUR.search(plain)


@pytest.mark.parametrize("asked", ["allocators", "allocators --json", "--help"])
def test_a_reader_that_leaves_ends_it_as_it_ends_other_programs(asked):
    from_it, to_it = os.pipe()
    os.close(from_it)
    done = subprocess.run(
        [sys.executable, "-m", "heapfit", *asked.split()],
        stdout=to_it,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(to_it)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


NOTED = "f 9\n" + "".join(f"a {i} 24 0 1 7\na {i + 1} 40 0 1 8\nf {i}\n" for i in range(0, 20, 2))


@pytest.mark.parametrize(
    "words",
    [
        *("bounds TRACE", "profile TRACE", "sites TRACE", "sites TRACE --view peak"),
        *("sites TRACE --view tasks", "compare TRACE heap_4"),
        *("check TRACE --heap heap_4:64K", "settings freertos TRACE", "fit TRACE --output out"),
        *("place TRACE --memory ram=4K --memory psram=8K", "size TRACE --sizes 40"),
    ],
)
def test_every_command_prints_what_importing_left_out(tmp_path, words):
    path, trace = tmp_path / "late.heap", tmp_path / "late.parquet"
    path.write_text(NOTED)
    heapfit("import", path, "--drop-unknown", "-o", trace)
    done = heapfit(*words.replace("TRACE", str(trace)).split(), cwd=tmp_path)
    assert done.returncode == 0
    assert "1 free of an unknown or freed id dropped: 9." in done.stdout + done.stderr
