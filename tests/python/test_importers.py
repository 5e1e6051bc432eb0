# SPDX-License-Identifier: Apache-2.0
"""Importing: content tells the format, hostile files end in one line, no output is half-written."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from captures import ethernet, ipv4, pcap
from hypothesis import given
from hypothesis import strategies as st
from own_process import run_alone

from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, import_file, open_any, stream
from heapfit.importers.formats import format_of
from heapfit.importers.stream import ByteStream
from heapfit.trace.names import distinct_source_names, source_name
from heapfit.trace.stored import Trace

OPTIONS = ImportOptions()
EVENTS = [0, 0, 3, 4]  # the operations of every sample
SAMPLES = {
    "text": b"# heap-events 1\n# name echo\n# pointer_bits 32\n"
    b"a 0 24 0 1 1f\na 1 8 3 1 20\nr 0 40 2 1 1f\nf 1 9 1\n",
    "rep": b"4096\n2\n4\n1\na 0 24\na 1 8\nr 0 40\nf 1\n",
    "csv": b"op,object,size,time\nalloc,0,24,0\nalloc,1,8,3\nresize,0,40,5\nfree,1,,14\n",
}
SAMPLES["text.gz"] = gzip.compress(SAMPLES["text"], mtime=0)


def put(folder, content, name="source"):
    path = folder / name
    path.write_bytes(content)
    return path


def operations(path):
    """Reads a file as an import does, but stores nothing."""
    with ByteStream(path) as source:
        incoming = format_of(source).open(source, OPTIONS)
        return [op for columns in incoming.columns() for op in columns["op"].tolist()]


def refusal(path, folder):
    with pytest.raises(HeapfitError) as caught:
        import_file(path, folder / "out.parquet", OPTIONS)
    told = str(caught.value)
    assert told.startswith(f"{path}: ")
    assert "\n" not in told
    assert not (folder / "out.parquet").exists()
    return told


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("name", ["x", "x.pcap", "x.rep", "x.csv", "x.gz", "x.parquet"])
def test_content_tells_the_format_whatever_the_name(tmp_path, sample, name):
    trace = import_file(put(tmp_path, SAMPLES[sample], name), tmp_path / "out.parquet", OPTIONS)
    (batch,) = trace.batches(["op", "object", "size"])
    assert batch["op"].tolist() == EVENTS
    assert batch["object"].tolist() == [0, 1, 0, 1]
    assert batch["size"].tolist() == [24, 8, 40, 0]


def test_packets_become_allocations_freed_by_the_queue_asked_for(tmp_path):
    table = b"# packet-sizes 1\n0 72 86 17 0 1 -1\n5 40 54 6 0 0 -1\n9 1500 1514 6 1 0 1460\n"
    options = ImportOptions(queue="fill-drain:2")
    trace = import_file(put(tmp_path, table), tmp_path / "o.parquet", options)
    (batch,) = trace.batches(["op", "size"])
    assert batch["op"].tolist() == [0, 0, 4, 4, 0]
    assert batch["size"].tolist() == [72, 40, 0, 0, 1500]
    assert (trace.info.kind, trace.info.queue) == ("packets", "fill-drain:2")


def test_a_queue_that_the_events_do_not_come_from_is_an_error(tmp_path):
    options = ImportOptions(queue="fill-drain:2")
    heap, capture = tmp_path / "a.heap", tmp_path / "a.pcap"
    heap.write_text("a 1 8\nf 1\n")
    with pytest.raises(HeapfitError, match=r"a\.heap: is no capture of packets: leave out --queue"):
        open_any(heap, options, tmp_path)
    assert not (tmp_path / "a.parquet").exists()
    capture.write_bytes(pcap([ethernet(ipv4(60))]))
    stored = open_any(capture, ImportOptions(queue="fifo:9"), tmp_path).path
    assert open_any(stored, ImportOptions(queue="fifo:9"), tmp_path).info.queue == "fifo:9"
    with pytest.raises(HeapfitError, match="was imported by --queue fifo:9, not fill-drain:2"):
        open_any(stored, options, tmp_path)


def test_the_header_becomes_the_traces_information(tmp_path):
    source, output = put(tmp_path, SAMPLES["text"]), tmp_path / "o.parquet"
    info = import_file(source, output, OPTIONS).info
    assert (info.program, info.pointer_bits, info.kind, info.events) == ("echo", 32, "heap", 4)
    assert info.source == "source"
    assert import_file(source, output, ImportOptions(pointer_bits=64)).info.pointer_bits == 64


def test_notes_reach_the_stored_trace(tmp_path):
    source = put(tmp_path, b"a 0 8\nf 7\n")
    assert "line 2: free of unknown" in refusal(source, tmp_path)
    trace = import_file(source, tmp_path / "o.parquet", ImportOptions(drop_unknown=True))
    assert Trace.open(trace.path).info.notes == ("1 free of an unknown or freed id dropped: 7.",)


def test_a_stored_trace_is_opened_as_it_is_and_not_imported(tmp_path):
    trace = import_file(put(tmp_path, SAMPLES["csv"]), tmp_path / "t.parquet", OPTIONS)
    folder = tmp_path / "out"
    assert open_any(trace.path, OPTIONS, folder) == trace
    assert not folder.exists()
    assert "is Parquet already" in refusal(trace.path, tmp_path)


def test_another_file_is_imported_into_the_folder_under_its_name(tmp_path):
    source = put(tmp_path, SAMPLES["text.gz"], "echo.heap.gz")
    trace = open_any(source, OPTIONS, tmp_path / "out")
    assert trace.path == tmp_path / "out" / "echo.parquet"
    assert trace.info.events == 4


def test_a_source_is_never_its_own_output(tmp_path):
    source = put(tmp_path, SAMPLES["text"], "t.parquet")
    with pytest.raises(HeapfitError, match="is the file to import"):
        import_file(source, source, OPTIONS)
    assert source.read_bytes() == SAMPLES["text"]


def test_a_pipe_can_be_imported(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(SAMPLES["text.gz"],))
    writer.start()
    trace = import_file(pipe, tmp_path / "t.parquet", OPTIONS)
    writer.join()
    assert trace.info.events == 4


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 100,
        b"# only a comment\n",
        b"hello\n",
        b"%PDF-1.7\n",
        b"\x7fELF" + bytes(range(256)),
        b"{}",
        b"op|object|size\n",
        b"host,count\na,7\n",
        b"\xff\xfeo\x00p\x00",
        gzip.compress(b"", mtime=0),
        gzip.compress(b"nothing known", mtime=0),
    ],
)
def test_content_of_no_known_format_is_refused_and_the_known_ones_named(tmp_path, content):
    told = refusal(put(tmp_path, content), tmp_path)
    other = " (docs/import-formats.md lists what is read; other logs are by "
    assert (", a table whose columns are not op, object, size, " in told) == (b"," in content[:20])
    assert ": is empty (" in told or ": is a picture or a document: " in told or other in told


def test_a_missing_file_or_a_folder_is_refused(tmp_path):
    assert "no such file" in refusal(tmp_path / "none", tmp_path)
    assert "is a folder (name a file in it)" in refusal(tmp_path, tmp_path)


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_file_cut_anywhere_is_read_or_refused_in_one_line(tmp_path, sample):
    whole = SAMPLES[sample]
    for length in range(len(whole)):
        path = put(tmp_path, whole[:length])
        try:
            read = operations(path)
        except HeapfitError:
            refusal(path, tmp_path)
        else:
            assert read == EVENTS[: len(read)]


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_file_with_any_bit_flipped_is_read_or_refused_in_one_line(tmp_path, sample):
    whole = SAMPLES[sample]
    refused = 0
    for place in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        try:
            operations(put(tmp_path, bytes(flipped)))
        except HeapfitError as error:
            assert "\n" not in str(error)
            assert str(error).isprintable()
            refused += 1
    assert refused > len(whole)


def pack_by_arrow(codec):
    def pack(content):
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, codec) as out:
            out.write(content)
        return sink.getvalue().to_pybytes()

    return pack


PACKERS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lambda content: lzma.compress(content, preset=0),
    "zstd": pack_by_arrow("zstd"),
    "lz4": pack_by_arrow("lz4"),
}
MANY = b"".join(b"a %d %d\n" % (i, 1 + i * 7919 % 5000) for i in range(200_000))


@pytest.mark.parametrize("packer", PACKERS)
def test_of_a_packed_file_cut_short_the_whole_lines_are_kept_and_the_rest_told(tmp_path, packer):
    packed = PACKERS[packer](MANY)
    whole = import_file(put(tmp_path, packed), tmp_path / "whole.parquet", OPTIONS)
    path = put(tmp_path, packed[: len(packed) // 2])
    half = import_file(path, tmp_path / "half.parquet", OPTIONS)
    assert 60_000 < half.info.events < whole.info.events == 200_000
    (note,) = half.info.notes
    assert note.startswith("The rest is left out, from byte ")
    sizes = np.concatenate([batch["size"] for batch in half.batches(["size"])])
    assert (sizes == 1 + np.arange(len(sizes)) * 7919 % 5000).all()


def test_gzip_data_that_are_damaged_are_refused_with_their_byte(tmp_path):
    packed = bytearray(gzip.compress(MANY))
    packed[-6] ^= 0xFF  # of the checksum
    assert "byte " in refusal(put(tmp_path, bytes(packed)), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


@pytest.mark.parametrize("packer", PACKERS)
def test_what_is_no_member_ends_a_packed_file_and_is_told(tmp_path, packer):
    pack = PACKERS[packer]
    members = pack(b"a 0 8\na 1 9\n") + pack(b"f 0\n")
    assert import_file(put(tmp_path, members), tmp_path / "t.parquet").info.notes == ()
    info = import_file(put(tmp_path, members + b"not packed"), tmp_path / "t.parquet").info
    assert info.events == 3
    assert info.notes[-1].startswith("The rest is left out, from byte ")


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("sample", ["text", "csv"])
def test_text_with_a_byte_order_mark_is_read(tmp_path, coding, sample):
    text = ("\ufeff" if coding == "utf-16-be" else "") + SAMPLES[sample].decode()
    assert operations(put(tmp_path, text.encode(coding))) == EVENTS


@pytest.mark.parametrize("sample", ["text", "rep", "csv"])
def test_lines_may_end_in_cr_alone(tmp_path, sample):
    assert operations(put(tmp_path, SAMPLES[sample].replace(b"\n", b"\r"))) == EVENTS
    long = b"boot\r" * (stream.HEAD // 4) + b"malloc(8) = 0x2000\r" * 2
    assert len(operations(put(tmp_path, long))) == 3


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16"])
def test_a_long_log_with_a_byte_order_mark_is_read_to_its_end(tmp_path, coding):
    boot = "Gerät läuft\r\n" * (stream.HEAD // 8)
    text = boot + "malloc(24) = 0x20000100\r\n" * 2
    info = import_file(put(tmp_path, text.encode(coding)), tmp_path / "t.parquet").info
    assert info.events == 3
    assert f"{stream.HEAD // 8:,} lines of other text passed over." in info.notes


def test_a_file_that_is_packed_twice_is_refused_with_what_to_do(tmp_path):
    path = put(tmp_path, gzip.compress(gzip.compress(MANY)))
    assert refusal(path, tmp_path).endswith("is packed twice (unpack it once)")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_text_may_begin_as_bzip2_does(tmp_path, pack):
    text = b"BZh9 boots\nmalloc(24) = 0x20000100\n"
    assert operations(put(tmp_path, pack(text))) == [0]


def test_text_may_be_indented(tmp_path):
    assert operations(put(tmp_path, b"# heap-events 1\n  a 0 8\n\tf 0\n")) == [0, 4]


def test_a_well_packed_honest_file_is_no_bomb(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "UNSUSPECTED", 1 << 16)
    lines = b"".join(b"a %d 8\n" % i for i in range(50_000))
    path = put(tmp_path, gzip.compress(lines))
    assert len(operations(path)) == 50_000


def test_a_bomb_is_refused_soon_above_the_cap_in_little_memory(tmp_path):
    """1 GiB of comment lines in 1 MiB; gzip members of 16 MiB each."""
    bomb, given = tmp_path / "bomb.gz", 0
    member = gzip.compress((b"#" * 4095 + b"\n") * 4096)
    bomb.write_bytes(gzip.compress(b"a 0 8\n") + member * 64)
    os.mkfifo(tmp_path / "pipe")  # which is read once
    with subprocess.Popen(["dd", f"if={bomb}", f"of={tmp_path / 'pipe'}", "status=none"]):
        with (
            ByteStream(tmp_path / "pipe") as opened,
            pytest.raises(HeapfitError, match="decompression bomb"),
        ):
            for chunk in opened.chunks():
                given += len(chunk)
        (tmp_path / "pipe").unlink()
    assert stream.UNSUSPECTED < given <= stream.UNSUSPECTED + 100 * bomb.stat().st_size
    ran = run_alone("import", bomb, "-o", tmp_path / "o.parquet")
    assert (ran.code, ran.told.count("\n")) == (1, 1)
    assert "decompression bomb" in ran.told
    assert 10 << 20 < ran.most_memory < 256 << 20
    assert [path.name for path in tmp_path.iterdir()] == ["bomb.gz"]


@pytest.mark.parametrize("packer", ["gzip", "bzip2", "xz"])
def test_many_members_with_next_to_nothing_are_refused_soon(tmp_path, packer):
    pack = PACKERS[packer]
    path = put(tmp_path, pack(b"a 0 8\n") + pack(b"#\n") * 50_000)
    begun = time.process_time()
    assert "more than 10,000 packed members" in refusal(path, tmp_path)
    assert time.process_time() - begun < 1
    path.write_bytes(pack(b"a 0 8\n") * 2 + pack(b"#" * 1_023 + b"\n") * 11_000)
    with ByteStream(path) as opened:
        assert sum(map(len, opened.chunks())) == 12 + 11_000 * 1_024


# ---- names of outputs


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


def test_gzip_members_join(tmp_path):
    parts = gzip.compress(b"a 0 8\na 1 ") + gzip.compress(b"9\nr 0 1\nf 1\n")
    assert operations(put(tmp_path, parts)) == EVENTS
