# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C: status 130, one line of what is kept, and a folder that is absent or complete."""

import os
import signal
import subprocess
import sys
import time

import pytest
from small_traces import diverse, table2

from heapfit.cli.main import _kept
from heapfit.fitting.fit import fit

LONG = {  # each far from its end after a second
    "fit": "fit diverse.heap --exact -o out",
    "design": "design diverse.heap --search 900 -o out",
    "front": "front diverse.heap -o out",
    "bounds": "bounds diverse.heap --effort 900000 --lifetimes out",
    "adversary": "adversary diverse.heap tlsf --effort 90000 -o out",
}


@pytest.mark.parametrize("name", LONG)
def test_an_interrupt_ends_a_command_with_130_and_says_what_is_kept(name, tmp_path):
    trace = diverse(tmp_path / "trace", events=20_000).read_text()
    (tmp_path / "trace").unlink()
    os.mkfifo(tmp_path / "diverse.heap")
    running = subprocess.Popen(
        [sys.executable, "-m", "heapfit", *LONG[name].split()],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with (tmp_path / "diverse.heap").open("w") as pipe:  # waits until the command reads it
        pipe.write(trace)
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=30)
    assert running.returncode == 130
    assert told.splitlines()[-1].startswith("heapfit: interrupted; ")
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept in (["diverse.heap"], ["diverse.heap", "out"])
    assert ("out" in kept) == ("out is kept" in told)


def test_a_fit_that_is_interrupted_anywhere_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("heapfit.generate.measure", lambda *_: [])
    source = table2(tmp_path / "small.heap", events=60)

    for tenth in range(10):

        def tell(_step: str, share: float, until: float = tenth / 10) -> None:
            if share >= until:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fit([source], tmp_path / "a" / "out", None, tell)
        assert list(tmp_path.iterdir()) == [source]


def test_what_is_kept_is_told_in_one_line():
    assert _kept([]) == "nothing was written"
