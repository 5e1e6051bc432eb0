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
from typing import IO

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
    with _paper() as said, _paper() as wrong:
        try:
            code = wait_for(
                words if largest is None else ["prlimit", f"--fsize={largest}", *words],
                patience,
                cwd=folder,
                env={**os.environ, "LC_ALL": "C", **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=wrong,
            )
        except OSError as error:
            raise HeapfitError(f"{words[0]}: cannot be run: {error.strerror}") from error
        said.seek(0)
        wrong.seek(0)
        output, errors = said.read(), wrong.read(1 << 20)
    if code is None:
        raise HeapfitError(f"{words[0]}: not done after {patience:g} seconds")
    if code != 0:
        cause = f"ended with {code}: {_find_cause(output, errors)}"
        raise HeapfitError(f"{words[0]}: {strsignal(-code) if code < 0 else cause}")
    return output


def wait_for(
    command: Sequence[str],
    seconds: float | None,
    *,
    env: Mapping[str, str],
    stdin: int | None,
    stdout: IO[str] | int | None,
    stderr: IO[str] | int | None,
    cwd: Path | None = None,
) -> int | None:
    """The exit status of a process with these options of Popen; None if it took longer than this.

    With a limit it is ended with all that it started, as a compiler's driver starts others.
    """
    is_group = seconds is not None and hasattr(os, "killpg")
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=is_group,
    ) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                (os.killpg if is_group else os.kill)(process.pid, 9)


def _find_cause(output: str, errors: str) -> str:
    """The first error that a command named, or else its last lines."""
    said = errors.strip() or output.strip() or "nothing"
    cause = _CAUSE.search(said)
    return cause[0] if cause else " | ".join(said.splitlines()[-4:])
