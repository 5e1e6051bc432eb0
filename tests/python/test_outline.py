# SPDX-License-Identifier: Apache-2.0
"""Help and version come without the libraries that only a run needs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_traces import heapfit

from heapfit.cli.main import CommandGroup

TRACE = Path(__file__).parents[2] / "examples/lwip-echo/lwip-echo.parquet"
COMMANDS = sorted(CommandGroup().modules)
LIBRARIES = {"numpy", "pyarrow", "highspy", "jinja2"}
# Runs the program in one child for each line on stdin, and prints what libraries each has loaded.
PROGRAM = f"""
import io, os, sys
from contextlib import redirect_stdout, suppress
from heapfit.cli import main
for line in sys.stdin:
    if os.fork() == 0:
        printed = io.StringIO()
        with suppress(SystemExit), redirect_stdout(printed):
            main.make_app()(line.split(), prog_name="heapfit")
        found = sorted({LIBRARIES} & sys.modules.keys())
        os.write(1, repr((line.strip(), found, printed.getvalue())).encode() + b"\\n")
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    """What the words print, in a process that has loaded nothing for them; no library with it."""
    asked = [f"{name} --help" for name in COMMANDS] + ["help size", "fit -h", "--version"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input="\n".join(asked),
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"},
        check=True,
        capture_output=True,
        text=True,
    )
    runs = [eval(line) for line in done.stdout.splitlines()]
    assert {words: found for words, found, _ in runs} == {words: [] for words in asked}
    return {words: text for words, _, text in runs}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_the_same_as_with_all_libraries_and_loads_none(name, printed, tmp_path):
    assert f"heapfit {name} [OPTIONS]" in printed[f"{name} --help"]
    assert printed[f"{name} --help"] == heapfit(*name.split(), "--help", folder=tmp_path).stdout


def test_both_forms_of_help_and_the_version_load_none(printed):
    assert printed["help size"] == printed["size --help"]
    assert printed["fit -h"] == printed["fit --help"]
    assert printed["--version"].startswith("heapfit ")


def test_a_command_runs_when_the_word_for_help_is_an_options_value(tmp_path):
    run = [sys.executable, "-m", "heapfit", "profile", TRACE, "-o", "--help"]
    done = subprocess.run(run, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "U_max" in done.stdout
    assert (tmp_path / "--help").read_bytes().startswith(b"PAR1")
