# SPDX-License-Identifier: Apache-2.0
"""Each HFIT_ASSERT of core is seen to fail, and none of them leaves anything in a release."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from grid import ALL

ASSERT = re.compile(r"^ *HFIT_ASSERT\(.*\);.*\n", re.MULTILINE)


def asserts_of(root: Path) -> set[str]:
    """As "file:line"."""
    return {
        f"{file.relative_to(root)}:{number}"
        for file in (root / "core/src").rglob("*.[ch]")
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if "HFIT_ASSERT" in line
    }


def failed_asserts(root: Path, source: Path, folder: Path) -> set[str]:
    """The places that a test of invariants told; it fails if one of its cases told none."""
    program = folder / source.stem
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wno-unused-function",
               '-DHFIT_CONFIG_FILE="asserting.h"', f"-I{source.parent}",
               f"-I{root / 'core'}", f"-I{root / 'core/include'}",
               str(source), "-o", str(program)]  # fmt: skip
    subprocess.run(command, check=True)
    told = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return set(told.split())


def objects_of(core: Path, *options: str) -> dict[str, bytes]:
    """The machine code of each source of a copy of core, as in a release."""
    found = {}
    for source in sorted((core / "src").rglob("*.c")):
        target = source.with_suffix(".o")
        command = ["gcc", "-std=c11", "-ffreestanding", "-fno-tree-loop-distribute-patterns",
                   "-Iinclude", "-I.", *options,
                   "-c", str(source.relative_to(core)), "-o", str(target)]  # fmt: skip
        subprocess.run(command, check=True, cwd=core)
        found[source.stem] = target.read_bytes()
    return found


def test_every_invariant_is_seen_to_fail(root: Path, tmp_path: Path) -> None:
    sources = sorted((root / "tests/core/asserts").glob("*.c"))
    failed = {place for source in sources for place in failed_asserts(root, source, tmp_path)}
    assert len(failed) > 40
    assert failed == asserts_of(root)


BUILDS = (("-Os",), ("-O2", "-DHFIT_SAFETY=0"))


@pytest.fixture(scope="module")
def core(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(root / "core", tmp_path_factory.mktemp("with") / "core")


@pytest.fixture(scope="module")
def released(core: Path) -> dict[str, bytes]:
    return objects_of(core, *BUILDS[0])


@pytest.mark.parametrize("options", BUILDS if ALL else BUILDS[:1])
def test_a_release_is_the_same_without_its_asserts(
    core: Path, released: dict[str, bytes], tmp_path: Path, options: tuple[str, ...]
) -> None:
    without = shutil.copytree(core, tmp_path / "core")
    for file in (without / "src").rglob("*.[ch]"):
        text, count = ASSERT.subn("", file.read_text())
        assert ("HFIT_ASSERT" in file.read_text()) == (count > 0)
        assert "HFIT_ASSERT" not in text
        file.write_text(text)
    there = released if options == BUILDS[0] else objects_of(core, *options)
    assert objects_of(without, *options) == there
