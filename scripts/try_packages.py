#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs a built wheel as users do, with what it needs from the registry, and runs it.

  scripts/try_packages.py FOLDER

Once into an empty environment, whose size is told and held, once with the lowest version of each
dependency that pyproject.toml allows, and once by `uvx --from`. The tests of
every day install it without a network (tests/repository/test_packages.py).
"""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TRACE = ROOT / "examples/check/traces/base.parquet"
MOST_MEGABYTES = 290  # installed, pip apart; numpy and pyarrow are most of it
UV = Path(sys.executable).parent / "uv"


def run(*words: str | Path, folder: Path) -> None:
    """A command that has to succeed."""
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def megabytes(folder: Path) -> float:
    """What its files hold."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def main() -> None:
    """Tries the one wheel of the folder."""
    (wheel,) = (path.resolve() for path in Path(sys.argv[1]).glob("*.whl"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(UV, "venv", "--quiet", "--python", sys.executable, "empty", folder=folder)
        run(UV, "pip", "install", "--quiet", "--python", "empty", wheel, folder=folder)
        run("empty/bin/heapfit", "compare", TRACE, "tlsf", "best_fit", folder=folder)
        size = megabytes(folder / "empty")
        print(f"installed: {size:.0f} MB (at most {MOST_MEGABYTES})")
        lowest = ("--resolution", "lowest-direct", "--only-binary", ":all:")
        allowed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
        install = (UV, "pip", "install", "--quiet", "--python", "low")
        run(UV, "venv", "--quiet", "--python", sys.executable, "low", folder=folder)
        run(*install, *lowest, wheel, *allowed, folder=folder)
        for words in (("compare", TRACE, "tlsf"), ("fit", TRACE), ("profile", TRACE)):
            run("low/bin/heapfit", *words, folder=folder)
        print("lowest versions: run")
        run(UV, "tool", "run", "--quiet", "--from", wheel, "heapfit", "--version", folder=folder)
        print("uvx --from: runs")
    if size > MOST_MEGABYTES:
        sys.exit(f"{wheel.name}: {size:.0f} MB installed, at most {MOST_MEGABYTES} are allowed")


if __name__ == "__main__":
    main()
