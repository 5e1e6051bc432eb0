# SPDX-License-Identifier: Apache-2.0
"""The documentation runs and is fresh: its commands are executed, its tables generated anew."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
HOW_TO_COMPARE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def commands(page: str) -> list[tuple[str, str]]:
    """Each command of a page's console blocks, and the output that follows it."""
    found = []
    for block in CONSOLE.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def output_of(command: str, folder: Path) -> str:
    programs = Path(sys.executable).parent
    environment = os.environ | {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "NO_COLOR": "1",
        "COLUMNS": "120",
    }
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_commands_of_the_readme_print_what_it_says(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "examples", tmp_path / "examples")
    shown = commands((root / "README.md").read_text())
    assert shown
    for command, expected in shown:
        actual = output_of(command, tmp_path)
        matches = doctest.OutputChecker().check_output(expected, actual, HOW_TO_COMPARE)
        assert matches, f"$ {command}\nREADME says:\n{expected}\nbut it prints:\n{actual}"


def test_the_make_targets_of_the_readme_exist(root: Path) -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (root / "Makefile").read_text(), re.MULTILINE))
    for page in ("README.md", "CONTRIBUTING.md"):
        named = set(re.findall(r"`?\bmake ([a-z0-9-]+)`", (root / page).read_text()))
        assert named
        assert named <= targets, page


def test_every_path_named_in_a_page_is_there(root: Path) -> None:
    path = re.compile(
        r"`((?:core|engine|python|recorder|tests|scripts|docs|examples|bench)/[\w./-]*)`"
    )
    for page in ("README.md", "DESIGN.md", "CONTRIBUTING.md", "docs/README.md"):
        named = set(path.findall((root / page).read_text()))
        real = [name for name in named if "NAME" not in name]
        assert [name for name in real if not (root / name).exists()] == [], page


def test_the_index_leads_to_every_page_of_the_documentation(root: Path) -> None:
    index = (root / "docs/README.md").read_text()
    pages = [page.relative_to(root / "docs") for page in (root / "docs").rglob("*.md")]
    assert len(pages) > 5
    assert [page for page in pages if page.name != "README.md" and f"]({page})" not in index] == []


def test_the_page_of_allocators_is_fresh(root: Path) -> None:
    script = [sys.executable, "scripts/allocators_page.py"]
    fresh = subprocess.run(script, cwd=root, check=True, capture_output=True, text=True).stdout
    assert (root / "docs/allocators.md").read_text() == fresh, "run `make docs`"
