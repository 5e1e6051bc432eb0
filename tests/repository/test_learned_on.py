# SPDX-License-Identifier: Apache-2.0
"""Nothing is learned from the open set of recordings, and docs/learned-on.md tells what is read."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPEN_SET = "examples/recordings"
PAGE = ROOT / "docs/learned-on.md"
ROW = re.compile(r"^\| `((?:bench|scripts)/\w+\.py)` \| (`examples.+) \|$", re.MULTILINE)
READS = re.compile(r"examples/|\"examples\"")


def readers() -> dict[str, str]:
    """Each script that measures, in which examples/ is named, and its text."""
    files = [*sorted((ROOT / "bench").glob("*.py")), *sorted((ROOT / "scripts").glob("*.py"))]
    texts = {file.relative_to(ROOT).as_posix(): file.read_text() for file in files}
    return {
        name: text
        for name, text in texts.items()
        if READS.search(text) and re.search(r"^(from|import) heapfit", text, re.MULTILINE)
    }


def test_no_script_that_chooses_names_the_open_set() -> None:
    for name, text in readers().items():
        assert OPEN_SET not in text, name
        assert "recordings/traces" not in text, name


def test_no_search_for_files_in_examples_comes_to_the_open_set() -> None:
    """Patterns are applied to the whole tree: what they find must lie elsewhere."""
    patterns = {
        pattern
        for text in readers().values()
        for pattern in re.findall(r"(?:EXAMPLES|\"examples\"\))\.r?glob\(\"([^\"]+)\"\)", text)
    }
    assert patterns
    for pattern in patterns:
        for path in (ROOT / "examples").glob(pattern):
            assert "recordings" not in path.relative_to(ROOT).parts[:2], pattern


def test_the_page_lists_every_script_that_reads_examples() -> None:
    told = dict(ROW.findall(PAGE.read_text()))
    assert sorted(told) == sorted(readers())
    for script, folders in told.items():
        for folder in re.findall(r"`(examples/[\w-]+)`", folders):
            assert (ROOT / folder).exists(), (script, folder)
            assert folder != OPEN_SET


def test_the_package_knows_no_recording_of_the_repository() -> None:
    for folder in ("python/heapfit", "core", "engine"):
        for file in (ROOT / folder).rglob("*.*"):
            if file.suffix in {".py", ".c", ".h", ".cpp", ".hpp", ".csv", ".toml", ".def"}:
                assert OPEN_SET not in file.read_text(), file
