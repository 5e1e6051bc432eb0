# SPDX-License-Identifier: Apache-2.0
"""Nothing is learned from the open set of recordings, and docs/evidence/learned-on.md lists it."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPEN_SET = "examples/recordings"
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


def test_the_package_knows_no_recording_of_the_repository() -> None:
    for folder in ("python/heapfit", "core", "engine"):
        for file in (ROOT / folder).rglob("*.*"):
            if file.suffix in {".py", ".c", ".h", ".cpp", ".hpp", ".csv", ".toml", ".def"}:
                assert OPEN_SET not in file.read_text(), file
