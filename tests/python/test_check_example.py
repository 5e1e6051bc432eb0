# SPDX-License-Identifier: Apache-2.0
"""examples/check in short: its script records, plans and checks; bench/check.py judges."""

import subprocess
import sys
from pathlib import Path

import pytest

from heapfit.trace.content import content_hash
from heapfit.trace.stored import Trace

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/check"
CLEAN = 2  # runs of either load


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("check")


@pytest.fixture(scope="module")
def bench(folder: Path) -> list[str]:
    """What the bench prints, line by line."""
    words = [sys.executable, ROOT / "bench/check.py", "--clean", str(CLEAN), "--folder", folder]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_clean_runs_are_green_and_mistakes_are_red(bench: list[str]) -> None:
    assert bench[-5:] == [
        "examples/check/run ends with 0: reached",
        "false alarms: 0 of 4: reached",
        "the leak is red: reached",
        "kept messages are red, under no higher peak: reached",
        "at most 1.1 n events are replayed where all pass: reached",
    ]
    table = {line.split()[0]: line.split()[1:4] for line in bench[1:5]}
    assert table["clean"] == table["more"] == ["2", "0", "1.000"]
    assert [words[:2] for name, words in table.items() if name in ("leak", "keep")] == [
        ["1", "1"],
        ["1", "1"],
    ]


@pytest.mark.parametrize(("mistake", "function"), [("leak", "come"), ("keep", "receive")])
def test_the_function_that_holds_more_is_named_first(
    bench: list[str], folder: Path, mistake: str, function: str
) -> None:
    assert bench
    text, _, sites = (folder / f"{mistake}.md").read_text().rpartition("| call site |")
    assert ("Live bytes grew by " in text) == (mistake == "leak")
    first = sites.splitlines()[2]
    assert first.startswith(f"| {function}, telemetry+0x")  # built without -g


@pytest.mark.parametrize("recording", ["base", "leak", "keep"])
def test_the_recordings_kept_are_those_that_the_script_makes(
    bench: list[str], folder: Path, recording: str
) -> None:
    assert bench
    made = folder / f"{recording}{'-1' if recording == 'base' else ''}.parquet"
    kept = EXAMPLE / f"traces/{recording}.parquet"
    assert content_hash(Trace.open(made)) == content_hash(Trace.open(kept))
