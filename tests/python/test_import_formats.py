# SPDX-License-Identifier: Apache-2.0
"""docs/import-formats.md: every format is on it, and its examples import as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import formats_page
from heapfit.importers import FORMATS, ImportOptions, formats, import_file
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


class SizesReader:
    """A reader in Python: a block that stays for each line, of so many bytes; "-" is dropped."""

    program, source, pointer_bits, chains = "sizes", "", 32, {}

    def __init__(self, drop_unknown):
        assert drop_unknown
        self._sizes, self._rest, self._born, self._dropped = [], b"", 0, 0

    def feed(self, chunk):
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        self._dropped += lines.count(b"-")
        self._sizes += [int(line) for line in lines if line not in (b"-", b"sizes")]

    def finish(self):
        self.feed(b"\n")

    @property
    def pending(self):
        return len(self._sizes)

    @property
    def notes(self):
        return [f"{self._dropped} lines dropped."]

    def take(self):
        sizes, self._sizes = np.array(self._sizes, np.uint64), []
        self._born += len(sizes)
        objects = np.arange(self._born - len(sizes), self._born, dtype=np.uint32)
        return {"op": np.zeros(len(sizes), np.uint8), "object": objects, "size": sizes}


def test_a_reader_in_python_is_a_class_and_a_line_of_the_table(tmp_path, monkeypatch):
    own = formats.Format(
        "sizes",
        "a size a line",
        lambda head: head.startswith(b"sizes"),
        formats.read_by(SizesReader, is_late=True),
    )
    monkeypatch.setattr(formats, "FORMATS", (own, *FORMATS))
    (tmp_path / "sizes").write_text("sizes\n24\n-\n100")
    trace = import_file(tmp_path / "sizes", tmp_path / "t.parquet", ImportOptions())
    assert (trace.info.program, trace.info.notes) == ("sizes", ("1 lines dropped.",))
    (batch,) = trace.batches(("object", "size"))
    assert (batch["object"].tolist(), batch["size"].tolist()) == ([0, 1], [24, 100])
