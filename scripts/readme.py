# SPDX-License-Identifier: Apache-2.0
"""Prints a page, README.md if none is named, with its commands run anew: `make docs` puts it in
place, a test compares.

The lines of a console block that begin with `$` are run one after the other, in the root of a copy
of the clone, as readers do; what a command prints stands below it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```)", re.MULTILINE | re.DOTALL)


def output_of(command: str, folder: Path) -> str:
    """What a command of the page prints on stdout; the program ends where it fails."""
    programs = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "NO_COLOR": "1"}
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def copy_clone(folder: Path) -> None:
    """Copies into a folder what git knows here, as it is now: what a reader's clone has."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    for name in listing.stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def run_block(block: str, folder: Path) -> str:
    """The block with fresh outputs."""
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"{line}\n{output_of(line[2:], folder)}" for line in commands)


def main() -> None:
    """Prints the page."""
    page = (ROOT / (sys.argv[1] if len(sys.argv) > 1 else "README.md")).read_text()
    with tempfile.TemporaryDirectory() as folder:
        copy_clone(Path(folder))
        print(BLOCK.sub(lambda block: run_block(block[0], Path(folder)), page), end="")


if __name__ == "__main__":
    main()
