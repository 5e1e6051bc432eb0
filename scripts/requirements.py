# SPDX-License-Identifier: Apache-2.0
"""Prints what pyproject.toml asks for, a line each: to build, to run, its extras and to develop.

Readers of networks are left out: their tests need none of the packages.
"""

import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def requirements() -> list[str]:
    """As they stand in pyproject.toml."""
    project = tomllib.loads(PROJECT.read_text())
    extras = project["project"]["optional-dependencies"].items()
    return [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *(one for name, extra in extras if name != "networks" for one in extra),
        *project["dependency-groups"]["dev"],
    ]


if __name__ == "__main__":
    print(*requirements(), sep="\n")
