# SPDX-License-Identifier: Apache-2.0
"""Pages that readers walk through, in the root of a clone: their bash blocks run in order, their
Python blocks as doctests; figures in bold stand in what the commands print."""

import datetime
import doctest
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
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


@pytest.mark.usefixtures("folder")
def test_the_notebook_of_the_exercises_prints_what_it_shows() -> None:
    cells = json.loads((ROOT / "examples/exercises.ipynb").read_text())["cells"]
    names: dict[str, object] = {}
    told = [one for one in cells if one["cell_type"] == "code"]
    assert sum(bool(cell["outputs"]) for cell in told) > 8
    for cell in told:
        with redirect_stdout(StringIO()) as said:
            exec("".join(cell["source"]), names)
        shown = "".join(line for output in cell["outputs"] for line in output["text"])
        assert said.getvalue() == shown, cell["source"]


@pytest.mark.parametrize("page", ["docs/guides/data-tools.md"])
@pytest.mark.usefixtures("folder")
def test_the_python_of_a_page_gives_what_it_shows(page: str) -> None:
    code = "\n".join(blocks(page, "python"))
    test = doctest.DocTestParser().get_doctest(code, {}, page, str(ROOT / page), 0)
    assert len(test.examples) > 3
    assert doctest.DocTestRunner().run(test).failed == 0
