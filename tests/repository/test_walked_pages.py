# SPDX-License-Identifier: Apache-2.0
"""Pages that readers walk through, in the root of a clone: their bash blocks run in order, their
Python blocks as doctests; figures in bold stand in what the commands print."""

import datetime
import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from readme import copy_clone

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BOLD = re.compile(r"\*\*([^*]+)\*\*")


def blocks(page: str, kind: str) -> list[str]:
    """The page's blocks of a kind, in order."""
    return [text for one, text in BLOCK.findall((ROOT / page).read_text()) if one == kind]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy_clone(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# The tutorial runs in `make test-long`, every other day also here.
TODAY = datetime.datetime.now(datetime.UTC).date().toordinal() % 2
ALL = os.environ.get("HEAPFIT_ALL_EXAMPLES") == "1"
WALKED = ["docs/tutorial.md", "docs/guides/linux-program.md"]


@pytest.mark.parametrize("page", WALKED if ALL else WALKED[TODAY : TODAY + 1])
def test_the_commands_of_a_page_run_in_their_order(page: str, folder: Path) -> None:
    script = "set -eu\n" + "".join(blocks(page, "bash"))
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": programs, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = BOLD.findall(BLOCK.sub("", (ROOT / page).read_text()))
    assert [words for words in told if words not in done.stdout] == []


@pytest.mark.parametrize("page", ["docs/evidence/answers.md", "docs/guides/data-tools.md"])
@pytest.mark.usefixtures("folder")
def test_the_python_of_a_page_gives_what_it_shows(page: str) -> None:
    code = "\n".join(blocks(page, "python"))
    test = doctest.DocTestParser().get_doctest(code, {}, page, str(ROOT / page), 0)
    assert len(test.examples) > 3
    assert doctest.DocTestRunner().run(test).failed == 0
