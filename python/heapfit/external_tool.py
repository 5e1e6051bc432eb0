# SPDX-License-Identifier: Apache-2.0
"""Runs compilers and emulators, each within a time limit; errors become one line."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from signal import strsignal
from tempfile import TemporaryFile

from heapfit.errors import HeapfitError

# What a compiler or linker says first is the cause; `collect2: error` repeats that there was one.
_CAUSE = re.compile(
    r"^(?!collect2).*(?:\berror\b|undefined reference|multiple definition|truncated to fit).*$",
    re.MULTILINE,
)
_paper = partial(TemporaryFile, "w+", encoding="utf-8", errors="replace")
PATIENCE = 300  # seconds for one command; a million events take about 30, counted


def run(
    command: Sequence[str | Path],
    folder: Path,
    patience: float = PATIENCE,
    *,
    largest: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """The command's output, with more in its environment; HeapfitError if its status is not 0.

    With the first error that it names, or else with its last lines. No file that it writes gets
    more than `largest` bytes (on Linux), nor does what it prints.
    """
    words = [str(word) for word in command]
    limit = [] if largest is None else ["prlimit", f"--fsize={largest}"]
    with _paper() as said, _paper() as wrong:
        try:
            done = subprocess.run(
                [*limit, *words],
                cwd=folder,
                env={**os.environ, "LC_ALL": "C", **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=wrong,
                text=True,
                timeout=patience,
                check=False,
            )
        except OSError as error:
            raise HeapfitError(f"{words[0]}: cannot be run: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise HeapfitError(f"{words[0]}: not done after {patience:g} seconds") from error
        said.seek(0)
        wrong.seek(0)
        done.stdout, done.stderr = said.read(), wrong.read(1 << 20)
    if (code := done.returncode) != 0:
        why = strsignal(-code) if code < 0 else f"ended with {code}: {_find_cause(done)}"
        raise HeapfitError(f"{words[0]}: {why}")
    return done.stdout


def _find_cause(done: subprocess.CompletedProcess[str]) -> str:
    """The first error that a command named, or else its last lines."""
    said = done.stderr.strip() or done.stdout.strip() or "nothing"
    cause = _CAUSE.search(said)
    return cause[0] if cause else " | ".join(said.splitlines()[-4:])
