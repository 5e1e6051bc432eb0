# SPDX-License-Identifier: Apache-2.0
"""Whatever happens to the output of `heapfit record`, what the program asked for is not lost."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heapfit.errors import HeapfitError
from heapfit.importers import import_file, record
from heapfit.trace.stored import Trace

PAIRS = 2000  # of a request and its free
IS_LONG = os.environ.get("HEAPFIT_ALL_FAILURES") == "1"
KINDS = ("kill", "taken", "interrupt", "folder")[
    : 4 if IS_LONG else 2
]  # what happens, at any moment
TRIES = 25 if IS_LONG else 1  # of each kind


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """A program that makes a file as its last act."""
    source = Path(__file__).with_name("programs") / "marked.c"
    program = tmp_path_factory.mktemp("marked") / "marked"
    subprocess.run(["cc", "-O0", "-fno-builtin", source, "-o", program], check=True)
    return program


def raw_recordings(folder):
    return list(folder.glob(".*/*.wire"))


def happen(kind, recorder, output):
    if kind == "kill":
        recorder.kill()
    elif kind == "interrupt":
        recorder.send_signal(signal.SIGINT)
    elif not output.exists():
        output.write_text("somebody's") if kind == "taken" else output.mkdir()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("turn", range(TRIES))
def test_no_recording_is_lost_whatever_happens_and_when(marked, tmp_path, kind, turn):
    output, end = tmp_path / "out.parquet", tmp_path / "end"
    words = ["record", "-o", output, "--", marked, str(PAIRS), end]
    recorder = subprocess.Popen(
        [sys.executable, "-m", "heapfit", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    drawn = random.Random(f"{kind} {turn}")
    until = time.monotonic() + 60
    while not end.exists() and time.monotonic() < until and drawn.random() > 0.002:
        time.sleep(0.002)
    time.sleep(drawn.random() * 0.1)
    happen(kind, recorder, output)
    _, said = recorder.communicate(timeout=60)
    if not end.exists() and not raw_recordings(tmp_path):
        return  # the program was not begun
    while not end.exists():  # it runs on where its recorder was killed
        time.sleep(0.01)
    raw = raw_recordings(tmp_path)
    if raw:
        assert kind == "kill" or f".{output.stem}-" in said
        made = import_file(raw[0], tmp_path / "again.parquet")
    else:
        made = Trace.open(output)
    assert made.info.events == 2 * PAIRS


@pytest.mark.parametrize("error", [HeapfitError("No space left on device"), KeyboardInterrupt()])
def test_a_trace_that_cannot_be_written_leaves_the_raw_recording(
    marked, tmp_path, monkeypatch, error
):
    def fail(*_):
        raise error

    monkeypatch.setattr(record, "import_file", fail)
    with pytest.raises(type(error)) as raised:
        record.record([str(marked), str(PAIRS), str(tmp_path / "end")], tmp_path / "out.parquet")
    (raw,) = raw_recordings(tmp_path)
    if isinstance(error, HeapfitError):
        assert f"; kept: heapfit import {raw.parent}/*.wire -o " in str(raised.value)
    assert import_file(raw, tmp_path / "again.parquet").info.events == 2 * PAIRS


def test_an_output_that_cannot_be_is_found_before_the_program_runs(marked, tmp_path):
    end = tmp_path / "end"
    for name, reason in (("x" * 256, "File name too long"), ("none/x", "folder does not exist")):
        with pytest.raises(HeapfitError, match=reason):
            record.record([str(marked), "1", str(end)], tmp_path / name)
    (tmp_path / "mine.parquet").write_text("somebody's")
    with pytest.raises(HeapfitError, match="not overwritten"):
        record.record([str(marked), "1", str(end)], tmp_path / "mine.parquet")
    assert not end.exists()
    assert [one.name for one in tmp_path.iterdir()] == ["mine.parquet"]


def test_names_that_are_no_utf_8_are_written_and_read(marked, tmp_path):
    output = tmp_path / os.fsdecode(b"caf\xe9.parquet")
    made = record.record([str(marked), str(PAIRS), str(tmp_path / "end")], output).trace
    assert Trace.open(output).info == made.info
    assert len(Trace.open(output).events()) == 2 * PAIRS
