# SPDX-License-Identifier: Apache-2.0
"""The stored trace: written whole or not at all, and read back with suspicion."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_traces import heapfit
from stored_tables import SCHEMA, freed_at_once, write_table

from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, import_file, open_trace
from heapfit.trace import stored as trace
from heapfit.trace.content import content_hash
from heapfit.trace.loaded import load_trace
from heapfit.trace.operations import ALIGNED, ALLOC, FREE, RESIZE
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import COLUMNS, Trace, TraceInfo, write_trace

pytestmark = pytest.mark.usefixtures("unmeasured")

INFO = TraceInfo(program="echo", source="a test", pointer_bits=32, notes=("1 thing counted.",))
ROWS = {
    "op": [0, 2, 3, 4, 1, 4],
    "object": [0, 1, 0, 1, 2, 0],
    "size": [8, 100, 16, 0, 1 << 47, 0],
    "alignment": [0, 64, 0, 0, 0, 0],
    "time": [0, 5, 5, 6, 1 << 40, 1 << 41],
    "thread": [1, 2, 1, 2, 1, 1],
    "site": [1, 2, (1 << 32) - 1, 0, 5, 0],
}


def columns(rows=ROWS, **changed):
    return {name: np.array({**rows, **changed}[name], dtype=kind) for name, kind in COLUMNS.items()}


def written(folder, rows=ROWS, info=INFO, **changed):
    return write_trace(folder / "t.parquet", [columns(rows, **changed)], info)


def forged(folder, metadata=None, schema=None, **changed):
    """A file that says it is a trace, whatever its rows and metadata are."""
    told = {
        "schema": 1,
        "program": "",
        "source": "",
        "pointer_bits": 0,
        "kind": "heap",
        "queue": "",
        "events": len(ROWS["op"]),
        "notes": [],
        "largest_alignment": 64,
    }
    text = metadata if isinstance(metadata, bytes) else json.dumps({**told, **(metadata or {})})
    fields = schema or list(SCHEMA)
    arrays = columns(**changed)
    table = pa.Table.from_arrays(
        [pa.array(arrays[field.name]).cast(field.type) for field in fields],
        schema=pa.schema(fields),
    )
    path = folder / "forged.parquet"
    pq.write_table(table.replace_schema_metadata({"heapfit": text}), path)
    return path


def refusal(path):
    with pytest.raises(HeapfitError) as caught:
        list(Trace.open(path).batches(list(COLUMNS)))
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_is_written_is_read_back(tmp_path):
    trace = Trace.open(written(tmp_path).path)
    assert trace.info == replace(INFO, events=6, largest_alignment=64)
    assert trace.largest_alignment == 64
    (batch,) = trace.batches(list(COLUMNS))
    assert {name: batch[name].tolist() for name in batch} == ROWS
    assert {name: str(batch[name].dtype) for name in batch} == COLUMNS


def test_columns_that_are_left_out_are_stored_as_0(tmp_path):
    told = {name: np.array(ROWS[name]) for name in ("op", "object", "size")}
    (batch,) = write_trace(tmp_path / "t.parquet", [told], INFO).batches(tuple(COLUMNS))
    assert {name: str(column.dtype) for name, column in batch.items()} == COLUMNS
    assert [name for name, column in batch.items() if column.any()] == ["op", "object", "size"]


def test_the_information_may_come_after_the_events(tmp_path):
    read = []

    def batches():
        yield columns()
        read.append("all")

    trace = write_trace(tmp_path / "t.parquet", batches(), lambda: TraceInfo(notes=tuple(read)))
    assert trace.info.notes == ("all",)


def test_a_long_trace_is_read_in_batches_that_join_to_the_whole(tmp_path, limit):
    limit(BATCH=4)
    trace = written(tmp_path)
    assert [len(events) for events, _ in trace.walk()] == [4, 2]
    assert len(trace.events()) == 6
    sizes = [size for batch in trace.batches(["size"]) for size in batch["size"].tolist()]
    assert sizes == ROWS["size"]


def test_small_batches_are_joined_to_row_groups(tmp_path, limit):
    limit(ROW_GROUP=4)
    whole = columns()
    ones = [{name: whole[name][i : i + 1] for name in whole} for i in range(6)]
    path = write_trace(tmp_path / "t.parquet", ones, INFO).path
    metadata = pq.ParquetFile(path).metadata
    groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    assert groups == [4, 2]
    (batch,) = Trace.open(path).batches(["size"])
    assert batch["size"].tolist() == ROWS["size"]


def test_a_trace_without_events_is_not_written(tmp_path):
    with pytest.raises(HeapfitError, match="no event"):
        write_trace(tmp_path / "t.parquet", [], INFO)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_while_writing_leaves_the_old_file_and_nothing_else(tmp_path):
    old = written(tmp_path).path.read_bytes()

    def batches():
        yield columns()
        raise HeapfitError("line 7: gone wrong")

    with pytest.raises(HeapfitError, match="gone wrong"):
        write_trace(tmp_path / "t.parquet", batches(), INFO)
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]
    assert (tmp_path / "t.parquet").read_bytes() == old


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"op": [0, 2, 3, 4, 5, 4]}, "event 5: op 5 "),
        ({"op": [255, 2, 3, 4, 1, 4]}, "event 1: op 255 "),
        ({"size": [8, (1 << 47) + 1, 16, 0, 1, 0]}, "event 2: size 140737488355329 "),
        ({"size": [8, 1, 16, 0, (1 << 64) - 1, 0]}, "event 5: size 18446744073709551615 "),
        ({"alignment": [0, 48, 0, 0, 0, 0]}, "event 2: alignment 48 "),
        ({"alignment": [0, 1 << 25, 0, 0, 0, 0]}, "event 2: alignment 33554432 "),
        ({"object": [0, 2, 0, 1, 2, 0]}, "event 2: object 2 is not the next"),
        ({"object": [0, 1, 0, 1, 1, 0]}, "event 5: object 1 is not the next"),
        ({"object": [(1 << 32) - 1, 1, 0, 1, 2, 0]}, "event 1: object 4294967295 is not the next"),
        ({"object": [0, 1, 0, 1, 2, 3]}, "event 6: object 3 is not allocated"),
        ({"time": [0, 5, 4, 6, 7, 8]}, "event 3: time 4 is below"),
    ],
)
def test_a_row_that_breaks_a_rule_is_refused_with_its_event(tmp_path, changed, told):
    path = forged(tmp_path, **changed)
    assert refusal(path).startswith(f"{path}: {told}")


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_a_bad_row_of_a_later_batch_is_named_by_its_place_in_the_file(tmp_path, limit, batch):
    limit(BATCH=batch)
    assert "event 5: op 9 " in refusal(forged(tmp_path, op=[0, 2, 3, 4, 9, 4]))
    assert "event 3: time 4 " in refusal(forged(tmp_path, time=[0, 5, 4, 6, 7, 8]))
    assert "event 6: object 3 " in refusal(forged(tmp_path, object=[0, 1, 0, 1, 2, 3]))


@pytest.mark.parametrize("read", [Trace.events, lambda trace: list(trace.walk())])
@pytest.mark.parametrize("changed", [{"op": [0, 2, 3, 4, 9, 4]}, {"size": [1 << 48] * 6}])
def test_a_bad_row_never_becomes_an_event(tmp_path, read, changed):
    path = forged(tmp_path, **changed)
    with pytest.raises(HeapfitError) as caught:
        read(Trace.open(path))
    assert str(caught.value).startswith(f"{path}: event ")


def test_what_breaks_a_rule_is_not_written_either(tmp_path):
    with pytest.raises(HeapfitError, match="event 5: op 9"):
        written(tmp_path, op=[0, 2, 3, 4, 9, 4])
    assert list(tmp_path.iterdir()) == []


def test_parquet_of_another_program_is_refused_with_what_to_do(tmp_path):
    path = tmp_path / "foreign.parquet"
    pq.write_table(pa.table({"op": [1, 2]}), path)
    assert refusal(path).endswith("not a heapfit trace (`heapfit import` makes one)")


def test_another_schema_version_is_refused_with_both_versions(tmp_path):
    assert "trace schema 2; this program reads 1" in refusal(forged(tmp_path, {"schema": 2}))


@pytest.mark.parametrize(
    "metadata",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b"null",
        b"[" * 100_000,
        b'{"schema": 1}',
        {"schema": "1"},
        {"schema": None},
        {"program": 5},
        {"notes": "one"},
        {"notes": [1]},
        {"pointer_bits": 16},
        {"pointer_bits": True},
        {"kind": "stack"},
        {"events": "6"},
        {"events": 6.0},
        {"events": -6},
        {"events": 0},
        {"largest_alignment": 48},
        {"largest_alignment": 1 << 40},
        {"largest_alignment": -1},
        {"unheard_of": 1},
    ],
)
def test_damaged_metadata_are_refused(tmp_path, metadata):
    assert "metadata are damaged" in refusal(forged(tmp_path, metadata))


def test_another_number_of_events_than_announced_is_refused(tmp_path):
    assert "6 events where the metadata say 7" in refusal(forged(tmp_path, {"events": 7}))


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: fields[:-1],
        lambda fields: fields[::-1],
        lambda fields: [pa.field(f.name, f.type, nullable=True) for f in fields],
        lambda fields: [pa.field("op", pa.int8(), nullable=False), *fields[1:]],
        lambda fields: [pa.field("op", pa.float64(), nullable=False), *fields[1:]],
        lambda fields: [pa.field("op", pa.string(), nullable=False), *fields[1:]],
    ],
)
def test_other_columns_are_refused(tmp_path, change):
    fields = list(SCHEMA)
    assert "its columns are not those" in refusal(forged(tmp_path, schema=change(fields)))


def test_a_file_that_is_not_there_or_no_file_is_one_line(tmp_path):
    assert "No such file" in refusal(tmp_path / "none.parquet")
    assert refusal(tmp_path)


def test_a_stored_trace_cut_anywhere_is_refused(tmp_path):
    whole = written(tmp_path).path.read_bytes()
    path = tmp_path / "cut.parquet"
    for length in range(0, len(whole), 5):
        path.write_bytes(whole[:length])
        refusal(path)


def test_a_stored_trace_with_a_bit_flipped_is_read_or_refused_in_one_line(tmp_path):
    whole = written(tmp_path).path.read_bytes()
    path = tmp_path / "flipped.parquet"
    outcomes = {"read": 0, "refused": 0}
    for place in range(0, 8 * len(whole), 17):  # every bit of a byte in turn
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            rows = sum(len(batch["op"]) for batch in Trace.open(path).batches(list(COLUMNS)))
        except HeapfitError as error:
            assert str(error).startswith(f"{path}: ")
            assert "\n" not in str(error)
            outcomes["refused"] += 1
        else:
            assert rows == len(ROWS["op"])
            outcomes["read"] += 1
    assert outcomes["refused"] > outcomes["read"] > 0


def loop(folder, events, row_group):
    """The same block allocated and freed: seven columns that pack to next to nothing."""
    rows = freed_at_once(events)
    return write_table(folder / "loop.parquet", rows, row_group=row_group, compression="zstd")


def test_row_groups_that_take_much_memory_are_refused(tmp_path, limit):
    most = 2 << 20
    assert Trace.open(loop(tmp_path, most, most)).info.events == most
    told = refusal(loop(tmp_path, most + 2, most + 2))
    assert "row group 0 holds 2,097,154 events" in told
    limit(_MOST_OF_COLUMN=1 << 20)
    told = refusal(loop(tmp_path, most, most))
    assert "B of one column (at most 2,097,152 and 1,048,576 B" in told


def test_more_events_than_a_file_of_this_size_can_hold_are_a_bomb(tmp_path, limit):
    path = loop(tmp_path, 200_000, 1 << 20)
    assert Trace.open(path).info.events == 200_000
    limit(_UNSUSPECTED=1000, _MOST_EVENTS_A_BYTE=0)
    assert "200,000 events are more than 0 for each byte" in refusal(path)


def test_the_densest_honest_trace_is_no_bomb(tmp_path, limit):
    """A loop as heapfit stores it, without a change in anything but time, which goes evenly."""
    limit(_UNSUSPECTED=0)
    events = 1 << 20
    rows = freed_at_once(events)
    trace = write_trace(tmp_path / "t.parquet", [rows | {"time": np.arange(events)}], TraceInfo())
    assert 20 < events / trace.path.stat().st_size < 100
    assert Trace.open(trace.path).info.events == events


# ---- loaded once

READ = ("op", "object", "size", "alignment", "site")


def stored(path, sites):
    columns = {
        "op": np.array([ALLOC, ALIGNED, RESIZE, FREE, ALIGNED], np.uint8),
        "object": np.array([0, 1, 0, 1, 2], np.uint32),
        "size": np.array([24, 100, 40, 0, 8], np.uint64),
        "alignment": np.array([0, 64, 0, 0, 4096], np.uint32),
        "site": np.array(sites, np.uint32),
    }
    return write_trace(path, [columns], TraceInfo())


@pytest.mark.parametrize("sites", [[0, 0, 0, 0, 0], [0, 7, 0, 0, 9]])
def test_its_columns_are_those_of_the_file(tmp_path, sites):
    trace = stored(tmp_path / "aligned.parquet", sites)
    loaded = load_trace(trace)
    (in_memory,), (in_file,) = loaded.batches(READ), trace.batches(READ)
    assert {name: values.tolist() for name, values in in_memory.items()} == {
        name: values.tolist() for name, values in in_file.items()
    }
    assert loaded.largest_alignment == trace.largest_alignment == 4096
    assert loaded.content == content_hash(trace)
    assert loaded.profile.u_max == profile_trace(trace).u_max == 140


# ---- the page of the schema

PAGE = (Path(__file__).parents[2] / "docs/evidence/schemas.md").read_text(encoding="utf-8")
PAGE = PAGE.split("\n## The stored trace, ")[1].split("\n## ")[0]
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def trace_of_the_page(tmp_path, monkeypatch):
    source = tmp_path / "source"
    source.write_text("# name echo\na 0 24\na 1 8\nr 0 40\nf 1\n")
    import_file(source, tmp_path / "trace.parquet", ImportOptions())
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("trace_of_the_page")
def test_the_pyarrow_example_runs_and_finds_what_was_stored(capsys):
    exec(EXAMPLES[0], {})
    assert capsys.readouterr().out == "echo 2 allocations of 32 bytes\n"


@pytest.mark.usefixtures("trace_of_the_page")
@pytest.mark.parametrize("code", EXAMPLES[1:])
def test_the_examples_of_pandas_polars_and_duckdb_run(code):
    exec(code, {})


def test_the_page_has_the_columns_in_their_order_with_their_types():
    table = PAGE.split("### Columns")[1].split("### Metadata")[0]
    found = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", table, re.MULTILINE))
    assert found.keys() == {*trace.COLUMNS, *trace.OPTIONAL}
    assert found.items() >= trace.COLUMNS.items()


def test_the_page_has_every_field_of_the_metadata():
    table = PAGE.split("### Metadata")[1].split("### Versions")[0]
    fields = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    assert fields == {"schema", *trace.TraceInfo.__dataclass_fields__} - {
        "names"
    }  # kept beside them
    assert f"schema version {trace.SCHEMA_VERSION}" in PAGE.splitlines()[0]


# ---- requests that no heap serves

FAILED = (1 << 32) - 1
LOG = (
    f"# pointer_bits 32\na 0 100\na 1 {FAILED} 0 1 1234abcd\nr 0 {FAILED}\n"
    "a 2 60\nr 0 120\nf 1\na 3 7\nf 2\nf 0\n"
)


@pytest.fixture
def huge(tmp_path):
    source = tmp_path / "run.heap"
    source.write_text(LOG)
    return import_file(source, tmp_path / "run.parquet")


def test_they_stay_in_the_stored_trace_and_are_left_out_of_what_is_served(huge):
    assert huge.info.events == 9
    with open_trace(huge) as served:
        (batch,) = served.batches(("op", "object", "size"))
        assert list(zip(*(batch[name].tolist() for name in batch), strict=True)) == [
            *((0, 0, 100), (0, 1, 60), (3, 0, 120), (0, 2, 7), (4, 1, 0), (4, 0, 0)),
        ]
        assert served.info.notes == (
            "Event 2 asks for 4,294,967,295 B at call site 1234abcd (-1 as a size?): left out, "
            "since no heap below 4 GiB serves it.",
            "Event 3 asks for 4,294,967,295 B (-1 as a size?): left out, since no heap below 4 GiB "
            "serves it.",
        )
    with open_trace(huge, keep_oversized=True) as whole:
        assert whole is huge


def test_more_than_three_are_counted(tmp_path):
    source = tmp_path / "run.heap"
    source.write_text("a 9 8\n" + "".join(f"a {i} {FAILED}\nf {i}\n" for i in range(5)))
    with open_trace(source) as served:
        assert served.info.events == 1
        assert len(served.info.notes) == 4
        assert served.info.notes[3] == "2 more requests of such sizes are left out."
        assert np.concatenate([one["size"] for one in served.batches(["size"])]).tolist() == [8]


@pytest.mark.parametrize("rest", [("bounds",), ("place", "--memory=a=4K", "--memory=b=4K")])
def test_bounds_and_place_name_them(huge, rest):
    command, *options = rest
    done = heapfit(command, huge.path, *options, folder=huge.path.parent)
    assert done.returncode == 0
    assert "Event 2 asks for 4,294,967,295 B at call site 1234abcd" in " ".join(done.stderr.split())
