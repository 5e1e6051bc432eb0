# SPDX-License-Identifier: Apache-2.0
"""The list beside the wheel names all that ships in it, and all that pip installs with it."""

import hashlib
import json
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from build_wheel import build_wheel, list_parts

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def parts(wheel):
    return json.loads(list_parts(wheel).read_text())


def test_every_file_of_the_wheel_is_listed_with_its_hash(wheel, parts):
    listed = {
        file["fileName"]: {one["algorithm"]: one["checksumValue"] for one in file["checksums"]}
        for file in parts["files"]
    }
    with zipfile.ZipFile(wheel) as archive:
        shipped = {f"./{one.filename}": archive.read(one) for one in archive.infolist()}
    assert listed.keys() == shipped.keys()
    for name, content in shipped.items():
        assert listed[name]["SHA256"] == hashlib.sha256(content).hexdigest()


def test_every_package_that_the_project_asks_for_is_listed_in_its_locked_version(parts):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {Requirement(one).name: Requirement(one) for one in project["dependencies"]}
    needed = {one["name"]: one["versionInfo"] for one in parts["packages"][1:]}
    assert needed.keys() == asked.keys()
    for name, requirement in asked.items():
        assert requirement.specifier.contains(needed[name], prereleases=True)


def test_the_wheel_has_core_and_the_recorder_and_no_tests(parts):
    names = {file["fileName"] for file in parts["files"]}
    assert "./heapfit/generate/parts_list.py" in names
    assert any("_engine" in name for name in names)
    assert not any("/tests/" in name or "harness" in name for name in names)
