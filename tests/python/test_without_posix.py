# SPDX-License-Identifier: Apache-2.0
"""The commands that a firmware engineer on Windows needs run without what Windows has not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
RUN = EXAMPLES / "check/traces/base.parquet"
PLAN = EXAMPLES / "check/plan.toml"


def run(*words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "tests/without_posix.py", *map(str, words)]
    environment = {**os.environ, "PATH": "/nonexistent", "NO_COLOR": "1"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


LOG = EXAMPLES / "telemetry/calls.log"
COMMANDS = {
    "forecast": [EXAMPLES / "telemetry/state.log"],
    "import": [LOG, "--line", "Allocated {size} bytes at {address}", "--free", "Freed {address}",
               "-o", "calls.parquet"],
    "fit": [RUN, "-o", "out", "--effort", "quick"],
    "check": [EXAMPLES / "check/traces/clean.parquet", RUN, "--plan", PLAN, "--report", "a.html"],
    "compare": [RUN, "tlsf", "heap_4"],
    "settings": ["lwip", EXAMPLES / "capture/network.pcap.gz", "--queue", "fifo:2000"],
    "place": [RUN, "--memory", "internal=64K", "--memory", "psram=4M"],
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs_where_only_python_for_windows_is(command: str, tmp_path: Path) -> None:
    done = run(command, *COMMANDS[command], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) > 50
    if command == "fit":
        assert {one.name for one in (tmp_path / "out").iterdir()} >= {"plan.toml", "report.html"}
        again = run(command, *COMMANDS[command], folder=tmp_path)  # in place of the first
        assert again.returncode == 0, again.stderr
    assert list(tmp_path.rglob(".heapfit-*")) == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["record", "--", "ls"], "record needs Linux or WSL"),
        (["verify", PLAN, "--qemu", "a.elf", "--build", "make"], "verify needs Linux or WSL"),
    ],
)
def test_what_needs_linux_says_so_in_one_line(words, told, tmp_path):
    done = run(*words, folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr == f"heapfit: {told} (docs/platforms.md)\n"


def test_what_is_taken_away_is_missed(tmp_path):
    """The run that all is judged by fails where the package uses what it must not."""
    script = ROOT / "tests/without_posix.py"
    for use in ("import fcntl", "os.sched_getaffinity(0)", "signal.SIGPIPE", "open('/dev/null2')"):
        code = f"import os, signal, sys; sys.path.insert(0, {str(script.parent)!r}); " + (
            "import without_posix as w; w.OURS = '<'; w.take_away(); " + use
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False
        )
        assert done.returncode == 1, use
