# SPDX-License-Identifier: Apache-2.0
"""Names of output folders never leave their folder and never collide."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapfit.trace.names import distinct_source_names, source_name


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("data/lwip32-ram-b.heap.gz", "lwip32-ram-b"),
        ("own.nsec.pcap", "own.nsec"),
        ("a b.parquet", "a_b"),
        (".heap.gz", "trace"),
        ("...", "trace"),
        ("-rf.csv", "rf"),
        ("dir/..pcap", "trace"),
        ("x" * 300 + ".rep", "x" * 64),
    ],
)
def test_a_name_is_the_files_without_its_endings(file: str, name: str) -> None:
    assert source_name(Path(file)) == name


@given(st.text(min_size=1).filter(lambda text: "\0" not in text))
def test_any_name_is_one_plain_part_of_a_path(text: str) -> None:
    name = source_name(Path(text))
    assert Path(name).name == name
    assert name.isascii()
    assert name[0] not in ".-"


def test_equal_names_are_numbered() -> None:
    sources = [Path("a/x.pcap"), Path("b/x.heap.gz"), Path("x-2.rep"), Path("x.csv")]
    assert distinct_source_names(sources) == ["x", "x-2", "x-2-2", "x-3"]
