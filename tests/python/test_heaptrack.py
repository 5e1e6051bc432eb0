# SPDX-License-Identifier: Apache-2.0
"""Files of heaptrack, both forms: from lines of our own, and, where it is installed, of its own."""

import gzip

import pyarrow as pa
import pytest

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers import import_file
from heapfit.importers.source_lines import site_hash

ALLOC, ZEROED, ALIGNED, RESIZE, FREE = range(5)
RAW = b"""v 10400 3
x 8 /tmp/a b
X ./a -x 1
I 1000 5e298d
m 1 -
m 8 /tmp/a b 560e87eea000 0 740 1000 2b9 3dd0 278
m 9 /lib/c.so 7f0000000000 0 740
t 560e87eeb19a 0
t 7f0000000123 1
t 10 0
+ 18 1 560e8e1bd1d0
c 5
+ 78 2 560e8e1bd2b0
- 560e8e1bd1d0
R 3b9
+ 40 3 560e8e1bd2b0
- 560e8e1bd2b0
- 99
# strings: 2
"""
INTERPRETED = b"""v 10400 3
X ./a
s 8 /tmp/a b
s 4 main
s 3 a.c
i 560e87eeb19a 1 2 3 7
i 560e87eeb1aa 1 2 3 8
i 560e87eeb1bb 1
t 1 0
t 2 0
t 3 0
a 64 1
a 64 2
a 65 3
+ 0
+ 0
c a
+ 1
+ 2
- 0
+ 0
- 0
- 0
- 0
"""


def read(content, step=1 << 20):
    """The reader at the end, and its columns."""
    reader = _engine.HeaptrackTrace(drop_unknown=True)
    for at in range(0, len(content), step):
        reader.feed(content[at : at + step])
    reader.finish()
    return reader, {name: column.tolist() for name, column in reader.take().items()}


def rows(columns):
    return list(zip(columns["op"], columns["object"], columns["size"], strict=True))


@pytest.mark.parametrize("step", [1, 1000])
def test_a_raw_file_is_read(step):
    reader, columns = read(RAW, step)
    assert rows(columns) == [
        *((ALLOC, 0, 24), (ALLOC, 1, 120), (FREE, 0, 0), (FREE, 1, 0), (ALLOC, 2, 64)),
        (FREE, 2, 0),
    ]
    assert columns["time"] == [0, 5000, 5000, 5000, 5000, 5000]
    assert (reader.program, reader.source, reader.pointer_bits) == ("./a -x 1", "heaptrack", 64)
    assert reader.notes == [
        "heaptrack tells a resize as a free and an allocation, and alignments not at all.",
        "1 block taken as freed, in whose place others were given.",
        "1 free of an unknown id dropped.",
    ]


def test_raw_sites_are_those_that_our_recorder_names():
    """A path has the byte before the one that the call returns to; modules end as mapped."""
    _, columns = read(RAW)
    first, second = (
        int(site_hash(pa.array([at], pa.uint64()).to_numpy(), extent)[0])
        for at, extent in ((0x119B, 0x3DD0 + 0x278), (0x124, 0x740))
    )
    assert columns["site"] == [first, second, 0, 0, 0, 0]


@pytest.mark.parametrize("step", [1, 1000])
def test_an_interpreted_file_is_read_with_the_last_of_equal_blocks_freed(step):
    reader, columns = read(INTERPRETED, step)
    assert rows(columns) == [
        *((ALLOC, 0, 100), (ALLOC, 1, 100), (ALLOC, 2, 100), (ALLOC, 3, 101), (FREE, 1, 0)),
        *((ALLOC, 4, 100), (FREE, 4, 0), (FREE, 0, 0)),
    ]
    assert len(set(columns["site"][:4])) == 3  # two lines of a function, and a module
    assert 0 not in columns["site"][:4]
    assert any("the last one is taken as freed" in note for note in reader.notes)
    assert reader.notes[-1] == "1 free of an unknown id dropped."


def test_interpreted_sites_are_the_same_in_another_run():
    """Address space randomisation moves pages, and no function or line."""
    _, columns = read(INTERPRETED)
    _, moved = read(INTERPRETED.replace(b"560e87eeb", b"55aa00000"))
    assert moved["site"] == columns["site"]


def test_a_last_line_needs_no_end():
    cut = RAW.removesuffix(b"# strings: 2\n").rstrip()
    reader, _ = read(cut)
    assert reader.notes[-1] == "1 free of an unknown id dropped."


def test_a_last_line_that_is_cut_is_left_out_and_told():
    reader, columns = read(INTERPRETED + b"+")
    assert columns == read(INTERPRETED)[1]
    assert reader.notes[-1] == f"The rest is left out, from {reader.damage}"
    assert "the file ends inside this line" in reader.damage


@pytest.mark.parametrize(
    ("content", "before", "served", "freed"),
    [
        (RAW, b"+ 18 1", b"+ 11c00 1 560e8e000000\n", b"- 560e8e000000\n"),
        (INTERPRETED, b"+ 0", b"a 11c00 3\n+ 3\n", b"- 3\n"),
    ],
)
def test_the_emergency_pool_that_heaptrack_brings_is_left_out(content, before, served, freed):
    reader, columns = read(content.replace(before, served + before, 1) + freed)
    assert columns == read(content)[1]
    assert "libstdc++'s emergency pool for exceptions, 72704 B, left out" in " ".join(reader.notes)


def test_the_names_of_sites_stay_as_plans_have_them():
    _, columns = read(INTERPRETED)
    assert columns["site"][:4] == [0x45D78195, 0x45D78195, 0x63D70516, 0x67FA7D04]


def test_two_functions_of_a_module_are_two_sites():
    _, columns = read(INTERPRETED.replace(b"eeb1aa 1 2 3 8", b"eeb1aa 1 3 3 7"))
    assert len(set(columns["site"][:4])) == 3


@pytest.mark.parametrize("content", [RAW, INTERPRETED])
@pytest.mark.parametrize("packed", [bytes, gzip.compress, pa.Codec("zstd").compress])
def test_a_file_is_known_whether_packed_or_not(tmp_path, content, packed):
    file = tmp_path / "heaptrack.a.1.zst"
    file.write_bytes(bytes(packed(content)))
    trace = import_file(file, tmp_path / "t.parquet")
    assert trace.info.source == "heaptrack"


def zstd_of(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(content)
    return sink.getvalue().to_pybytes()


def test_a_zstd_file_of_which_nothing_can_be_unpacked_is_refused_with_its_place(tmp_path):
    file = tmp_path / "cut.zst"
    file.write_bytes(zstd_of(RAW * 40)[:-30])
    with pytest.raises(HeapfitError, match=r"cut.zst: byte \d+: the packed file was cut short"):
        import_file(file, tmp_path / "t.parquet")
    assert not (tmp_path / "t.parquet").exists()


@pytest.mark.parametrize("form", [b"", b" 1", b" 2"])
def test_older_forms_have_texts_without_their_lengths(form):
    """heaptrack 1.0 to 1.3 (form 1 and 2; KDE/heaptrack, accumulatedtracedata.cpp)."""
    older = INTERPRETED.replace(b" 3\n", form + b"\n", 1)
    for length in (b"s 8 ", b"s 4 ", b"s 3 "):
        older = older.replace(length, b"s ")
    reader, columns = read(older)
    newer, expected = read(INTERPRETED)
    assert columns == expected
    assert reader.notes == newer.notes
    raw = RAW.replace(b" 3\n", form + b"\n", 1).replace(b"m 8 /tmp/a b", b"m /tmp/ab")
    assert read(raw.replace(b"m 1 -", b"m -").replace(b"m 9 ", b"m "))[1] == read(RAW)[1]


def test_a_zstd_bomb_is_refused(tmp_path):
    file = tmp_path / "bomb.zst"
    file.write_bytes(zstd_of(RAW + b"R 1\n" * (20 << 20)))
    with pytest.raises(HeapfitError, match="a decompression bomb"):
        import_file(file, tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"v 10400 4\n+ 1 1 1\n", "line 1: form 4 of heaptrack's files"),
        (b"+ 1 1 1\n", "line 1: no version before the first record"),
        (b"v 10400 3\nhello\n", 'line 2: "hello" is no record of heaptrack'),
        (b"v 10400 3\n+ 3\n", "line 2: allocation 3 was not told before"),
        (b"v 10400 3\n+ 1 1 zz\n", 'line 2: address "zz" is not a whole number'),
        (b"v 10400 3\ns\n", 'line 2: length "" is not a whole number'),
        (b"v 10400 3\nm ffffffffffffffff x 1 2\n", "line 2: address"),
        (b"v 10400 3\n", "no allocation in it"),
        (b"v 10400 3\nX " + b"x" * (1 << 20), "line 2: longer than 1048576 bytes"),
    ],
)
def test_what_is_no_such_file_is_refused(content, what):
    with pytest.raises(HeapfitError, match=what):
        read(content)


def test_each_cut_of_a_file_is_read_or_refused():
    for content in (RAW, INTERPRETED):
        for end in range(len(content)):
            try:
                _, columns = read(content[:end])
            except HeapfitError as error:
                assert "line" in str(error) or "no allocation" in str(error)
            else:
                assert columns["op"]
