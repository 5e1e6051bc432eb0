# SPDX-License-Identifier: Apache-2.0
"""What the checks of the repository share: where it is and which files belong to it."""

import subprocess
from pathlib import Path

import pytest


def _git_files(root: Path) -> list[Path]:
    """All files that are committed or would be by `git add`: a new file is checked at once."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return sorted(root / name for name in listing.split("\0") if name and (root / name).is_file())


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the repository."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def files(root: Path) -> list[Path]:
    """Every file of the repository, as an absolute path."""
    return _git_files(root)


@pytest.fixture(scope="session")
def texts(files: list[Path]) -> dict[Path, str]:
    """The files that are text, with what they say; inputs of the fuzzers are none."""
    contents = {}
    for file in files:
        raw = file.read_bytes()
        if b"\0" not in raw and "corpus" not in file.parts:
            contents[file] = raw.decode()
    return contents
