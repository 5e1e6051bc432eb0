# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C as a terminal sends it, to a command and what it started, at times all over its run.

HEAPFIT_ALL_INTERRUPTS=1 interrupts each command at ten times; otherwise it is once, at a half.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_scenarios import SMALL
from small_traces import diverse

RUNS = {  # some seconds each, and what they leave
    "fit": "fit diverse.heap -o out",
    "fit with plans": "fit diverse.heap -o out --plans plans",
    "reproduce": "reproduce 000-1 001-4 --small --report page.html",
    "record": "record -o out.parquet -- sleep 1",
    "size": "size diverse.heap --report page.html",
    "simulate": "simulate small.toml -o out.csv --report page.html",
}
TIMES = 10 if os.environ.get("HEAPFIT_ALL_INTERRUPTS") == "1" else 1


def sources(folder: Path) -> None:
    folder.mkdir()
    diverse(folder / "diverse.heap", events=3000)
    (folder / "small.toml").write_text(SMALL.replace("requests = 4000", "requests = 40000"))


# Before its first line runs, Ctrl-C is answered by Python.
BEGIN = "import heapfit.__main__ as start; print('begun', flush=True); start.run()"


def started(name: str, folder: Path) -> subprocess.Popen[str]:
    running = subprocess.Popen(
        [sys.executable, "-c", BEGIN, *RUNS[name].split()],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a group of its own, as a shell gives each job
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "begun\n"
    return running


def left_in(folder: Path) -> dict[str, set[str]]:
    """The files of each output, by its name."""
    found: dict[str, set[str]] = {}
    for one in folder.rglob("*"):
        name = str(one.relative_to(folder))
        if one.is_file() and name not in ("diverse.heap", "small.toml"):
            found.setdefault(name.partition("/")[0], set()).add(name)
    return found


def is_soon_empty(group: int) -> bool:
    """Whether no process of the group is left after a minute."""
    for _ in range(600):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("name", RUNS)
def test_ctrl_c_ends_a_command_with_one_line_and_no_output_in_parts(name, tmp_path):
    sources(tmp_path / "whole")
    running = started(name, tmp_path / "whole")
    begin = time.monotonic()
    assert (running.communicate()[1], running.returncode) == ("", 0)
    lasts, whole = time.monotonic() - begin, left_in(tmp_path / "whole")
    for i in range(TIMES):
        folder = tmp_path / str(i)
        sources(folder)
        running = started(name, folder)
        time.sleep(lasts * (i + 1) / (TIMES + 1))
        os.killpg(running.pid, signal.SIGINT)
        told = running.communicate(timeout=300)[1].splitlines()
        made = left_in(folder)
        if running.returncode == 0:  # it was through
            assert made == whole
            continue
        place = (i, running.returncode, told)
        assert running.returncode == 130, place
        assert len(told) == 1, place
        assert told[0].startswith("heapfit: interrupted; "), place
        assert all(files == whole[output] for output, files in made.items()), place
        assert ("nothing was written" in told[0]) == (not made), place
        assert is_soon_empty(running.pid), place


@pytest.mark.parametrize(("sent", "status"), [("SIGINT", 130), ("SIGCONT", 0)])
def test_ctrl_c_while_the_program_is_loaded_is_one_line_too(sent, status):
    text = (
        "import os, signal, types, heapfit.__main__ as start\n"
        "def load(_):\n"
        "    os.kill(os.getpid(), signal.SENT)\n"
        "    return types.SimpleNamespace(run=int)\n"
        "start.import_module = load\n"
        "start.run()"
    )
    done = subprocess.run(
        [sys.executable, "-c", text.replace("SENT", sent)],
        capture_output=True,
        text=True,
        check=False,
    )
    told = "heapfit: interrupted; nothing was written\n" if status else ""
    assert (done.returncode, done.stderr) == (status, told)


def test_ctrl_c_that_is_ignored_stays_ignored():
    text = (
        "import os, signal, heapfit.__main__ as start\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "with start._handle_interrupt(): os.kill(os.getpid(), signal.SIGINT)\n"
        "print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN)"
    )
    told = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True
    ).stdout
    assert told == "True\n"


def test_ctrl_c_that_comes_while_a_text_is_executed_ends_with_130_too():
    text = (
        "import types, heapfit.__main__ as start\n"
        "def run():\n"
        "    try: exec('raise KeyboardInterrupt')\n"
        "    except KeyboardInterrupt: raise SystemExit(130)\n"
        "start.import_module = lambda _: types.SimpleNamespace(run=run)\n"
        "start.run()"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")
