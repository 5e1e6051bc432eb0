# SPDX-License-Identifier: Apache-2.0
"""Traces of events and tables in memory, and what the door says of wrong arguments."""

import pyarrow as pa
import pytest

import heapfit

pytestmark = pytest.mark.usefixtures("unmeasured")

EVENTS = [("alloc", 4096, 100), ("zeroed", "b", 24), ("resize", 4096, 200), ("free", "b"),
          ("alloc", "b", 8), ("aligned", 7, 64, 32), (heapfit.Op.FREE, 4096)]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    info = heapfit.TraceInfo(program="made", pointer_bits=32)
    return heapfit.from_events(EVENTS, tmp_path_factory.mktemp("made") / "made.parquet", info)


def test_blocks_are_numbered_as_they_are_allocated(made):
    table = made.to_arrow()
    assert table["op"].to_pylist() == [
        "alloc",
        "zeroed",
        "resize",
        "free",
        "alloc",
        "aligned",
        "free",
    ]
    assert table["object"].to_pylist() == [0, 1, 0, 1, 2, 3, 0]
    assert (made.info.program, made.largest_alignment) == ("made", 32)
    assert heapfit.profile_trace(made).u_max == 272


def test_a_table_of_a_trace_is_that_trace(made, tmp_path):
    table, numbers = made.to_arrow(), [0, 1, 3, 4, 0, 2, 4]
    again = heapfit.from_arrow(table, tmp_path / "again.parquet")
    framed = heapfit.from_pandas(made.to_pandas(), tmp_path / "framed.parquet")
    assert again.to_arrow() == framed.to_arrow() == table
    plain = {"op": numbers, "object": table["object"], "size": [100, 24, 200, 0, 8, 64, 0]}
    resized = heapfit.from_arrow(pa.table(plain), tmp_path / "plain.parquet")
    assert resized.to_arrow()["size"] == table["size"]


def test_call_sites_read_as_commands_print_them(tmp_path):
    columns = {
        "op": ["alloc", "free"],
        "object": [0, 0],
        "size": [8, 0],
        "site": ["00c0ffee", None],
    }
    trace = heapfit.from_arrow(pa.table(columns), tmp_path / "sites.parquet")
    assert trace.to_arrow()["site"].to_pylist() == columns["site"]
    (batch,) = trace.batches(["site"])
    assert batch["site"].tolist() == [0xC0FFEE, 0]


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([("alloc", "a", 8), ("free", "b")], "event 1: free of 'b', which is not live"),
        ([("alloc", "a", 8), ("alloc", "a", 8)], "event 1: alloc of 'a', which is live already"),
        ([("aloc", "a", 8)], "event 0: 'aloc' is no operation .did you mean 'alloc'"),
        ([("alloc", "a")], "event 0: alloc of 'a' has no bytes"),
        ([("alloc", "a", "8")], "event 0: '8' is no number of bytes"),
        ([("alloc",)], "event 0: has 1 fields"),
    ],
)
def test_a_wrong_event_is_named(tmp_path, events, said):
    with pytest.raises(heapfit.HeapfitError, match=said):
        heapfit.from_events(events, tmp_path / "wrong.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"op": [0], "object": [0]}, "column size: is missing"),
        ({"op": [0], "object": [0], "sizes": [8]}, "column sizes: .*did you mean 'size'"),
        ({"op": [0], "object": [0], "size": [-8]}, "column size, row 0: -8 is no uint64"),
        ({"op": [0], "object": [0], "size": [1.5]}, "column size, row 0: 1.5 is no uint64"),
        ({"op": [0], "object": [7], "size": [8]}, "column object: .*from_events takes"),
    ],
)
def test_a_wrong_column_is_named(tmp_path, columns, said):
    with pytest.raises(heapfit.HeapfitError, match=said):
        heapfit.from_arrow(pa.table(columns), tmp_path / "wrong.parquet")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda made: heapfit.fit(made, alignment=7), "alignment=7: blocks are aligned to 4, 8"),
        (lambda made: heapfit.compare(made, ["tlsf"], alignment=7), "alignment=7: "),
        (lambda _: heapfit.fit([]), "no recording is given"),
        (lambda _: heapfit.fit(42), "42 is no recording"),
        (lambda made: heapfit.fit(made, peak="64K"), r"peak='64K': give a number .65536."),
        (lambda made: heapfit.fit(made, horizon="30q"), "horizon 30q: is no length of time"),
        (lambda made: heapfit.fit(made, margin=-1), "margin=-1: must be at least 0"),
        (lambda made: heapfit.fit(made, effort="quik"), "effort='quik': .*did you mean 'quick'"),
        (lambda made: heapfit.profile_trace([made, made]), "2 recordings are given .give one"),
    ],
)
def test_a_wrong_argument_is_named(made, call, said):
    with pytest.raises(heapfit.HeapfitError, match=said):
        call(made)


def test_a_comparison_finds_a_row_by_its_name(made):
    compared = heapfit.compare(made, ["tlsf", "first_fit"])
    assert [compared.row(name).name for name in ("tlsf", "first_fit")] == ["tlsf", "first_fit"]
    with pytest.raises(heapfit.HeapfitError, match="tlfs: is not compared here"):
        compared.row("tlfs")
