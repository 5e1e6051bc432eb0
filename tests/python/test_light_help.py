# SPDX-License-Identifier: Apache-2.0
"""Help and version come without the libraries that only a run needs."""

import os
import subprocess
import sys

import pytest

from heapfit.cli.main import all_commands

COMMANDS = sorted(all_commands())
LIBRARIES = {"numpy", "pyarrow", "highspy", "jinja2"}
MOST_MODULES = 250  # Python's own among them
# Runs the program once, and prints which libraries and how many modules it has loaded.
PROGRAM = f"""
import sys
from contextlib import suppress
from heapfit.cli import main
with suppress(SystemExit):
    main.run()
print(sorted({LIBRARIES} & sys.modules.keys()), len(sys.modules))
"""


def printed(*words: str) -> str:
    """What the words print in a process of their own; it loads few modules and no library."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"},
        check=True,
        capture_output=True,
        text=True,
    )
    text, _, loaded = done.stdout.rstrip("\n").rpartition("\n")
    assert loaded.startswith("[] ") and int(loaded.removeprefix("[] ")) <= MOST_MODULES
    return text


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_loads_none(name):
    assert f"heapfit {name} [OPTIONS]" in printed(name, "--help")


def test_all_forms_of_help_and_the_version_load_none():
    assert printed("help", "size") == printed("size", "-h") == printed("size", "--help")
    assert "--times" in printed("size", "--help-all")
    assert printed("--version").startswith("heapfit ")
