#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fuzzes everything that reads foreign bytes, one reader after the other.

    .venv/bin/python tests/fuzz/run.py [--seconds S] [--executions N] [NAME...]

First each file of corpus/NAME is read again, then what is made from them. A NAME with a
fuzz_NAME.cpp is C++ under libFuzzer and the sanitizers, built here; the others are readers.py's.
What a reader cannot stand is kept in build/fuzz/found, and the exit status is 1: see it again by
putting it into corpus/NAME, where it stays once the reader is mended.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent
_ROOT = _FOLDER.parents[1]
_BUILD = _ROOT / "build" / "fuzz"
_DONE = re.compile(r"(?:number_of_executed_units: +|^)(\d+)", re.MULTILINE)
_LAST_WORDS = 12  # lines of a fuzzer's own output that are shown with a finding


@dataclass(frozen=True, slots=True)
class Asked:
    """How long each reader is fuzzed: until either is reached."""

    seconds: float | None  # 0: only the corpus
    executions: int | None
    seed: int


Command = Callable[[str, Asked, str], list[str]]  # of a reader's name and a scratch folder


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one reader."""

    executions: int
    seconds: float
    found: Path | None  # an input that it cannot stand
    said: str


def known(corpus: Path = _FOLDER / "corpus") -> list[str]:
    """All readers: each has a corpus."""
    return sorted(folder.name for folder in corpus.iterdir())


def is_native(name: str) -> bool:
    """Whether the reader is C++."""
    return (_FOLDER / f"fuzz_{name}.cpp").is_file()


def build(names: Sequence[str]) -> None:
    """Builds the C++ fuzzers among `names`; CalledProcessError if that fails."""
    targets = [f"fuzz_{name}" for name in names if is_native(name)]
    if targets:
        for words in (["--preset", "fuzz"], ["--build", "--preset", "fuzz", "--target", *targets]):
            subprocess.run(["cmake", *words], cwd=_ROOT, check=True, stdout=subprocess.DEVNULL)


def fuzz(
    name: str, asked: Asked, *, command: Command | None = None, kept_in: Path = _BUILD / "found"
) -> Outcome:
    """Runs one reader, by its own command; what it cannot stand is copied."""
    start = time.monotonic()
    command = command or (_native if is_native(name) else _python)
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=_in_memory()) as scratch:
        done = subprocess.run(
            command(name, asked, scratch),
            cwd=_ROOT,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        said = done.stdout + done.stderr
        found = _kept(name, Path(scratch), kept_in) if done.returncode else None
    if done.returncode and found is None:
        raise RuntimeError(f"{name}: did not start: {said}")
    counted = _DONE.search(said)
    return Outcome(int(counted[1]) if counted else 0, time.monotonic() - start, found, said)


def _in_memory() -> str | None:
    """Where files cost no disk: to write and open them was most of a Python reader's time."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _native(name: str, asked: Asked, scratch: str) -> list[str]:
    """Inputs that reach new code are kept in the build folder, beside the corpus."""
    grown = _BUILD / "corpus" / name
    grown.mkdir(parents=True, exist_ok=True)
    executions = 0 if asked.seconds == 0 else asked.executions
    limits = [] if executions is None else [f"-runs={executions}"]
    limits += [f"-max_total_time={int(asked.seconds)}"] if asked.seconds else []
    return [
        str(_BUILD / "tests" / "fuzz" / f"fuzz_{name}"),
        *limits,
        f"-seed={asked.seed}",
        f"-artifact_prefix={scratch}/",
        *("-max_len=4096", "-timeout=60", "-rss_limit_mb=1024", "-print_final_stats=1"),
        str(grown),
        str(_FOLDER / "corpus" / name),
    ]


def _python(name: str, asked: Asked, scratch: str) -> list[str]:
    words = [sys.executable, str(_FOLDER / "readers.py"), name, scratch, f"--seed={asked.seed}"]
    words += [] if asked.seconds is None else [f"--seconds={asked.seconds}"]
    return words + ([] if asked.executions is None else [f"--executions={asked.executions}"])


def _kept(name: str, scratch: Path, kept_in: Path) -> Path | None:
    """The input that was being read, under a name of its content; None if none was."""
    inputs = [scratch / name, *scratch.glob("*-*")]  # as readers.py and libFuzzer call them
    content = next((path.read_bytes() for path in inputs if path.is_file()), None)
    if content is None:
        return None
    found = kept_in / f"{name}-{hashlib.sha256(content).hexdigest()[:16]}"
    found.parent.mkdir(parents=True, exist_ok=True)
    found.write_bytes(content)
    return found


def _tell(name: str, outcome: Outcome) -> None:
    done = f"{outcome.executions:,} executions in {outcome.seconds:.0f} s"
    if outcome.found is None:
        print(f"{name}: {done}, nothing found", flush=True)
        return
    print(*outcome.said.splitlines()[-_LAST_WORDS:], sep="\n")
    print(f"{name}: FOUND {outcome.found}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzzes as the command line says; 1 if anything was found."""
    parser = argparse.ArgumentParser(description="Fuzzes what reads foreign bytes.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="[all]")
    parser.add_argument("--seconds", type=float, help="for each; 0 reads the corpus alone [5]")
    parser.add_argument("--executions", type=int, help="of each, if that is reached before")
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args(arguments)
    unknown = set(words.names) - set(known())
    if unknown:
        parser.error(f"no fuzzer {', '.join(sorted(unknown))} (one of {', '.join(known())})")
    names = words.names or known()
    seconds = 5.0 if words.seconds is None and words.executions is None else words.seconds
    build(names)
    outcomes = []
    for name in names:
        outcomes.append(fuzz(name, Asked(seconds, words.executions, words.seed)))
        _tell(name, outcomes[-1])
    return int(any(outcome.found for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
