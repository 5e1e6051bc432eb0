# SPDX-License-Identifier: Apache-2.0
"""docs/trace-schema.md says what is so, and its examples run as printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from heapfit.importers import ImportOptions, import_file
from heapfit.trace import stored as trace

PAGE = (Path(__file__).parents[2] / "docs" / "trace-schema.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    source = tmp_path / "source"
    source.write_text("# name echo\na 0 24\na 1 8\nr 0 40\nf 1\n")
    import_file(source, tmp_path / "trace.parquet", ImportOptions())
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("stored")
def test_the_pyarrow_example_runs_and_finds_what_was_stored(capsys):
    exec(EXAMPLES[0], {})
    assert capsys.readouterr().out == "echo 2 allocations of 32 bytes\n"


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("example", EXAMPLES[1:])
def test_the_examples_of_pandas_polars_and_duckdb_run(example):
    exec(example, {})


def test_the_page_has_the_columns_in_their_order_with_their_types():
    table = PAGE.split("## Columns")[1].split("## Metadata")[0]
    found = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", table, re.MULTILINE))
    assert found.keys() == {*trace.COLUMNS, *trace.OPTIONAL}
    assert found.items() >= trace.COLUMNS.items()


def test_the_page_has_every_field_of_the_metadata():
    table = PAGE.split("## Metadata")[1].split("## Versions")[0]
    fields = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    assert fields == {"schema", *trace.TraceInfo.__dataclass_fields__}
    assert f"schema version {trace.SCHEMA_VERSION}" in PAGE.splitlines()[1]
