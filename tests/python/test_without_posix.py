# SPDX-License-Identifier: Apache-2.0
"""The commands that a firmware engineer on Windows needs run without what Windows has not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
RUN = EXAMPLES / "check/traces/base.parquet"
PLAN = EXAMPLES / "check/plan.toml"


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


ON_LINUX = {
    "record": [["record", "--", "ls"], "record needs Linux or WSL"],
    "verify": [["verify", PLAN, "--qemu", "a", "--build", "make"], "verify needs Linux or WSL"],
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, int, str, str]]:
    """The folder of each command, its status, output and errors; all in one process."""
    words = {name: [name, *rest] for name, rest in COMMANDS.items()}
    words |= {name: asked for name, (asked, _) in ON_LINUX.items()}
    folders = {name: tmp_path_factory.mktemp(name) for name in words}
    runs = [(name, [folders[name], *map(str, asked)]) for name, asked in words.items()]
    runs.append(("fit again", [folders["fit"], *map(str, words["fit"])]))  # in place of the first
    asked = json.dumps([run for _, run in runs], default=str)
    done = subprocess.run(
        [sys.executable, ROOT / "tests/without_posix.py", asked],
        env={**os.environ, "PATH": "/nonexistent", "NO_COLOR": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    results = json.loads(done.stdout)
    return {
        name: (Path(run[0]), *result) for (name, run), result in zip(runs, results, strict=True)
    }


@pytest.mark.parametrize("command", [*COMMANDS, "fit again"])
def test_a_command_runs_where_only_python_for_windows_is(command: str, ended) -> None:
    folder, status, out, err = ended[command]
    assert status == 0, err
    assert len(out) > 50
    if command == "fit":
        assert {one.name for one in (folder / "out").iterdir()} >= {"plan.toml", "report.html"}
    assert list(folder.rglob(".heapfit-*")) == []


@pytest.mark.parametrize("command", ON_LINUX)
def test_what_needs_linux_says_so_in_one_line(command: str, ended) -> None:
    _, status, _, err = ended[command]
    assert (status, err) == (1, f"heapfit: {ON_LINUX[command][1]} (docs/platforms.md)\n")


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
