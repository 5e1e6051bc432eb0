# SPDX-License-Identifier: Apache-2.0
"""What every file of the repository keeps: a licence line, one version, nothing of one machine."""

import re
from pathlib import Path

SPDX = "SPDX-License-Identifier: Apache-2.0"
SOURCE_SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".def", ".py", ".sh", ".cmake", ".toml"}
SOURCE_NAMES = {"CMakeLists.txt", "Makefile"}
# Where somebody's files lie on one machine, or what lies beside one clone.
MACHINE_PATH = re.compile(r"(?<![\w./-])/(?:home|work|root|Users|mnt|media)/\w|\.\./shared\b")
EXAMPLES_LIMIT = 1_000_000  # bytes


def is_source(file: Path) -> bool:
    is_script = not file.suffix and file.parent.name in {"scripts", ".ci"}
    return file.suffix in SOURCE_SUFFIXES or file.name in SOURCE_NAMES or is_script


def test_every_source_names_its_licence_at_the_top(texts: dict[Path, str]) -> None:
    sources = [file for file in texts if is_source(file)]
    assert len(sources) > 20
    assert [f for f in sources if SPDX not in "".join(texts[f].splitlines()[:3])] == []


def test_no_file_holds_a_path_of_a_machine(root: Path, texts: dict[Path, str]) -> None:
    me = Path(__file__).resolve()
    ci = root / ".ci/run"  # it alone may know what lies beside the clone
    found = [f for f in texts if f not in {me, ci} and MACHINE_PATH.search(texts[f])]
    assert found == []


def test_the_version_has_one_home(root: Path, texts: dict[Path, str]) -> None:
    header = root / "core/include/hfit/version.h"
    version = re.search(r'HFIT_VERSION "([^"]+)"', texts[header])
    assert version
    told_again = re.compile(rf'version\s*[=:]\s*"?{re.escape(version.group(1))}\b', re.IGNORECASE)
    assert [f for f in texts if f != header and told_again.search(texts[f])] == []


def test_no_test_can_be_skipped(root: Path, texts: dict[Path, str]) -> None:
    skips = re.compile(r"\b(?:pytest\.(?:skip|importorskip)|mark\.(?:skip|skipif|xfail))\b")
    tests = [f for f in texts if f.is_relative_to(root / "tests") and f != Path(__file__).resolve()]
    assert tests
    assert [f for f in tests if skips.search(texts[f])] == []


def test_the_examples_stay_below_a_megabyte(root: Path, files: list[Path]) -> None:
    open_set = (
        root / "examples/recordings"
    )  # has a limit of its own (tests/python/test_open_set.py)
    examples = [
        f for f in files if f.is_relative_to(root / "examples") and not f.is_relative_to(open_set)
    ]
    assert examples
    assert sum(f.stat().st_size for f in examples) <= EXAMPLES_LIMIT


def test_every_link_inside_the_documentation_leads_somewhere(texts: dict[Path, str]) -> None:
    link = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
    pages = [f for f in texts if f.suffix == ".md"]
    assert pages
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in link.findall(texts[page])
        if not (page.parent / target).exists()
    ]
    assert broken == []
