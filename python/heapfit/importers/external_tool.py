# SPDX-License-Identifier: Apache-2.0
"""Runs compilers and emulators, each within a time limit; errors become one line."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from heapfit.errors import HeapfitError

# What a compiler or linker says first is the cause; `collect2: error` repeats that there was one.
_CAUSE = re.compile(
    r"^(?!collect2).*(?:\berror\b|undefined reference|multiple definition|truncated to fit).*$",
    re.MULTILINE,
)
PATIENCE = 300  # seconds for one command; a million events take about 30, counted


def run(
    command: Sequence[str | Path],
    folder: Path,
    patience: float = PATIENCE,
    *,
    largest: int | None = None,
) -> str:
    """The command's output; HeapfitError if its status is not 0.

    With the first error that it names, or else with its last lines. No file that it writes gets
    more than `largest` bytes (on Linux).
    """
    words = [str(word) for word in command]
    limit = [] if largest is None else ["prlimit", f"--fsize={largest}"]
    try:
        done = subprocess.run(
            [*limit, *words],
            cwd=folder,
            env=os.environ | {"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=patience,
            check=False,
        )
    except FileNotFoundError as error:
        raise HeapfitError(f"{words[0]}: not found (target/README.md lists packages)") from error
    except subprocess.TimeoutExpired as error:
        raise HeapfitError(f"{words[0]}: not done after {patience:g} seconds") from error
    if done.returncode != 0:
        raise HeapfitError(f"{words[0]}: ended with {done.returncode}: {find_cause(done)}")
    return done.stdout


def find_cause(done: subprocess.CompletedProcess[str]) -> str:
    """The first error that a command named, or else its last lines."""
    said = done.stderr.strip() or done.stdout.strip() or "nothing"
    cause = _CAUSE.search(said)
    return cause[0] if cause else " | ".join(said.splitlines()[-4:])
