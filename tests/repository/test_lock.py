# SPDX-License-Identifier: Apache-2.0
"""requirements.lock holds all that pyproject.toml asks for, each package by version and hash."""

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from requirements import requirements

LOCK = Path(__file__).parents[2] / "requirements.lock"
PINNED = re.compile(r"^(?P<name>[a-z0-9.-]+)==(?P<version>\S+)(?: ; (?P<marker>[^\\]+))? \\$")


def locked() -> dict[str, str]:
    """The version of each package on this machine."""
    found = {}
    for line in LOCK.read_text().splitlines():
        match = PINNED.match(line)
        if match and (match["marker"] is None or Marker(match["marker"]).evaluate()):
            found[match["name"]] = match["version"]
    return found


@pytest.mark.parametrize("asked", requirements())
def test_the_lock_satisfies_what_is_asked_for(asked):
    requirement = Requirement(asked)
    name = canonicalize_name(requirement.name)
    assert requirement.specifier.contains(locked()[name], prereleases=True)


def test_every_line_is_a_pinned_package_or_a_hash_of_it():
    blocks = re.split(r"\n(?=\S)", LOCK.read_text().split("\n", 2)[2].strip())
    for block in blocks:
        head, *hashes = block.splitlines()
        assert PINNED.match(head), head
        assert hashes
        assert all(re.fullmatch(r" {4}--hash=sha256:[0-9a-f]{64}( \\)?", line) for line in hashes)


def test_what_is_installed_here_is_what_the_lock_says():
    for name, wanted in locked().items():
        try:
            assert version(name) == wanted, name
        except PackageNotFoundError:
            pytest.fail(f"{name} is locked and not installed")
