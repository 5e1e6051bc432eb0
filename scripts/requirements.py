# SPDX-License-Identifier: Apache-2.0
"""Prints what pyproject.toml asks for, a line each.

  scripts/requirements.py run        to build and to run
  scripts/requirements.py develop    and its extras and to develop

Readers of networks are left out: their tests need none of the packages.
"""

import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def requirements(use: str) -> list[str]:
    """As they stand in pyproject.toml, for a use: run or develop."""
    project = tomllib.loads(PROJECT.read_text())
    needed = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    if use == "run":
        return needed
    extras = project["project"]["optional-dependencies"].items()
    return [
        *needed,
        *(one for name, extra in extras if name != "networks" for one in extra),
        *project["dependency-groups"]["dev"],
    ]


if __name__ == "__main__":
    print(*requirements(sys.argv[1]), sep="\n")
