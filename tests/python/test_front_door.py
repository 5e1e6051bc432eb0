# SPDX-License-Identifier: Apache-2.0
"""What `import heapfit` offers is what docs/python.md lists, and the guide's code runs."""

import doctest
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import heapfit

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/python.md"
PACKAGE = Path(heapfit.__file__).parent
BLOCK = re.compile(r"(?<=^```python\n).*?(?=^```)", re.MULTILINE | re.DOTALL)


def listed() -> list[str]:
    """The names in the first column of the guide's table."""
    rows = [line.split("|")[1] for line in GUIDE.read_text().splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def test_the_names_offered_are_those_of_the_guide():
    assert sorted(listed()) == dir(heapfit)


@pytest.mark.parametrize("name", listed())
def test_a_name_is_there_and_says_what_it_is(name):
    offered = getattr(heapfit, name)
    assert offered.__doc__
    assert not offered.__doc__.startswith(f"{name}(")  # a dataclass without a docstring has that


def test_no_name_is_that_of_a_room_or_module():
    """Else the import of the one would hide the other."""
    there = {path.stem for path in PACKAGE.iterdir()}
    assert there & set(listed()) == set()


def test_an_unknown_name_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        heapfit.fitt  # noqa: B018


@pytest.mark.parametrize("heavy", ["numpy", "pyarrow", "heapfit._engine", "heapfit.fitting"])
def test_importing_heapfit_loads_nothing_heavy(heavy):
    script = f"import sys, heapfit\ndir(heapfit)\nsys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_the_code_of_the_guide_runs(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    code = "\n".join(BLOCK.findall(GUIDE.read_text()))
    test = doctest.DocTestParser().get_doctest(code, {}, "the guide", str(GUIDE), 0)
    assert len(test.examples) > 25
    assert doctest.DocTestRunner().run(test).failed == 0
