# SPDX-License-Identifier: Apache-2.0
"""A copy of the repository in which one file at a time is faulty; and commands run in it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mutants.mutant import Mutant, mutated

MOST_MEMORY = 16 << 30  # bytes of address space of a command; solvers map much of it
WALL_TO_CPU = 100  # a machine may have much other work; what waits for nothing ends, too


class Tree:
    """A population's own copy, below `build/mutants`; what is built stays for the next run."""

    def __init__(self, root: Path, population: str) -> None:
        self.root = root
        self.top = root / "build/mutants" / population
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=root, check=True, capture_output=True, text=True).stdout
        for name in names.splitlines():
            self._copy(name)

    def _copy(self, name: str) -> None:
        """A file, if it has changed: what is built from it stays if not."""
        source, target = self.root / name, self.top / name
        if not source.is_file():
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.is_file() or target.read_bytes() != source.read_bytes():
            target.write_bytes(source.read_bytes())
            target.chmod(source.stat().st_mode)

    @contextmanager
    def faulty(self, mutant: Mutant) -> Iterator[None]:
        """With the fault in its file until the block is left."""
        file = self.top / mutant.file
        sound = (self.root / mutant.file).read_bytes()
        file.write_bytes(mutated(sound, mutant))
        try:
            yield
        finally:
            file.write_bytes(sound)

    def run(self, command: list[str | Path], seconds: int) -> int | None:
        """A command's exit code; None if it took more processor time than this."""
        limits = [f"--cpu={seconds}:{seconds + 1}", f"--as={MOST_MEMORY}", "--core=0"]
        nowhere = subprocess.DEVNULL
        with subprocess.Popen(
            ["prlimit", *limits, *command],
            cwd=self.top, stdout=nowhere, stderr=nowhere, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                code = process.wait(timeout=seconds * WALL_TO_CPU)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                return None
        return None if code in {-24, -9} else code  # SIGXCPU, SIGKILL
