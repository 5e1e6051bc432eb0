# SPDX-License-Identifier: Apache-2.0
"""The documentation runs and is fresh: its commands are executed, its tables generated anew."""

import os
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import page_tables
import pytest

MADE_PAGES = {
    "README.md": ["scripts/readme.py"],
    "docs/check.md": ["scripts/readme.py", "docs/check.md"],
    "docs/forecast.md": ["scripts/readme.py", "docs/forecast.md"],
    "docs/out-of-memory.md": ["scripts/readme.py", "docs/out-of-memory.md"],
    "docs/now.md": ["scripts/readme.py", "docs/now.md"],
    "docs/evidence/packet-pools.md": ["scripts/readme.py", "docs/evidence/packet-pools.md"],
    "docs/evidence/simulation.md": ["scripts/readme.py", "docs/evidence/simulation.md"],
    "docs/sizing.md": ["scripts/readme.py", "docs/sizing.md"],
    "docs/evidence/allocators.md": ["scripts/allocators_page.py"],
    "docs/evidence/workloads.md": ["scripts/workloads_page.py"],
    "python/heapfit/__init__.pyi": ["scripts/package_stub.py"],
}


ALL = os.environ.get("HEAPFIT_ALL_EXAMPLES") == "1"
# Each of these simulates or fits for some ten seconds: one a day, all in `make test-long`.
LONG = ("docs/now.md", "docs/evidence/simulation.md", "docs/sizing.md")
LEFT = () if ALL else set(LONG) - {LONG[date.today().toordinal() % len(LONG)]}


@pytest.mark.parametrize(
    ("page", "script"), [made for made in MADE_PAGES.items() if made[0] not in LEFT]
)
def test_a_page_made_by_a_script_is_fresh(root: Path, page: str, script: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, *script], cwd=root, check=True, stdout=subprocess.PIPE, text=True
    )
    assert (root / page).read_text() == done.stdout, "run `make docs`"


def test_the_readme_shows_a_command_and_its_output(root: Path) -> None:
    readme = (root / "README.md").read_text()
    assert re.search(r"^```console\n\$ heapfit fit .*\n(?!```|\$)", readme, re.MULTILINE)


def test_the_make_targets_of_the_readme_exist(root: Path) -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (root / "Makefile").read_text(), re.MULTILINE))
    for page in ("README.md", "CONTRIBUTING.md"):
        named = set(re.findall(r"\bmake ([a-z0-9-]+)", (root / page).read_text()))
        assert named
        assert named <= targets, page


def test_every_path_named_in_a_page_is_there(root: Path) -> None:
    path = re.compile(
        r"`((?:core|engine|python|papers|target|recorder|tests|scripts|docs|examples|bench)/[\w./-]*)`"
    )
    for page in ("README.md", "DESIGN.md", "CONTRIBUTING.md", "docs/README.md"):
        named = set(path.findall((root / page).read_text()))
        real = [name for name in named if "NAME" not in name]
        assert [name for name in real if not (root / name).exists()] == [], page


@pytest.mark.parametrize(
    ("index", "others"), [("docs/README.md", "evidence"), ("docs/evidence/README.md", "")]
)
def test_an_index_leads_to_every_page_of_its_folder(root: Path, index: str, others: str) -> None:
    folder, text = (root / index).parent, (root / index).read_text()
    pages = [page.relative_to(folder) for page in folder.rglob("*.md")]
    listed = [page for page in pages if page.parts[0] != others and page.name != "README.md"]
    assert len(listed) > 5
    assert [page for page in listed if f"]({page})" not in text] == []


def test_the_readers_of_evidence_come_by_one_page(root: Path) -> None:
    index = (root / "docs/README.md").read_text()
    assert "](evidence/README.md)" in index
    assert len(re.findall(r"\]\(evidence/", index)) == 1


def test_the_tables_of_pages_are_those_of_their_homes():
    pages = {file: file.read_text() for file in page_tables.pages()}
    stale = [file for file, text in pages.items() if page_tables.renewed(text) != text]
    assert stale == [], "run bench/page_tables.py"
    shown = {
        name
        for text in pages.values()
        for _, names in page_tables.BLOCK.findall(text)
        for name in names.split()
    }
    results = {path.stem for path in page_tables.RESULTS.iterdir()}
    assert shown - {"margins"} == results
    for name in results:
        result = page_tables.read_result(name)
        assert result.columns[-1] == page_tables.MEASURED
        assert len(result.by) > 8, name
        for row in result.rows:
            assert re.match(r"\d{4}-\d\d-\d\d with \w", row[-1]), (name, row)
            assert len(row) == len(result.columns)
