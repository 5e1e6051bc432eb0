# SPDX-License-Identifier: Apache-2.0
"""What is published: the wheel installs and runs, the list beside it names all that ships and all
that pip installs with it, the sources are those of git."""

import hashlib
import json
import os
import re
import shutil
import site
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import nanobind
import pytest
import yaml
from packaging.requirements import Requirement

from build_packages import COMPILED_IN, build_sources, build_wheel, list_parts, manylinux, ship_list
from man_page import completion, manual

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    made = manylinux(build_wheel(tmp_path_factory.mktemp("wheel")))
    ship_list(made, list_parts(made))
    return made


@pytest.fixture(scope="module")
def parts(wheel):
    (listed,) = wheel.parent.glob("*.spdx.json")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [one for one in archive.namelist() if "/sboms/" in one]
        assert archive.read(name) == listed.read_bytes()
    return json.loads(listed.read_text())


def test_every_file_of_the_wheel_is_listed_with_its_hash(wheel, parts):
    listed = {
        file["fileName"]: {one["algorithm"]: one["checksumValue"] for one in file["checksums"]}
        for file in parts["files"]
    }
    with zipfile.ZipFile(wheel) as archive:
        shipped = {
            f"./{one.filename}": archive.read(one)
            for one in archive.infolist()
            if not (one.is_dir() or "/sboms/" in one.filename or one.filename.endswith("/RECORD"))
        }
    assert listed.keys() == shipped.keys()
    for name, content in shipped.items():
        assert listed[name]["SHA256"] == hashlib.sha256(content).hexdigest()


def related(parts, kind):
    """Versions of the packages that the wheel's is related to in a way, by their names."""
    ids = {
        one["relatedSpdxElement"]
        for one in parts["relationships"]
        if one["relationshipType"] == kind
    }
    return {one["name"]: one["versionInfo"] for one in parts["packages"] if one["SPDXID"] in ids}


def test_every_package_that_the_project_asks_for_is_listed_in_its_locked_version(parts):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {Requirement(one).name: Requirement(one) for one in project["dependencies"]}
    needed = related(parts, "DEPENDS_ON")
    assert needed.keys() == asked.keys()
    for name, requirement in asked.items():
        assert needed[name] == version(name)  # by which this test runs: some have two in the lock
        assert requirement.specifier.contains(needed[name], prereleases=True)


def test_the_notice_of_each_package_that_is_compiled_in_is_shipped_and_listed(wheel, parts):
    """Of those that build heapfit, only the extension's own: the others make or load files."""
    includes = "\n".join(file.read_text() for file in (ROOT / "python/bindings").glob("*.[ch]*"))
    foreign = set(re.findall(r"^#include <(\w+)/", includes, re.MULTILINE))
    assert foreign == COMPILED_IN.keys()
    with zipfile.ZipFile(wheel) as archive:
        texts = {
            name: archive.read(name).decode() for name in archive.namelist() if "LICENSE" in name
        }
    for name, (licence, notice) in COMPILED_IN.items():
        (text,) = [text for path, text in texts.items() if path.endswith(notice)]
        assert "Copyright" in text
        assert "Redistribution" in text
        (listed,) = [one for one in parts["files"] if one["fileName"].endswith(notice)]
        assert listed["licenseConcluded"] == licence, name
        assert licence in parts["packages"][0]["licenseConcluded"]
        (package,) = [one for one in parts["packages"] if one["name"] == name]
        assert package["licenseDeclared"] == licence


def test_the_wheels_description_has_the_licences_of_all_that_is_in_it(wheel, parts):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (described,) = [archive.read(one) for one in names if one.endswith("dist-info/METADATA")]
    (told,) = re.findall(r"^License-Expression: (.*)$", described.decode(), re.MULTILINE)
    own = parts["packages"][0]
    assert told == own["licenseDeclared"] == own["licenseConcluded"]
    of_files = {one["licenseConcluded"] for one in parts["files"]}
    assert {*told.split(" AND ")} == of_files == {*own["licenseInfoFromFiles"]}


def test_what_is_compiled_in_is_listed_in_the_version_that_its_header_has(parts):
    header = (Path(nanobind.include_dir()) / "nanobind/nanobind.h").read_text()
    numbers = re.findall(r"^#define NB_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)$", header, re.MULTILINE)
    assert related(parts, "STATIC_LINK") == {"nanobind": ".".join(numbers)}
    assert len(numbers) == 3
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    assert any(line.startswith(f"nanobind=={'.'.join(numbers)} ") for line in lines)


def test_the_wheel_has_core_and_the_recorder_and_no_tests(parts):
    names = {file["fileName"] for file in parts["files"]}
    assert "./heapfit/generate/parts_list.py" in names
    assert any("_engine" in name for name in names)
    assert not any("/tests/" in name or "harness" in name for name in names)


def test_the_wheel_is_for_every_linux_with_its_c_library_and_every_python(wheel):
    assert re.fullmatch(r"heapfit-[\d.]+-cp311-abi3-manylinux_2_34_x86_64\.whl", wheel.name)


def test_the_wheel_runs_where_nothing_else_of_the_project_is(wheel, tmp_path):
    """In an empty environment; what it needs is lent by this one, whose own heapfit is not."""
    empty = tmp_path / "empty"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", empty], check=True)
    pip = [sys.executable, "-m", "pip", "--python", empty / "bin/python", "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", wheel], check=True)
    (packages,) = empty.glob("lib/python3*/site-packages")
    (packages / "lent.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    trace = ROOT / "examples/check/traces/base.parquet"
    done = subprocess.run(
        [empty / "bin/heapfit", "compare", trace, "tlsf", "--json"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    where = [empty / "bin/python", "-c", "import heapfit; print(heapfit.__file__)"]
    told = subprocess.run(where, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert Path(told.strip()).is_relative_to(empty)
    for name, lines in (
        ("share/man/man1/heapfit.1", manual()),
        ("share/bash-completion/completions/heapfit", completion()),
    ):
        assert (empty / name).read_text().splitlines() == "\n".join(lines).splitlines()


def test_the_sources_are_those_that_git_knows(tmp_path):
    listing = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    known = {name for name in listing.stdout.splitlines() if (ROOT / name).exists()}
    with tarfile.open(build_sources(tmp_path)) as archive:
        names = {one.name.partition("/")[2] for one in archive if one.isfile()}
    left_out = {".gitignore"} | {name for name in known if name.startswith(".ci/")}
    assert known - names <= left_out
    assert [name for name in names - known if not (ROOT / name).exists()] == ["PKG-INFO"]


def test_the_citation_has_the_projects_name_version_and_licence():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ours, *_ = project["license"].split(" AND ")  # all else is compiled into wheels alone
    assert (citation["title"], citation["license"]) == (project["name"], ours)
    assert citation["abstract"] == project["description"]
    assert {"cff-version", "message", "type", "authors"} <= citation.keys()


def install_wheel(tree, wheel, built):
    """scripts/install-wheel in an empty repository, of a copy of the wheel that is of `built`."""
    copy = tree / f"{len(list(tree.iterdir()))}-{wheel.name}"
    with zipfile.ZipFile(wheel) as archive, zipfile.ZipFile(copy, "w") as other:
        for one in archive.infolist():
            is_mark = one.filename.endswith(".dist-info/commit")
            other.writestr(one, built if is_mark else archive.read(one))
    named = copy.rename(tree / "given" / wheel.name)
    return subprocess.run(
        [tree / "scripts/install-wheel", named], check=False, capture_output=True, text=True
    )


def git(tree, *words):
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", "-C", tree, *identity, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_the_wheel_names_the_commit_that_it_is_of(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith(".dist-info/commit")]
        commit = archive.read(name).decode()
    assert commit.removesuffix("-dirty") == git(ROOT, "rev-parse", "HEAD")


def test_a_tree_takes_a_wheel_of_its_own_commit_alone(wheel, tmp_path):
    for folder in ("scripts", "given"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / "scripts/install-wheel", tmp_path / "scripts")
    (tmp_path / ".gitignore").write_text(".venv\ngiven\n*.whl\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / ".venv"], check=True)
    (tmp_path / ".venv/extension-built").touch()
    here = git(tmp_path, "rev-parse", "HEAD")
    for other in ("0" * 40, f"{here}-dirty", ""):
        refused = install_wheel(tmp_path, wheel, other)
        assert refused.returncode == 1
        assert f"is of commit {other or 'unknown'}, this tree of {here}" in refused.stderr
        assert not (tmp_path / ".venv/bin/heapfit").exists()
    assert (tmp_path / ".venv/extension-built").exists()
    taken = install_wheel(tmp_path, wheel, here)
    assert taken.returncode == 0, taken.stderr
    assert (tmp_path / ".venv/bin/heapfit").exists()
    assert not (tmp_path / ".venv/extension-built").exists()
    (tmp_path / ".gitignore").write_text("*\n")
    assert "not committed" in install_wheel(tmp_path, wheel, here).stderr
