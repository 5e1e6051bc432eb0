# SPDX-License-Identifier: Apache-2.0
"""A stored trace whose pages lie of their sizes is refused in one line and in little memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from own_process import run_alone
from stored_tables import freed_at_once, write_table

from heapfit.errors import HeapfitError
from heapfit.trace.stored import COLUMNS, REPLAYED, Trace, TraceInfo, write_trace

EVENTS = 200_000
ENORMOUS = 2**31 - 1
MOST_MEMORY = 256 << 20  # bytes
FORMS = {
    "as heapfit writes": None,
    "plain": {"compression": "none", "use_dictionary": False},
    "pages of version 2": {"compression": "snappy", "data_page_version": "2.0"},
    "one page": {"compression": "gzip", "data_page_size": 1 << 30},
    "many": {"compression": "brotli", "data_page_size": 1 << 10, "write_page_checksum": True},
}


def trace_file(folder, options=None):
    """Blocks of random sizes, each freed at once."""
    path, rows = folder / "t.parquet", freed_at_once(EVENTS)
    rows["size"] = np.random.default_rng(1).integers(1, 4000, EVENTS, np.uint64) * (rows["op"] == 0)
    if options is None:
        return write_trace(path, [rows], TraceInfo()).path
    return write_table(path, rows, **options)


def chunk_of(path, column):
    return pq.ParquetFile(path).metadata.row_group(0).column(list(COLUMNS).index(column))


def plain(number, length=0):
    """Seven bits a byte, the lowest first, in so many bytes at least."""
    groups = [number >> shift & 127 for shift in range(0, max(number.bit_length(), 1), 7)]
    groups += [0] * (length - len(groups))
    return bytes([group | 128 for group in groups[:-1]] + groups[-1:])


def read_plain(data, at):
    end = next(i for i in range(at, at + 10) if data[i] < 128) + 1
    return sum((byte & 127) << 7 * i for i, byte in enumerate(data[at:end])), end


def lie(path, at, what):
    """Says in the header at `at` that the page is enormous, or has enormously many values.

    The checksum leaves room for the longer number; what is left of it goes to the packed size.
    """
    data = bytearray(path.read_bytes())
    numbers, end = [], at
    for _ in range(4):  # kind of page, unpacked and packed size, checksum
        number, end = read_plain(data, end + 1)
        numbers.append(number)
    kind, unpacked, packed, _ = numbers
    values, after = read_plain(data, end + 2)
    unpacked = 2 * ENORMOUS if what == "size" else unpacked
    values = 2 * ENORMOUS if what == "values" else values
    head = b"\x15" + plain(kind) + b"\x15" + plain(unpacked) + b"\x15"
    tail = bytes([data[end] + 0x10]) + b"\x15" + plain(values)  # one field further without it
    data[at:after] = head + plain(packed, after - at - len(head) - len(tail)) + tail
    path.write_bytes(data)


def swell(path, size):
    """Makes the column of sizes one page that unpacks to `size` MiB, and says so in its header."""
    chunk = chunk_of(path, "size")
    frames = pa.compress(bytes(1 << 20), codec="zstd", asbytes=True) * size
    room = chunk.total_compressed_size - 32 - len(frames)
    body = frames + b"\x50\x2a\x4d\x18" + (room - 8).to_bytes(4, "little") + bytes(room - 8)
    head = b"\x15\x00\x15" + plain(2 * (size << 20)) + b"\x15" + plain(2 * len(body))
    tail = b"\x2c\x15" + plain(2 * EVENTS) + b"\x15\x00\x15\x06"
    tail += b"\x15" + plain(6, 32 - len(head) - len(tail) - 3) + b"\x00\x00"
    data = bytearray(path.read_bytes())
    start = chunk.data_page_offset
    data[start : start + chunk.total_compressed_size] = head + tail + body
    path.write_bytes(data)


def refusal(path):
    with pytest.raises(HeapfitError) as caught:
        for _ in Trace.open(path).batches(REPLAYED):
            pass
    told = str(caught.value)
    assert told.startswith(f"{path}: ")
    assert "\n" not in told
    return told


@pytest.mark.parametrize("form", FORMS)
def test_an_honest_table_is_read_whoever_wrote_it(tmp_path, form):
    trace = Trace.open(trace_file(tmp_path, FORMS[form]))
    assert sum(len(batch["op"]) for batch in trace.batches(tuple(COLUMNS))) == EVENTS


@pytest.mark.parametrize("page", ["dictionary_page_offset", "data_page_offset"])
@pytest.mark.parametrize("column", ["op", "object", "size"])
@pytest.mark.parametrize("what", ["size", "values"])
def test_a_page_that_lies_is_refused_in_one_line(tmp_path, what, column, page):
    path = trace_file(tmp_path)
    chunk = chunk_of(path, column)
    if getattr(chunk, page) is None:
        assert column == "object"  # in steps, without a dictionary
        return
    lie(path, getattr(chunk, page), what)
    told = refusal(path)
    assert "None" not in told
    if what == "size":
        assert f"row group 0, column {column}: its pages unpack to 2,147," in told
        assert f"where the footer says {chunk.total_uncompressed_size:,} B" in told


@pytest.mark.parametrize("what", ["size", "values", "bomb"])
def test_profile_of_pages_that_lie_stays_small(tmp_path, what):
    if what == "bomb":
        path = trace_file(tmp_path, {"compression": "zstd", "use_dictionary": False})
        swell(path, 1024)
    else:
        path = trace_file(tmp_path)
        lie(path, chunk_of(path, "size").data_page_offset, what)
    code, told, memory = run_alone("profile", path)
    assert code == 1
    assert told.count("\n") == 1
    assert told.startswith(f"heapfit: {path}: ")
    assert ("unpack to 1,073,741,824 B" in told) == (what == "bomb")
    assert memory < MOST_MEMORY


@pytest.mark.parametrize("at", [0, 1])
def test_a_damaged_header_in_a_file_is_told_with_its_column(tmp_path, at):
    path = trace_file(tmp_path)
    data = bytearray(path.read_bytes())
    start = chunk_of(path, "object").data_page_offset
    data[start : start + 2] = b"\x1f\x00" if at == 0 else b"\x00\x00"
    path.write_bytes(data)
    assert refusal(path).endswith("row group 0, column object: a page's header is damaged")
