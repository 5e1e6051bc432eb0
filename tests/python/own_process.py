# SPDX-License-Identifier: Apache-2.0
"""A command in a process of its own, and the most memory it ever held."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

# Not getrusage: its figure is carried over from whoever started the process.
_TELLING_MEMORY = """
import atexit, pathlib, sys
from heapfit.cli.main import run
status = pathlib.Path("/proc/self/status")
told = lambda: next(x for x in status.open() if x.startswith("VmHWM"))
atexit.register(lambda: print(told().split()[1], flush=True))
sys.exit(run())
"""


class Ran(NamedTuple):
    """How a command ended."""

    code: int
    told: str  # on stderr
    most_memory: int  # bytes


def run_alone(*words: str | Path) -> Ran:
    """Runs `heapfit` with these words."""
    done = subprocess.run(
        [sys.executable, "-c", _TELLING_MEMORY, *words], capture_output=True, text=True, check=False
    )
    return Ran(done.returncode, done.stderr, int(done.stdout.splitlines()[-1]) << 10)
