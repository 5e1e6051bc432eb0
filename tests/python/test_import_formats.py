# SPDX-License-Identifier: Apache-2.0
"""docs/import-formats.md: every format is on it, and its examples import as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import formats_page
from heapfit.importers import ImportOptions, import_file
from heapfit.trace.stored import COLUMNS

PAGE = (Path(__file__).parents[2] / "docs" / "import-formats.md").read_text(encoding="utf-8")


def imported(language, folder):
    """The rows of the page's example in a language."""
    example = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1]
    (folder / "example").write_text(example)
    trace = import_file(folder / "example", folder / "t.parquet", ImportOptions())
    (batch,) = trace.batches(list(COLUMNS))
    return trace.info, {name: batch[name].tolist() for name in batch}


def test_every_format_is_on_the_page():
    assert "\n| `wire` | " in PAGE
    assert formats_page.page() == PAGE, "`make docs` renews docs/import-formats.md"


def test_the_text_example_imports(tmp_path):
    info, rows = imported("text", tmp_path)
    assert (info.program, info.pointer_bits) == ("echo server", 32)
    assert rows["op"] == [0, 2, 1, 3, 4, 4]
    assert rows["time"] == [0, 15, 18, 20, 27, 27]


def test_the_csv_example_imports(tmp_path):
    _, rows = imported("csv", tmp_path)
    assert rows["op"] == [0, 2, 3, 4]
    assert rows["object"] == [0, 1, 0, 1]
    assert rows["alignment"] == [0, 64, 0, 0]
    assert rows["site"] == [0xD99D93A2, 17, 17, 0]
