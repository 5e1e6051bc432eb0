# SPDX-License-Identifier: Apache-2.0
"""The locks hold all that pyproject.toml asks for, each package by version and hash."""

import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from requirements import requirements

LOCKS = {"run": "requirements.lock", "develop": "requirements-dev.lock"}
PINNED = re.compile(r"^(?P<name>[a-z0-9.-]+)==(?P<version>\S+)(?: ; (?P<marker>[^\\]+))? \\$")


def lock_of(use: str) -> str:
    return (Path(__file__).parents[2] / LOCKS[use]).read_text()


def locked(use: str) -> dict[str, str]:
    """The version of each package on this machine."""
    found = {}
    for line in lock_of(use).splitlines():
        match = PINNED.match(line)
        if match and (match["marker"] is None or Marker(match["marker"]).evaluate()):
            found[match["name"]] = match["version"]
    return found


@pytest.mark.parametrize(
    ("use", "asked"), [(use, one) for use in LOCKS for one in requirements(use)]
)
def test_the_lock_satisfies_what_is_asked_for(use, asked):
    requirement = Requirement(asked)
    name = canonicalize_name(requirement.name)
    assert requirement.specifier.contains(locked(use)[name], prereleases=True)


@pytest.mark.parametrize("use", LOCKS)
def test_every_line_is_a_pinned_package_or_a_hash_of_it(use):
    blocks = re.split(r"\n(?=\S)", lock_of(use).split("\n", 2)[2].strip())
    for block in blocks:
        head, *hashes = block.splitlines()
        assert PINNED.match(head), head
        assert hashes
        assert all(re.fullmatch(r" {4}--hash=sha256:[0-9a-f]{64}( \\)?", line) for line in hashes)


def test_what_runs_is_a_small_part_of_what_develops_in_the_same_versions():
    run, develop = locked("run"), locked("develop")
    assert run.items() <= develop.items()
    assert len(run) <= 21
    assert len(develop) > 4 * len(run)


def test_what_is_installed_here_is_what_the_lock_says():
    for name, wanted in locked("develop").items():
        try:
            assert version(name) == wanted, name
        except PackageNotFoundError:
            pytest.fail(f"{name} is locked and not installed")
