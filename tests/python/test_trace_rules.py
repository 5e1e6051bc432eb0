# SPDX-License-Identifier: Apache-2.0
"""The replay rules, a row each, as the engine's readers keep to them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, import_file
from heapfit.importers.formats import FORMATS
from heapfit.trace.operations import ALIGNED, ALLOC, FREE, RESIZE, ZEROED
from heapfit.trace.stored import COLUMNS

CSV = "op,object,size,alignment,time\n"
REP = "2000\n2\n4\n1\n"
HOUR = 3_600_000_000
MOST = 1 << 47  # bytes of a request
LARGEST = (1 << 64) - 1
CUT = "The rest is left out, from "
READERS = {"text": _engine.TextTrace, "csv": _engine.CsvTrace, "rep": _engine.RepTrace}


def read(text, reader="text", drop_unknown=False, width=None):
    """The columns as lists, and the notes."""
    engine, data = READERS[reader](drop_unknown), text.encode()
    for start in range(0, len(data), width or max(len(data), 1)):
        engine.feed(data[start : start + width] if width else data)
    engine.finish()
    return {name: column.tolist() for name, column in engine.take().items()}, engine.notes


def refusal(text, reader="text", drop_unknown=False):
    with pytest.raises(HeapfitError) as caught:
        read(text, reader, drop_unknown)
    return str(caught.value)


def test_a_text_line_becomes_one_row():
    columns, notes = read(
        "a 7 10 0 1 ff\nc 8 20 5 1 fe\nm 9 30 64 5 2 fd\nr 8 40 1 2 fc\nf 7 2 1\n"
    )
    assert columns == {
        "op": [ALLOC, ZEROED, ALIGNED, RESIZE, FREE],
        "object": [0, 1, 2, 1, 0],
        "size": [10, 20, 30, 40, 0],
        "alignment": [0, 0, 64, 0, 0],
        "time": [0, 5, 10, 11, 13],
        "thread": [1, 1, 2, 2, 1],
        "site": [0xFF, 0xFE, 0xFD, 0xFC, 0],
    }
    assert notes == []


READ = {  # text: columns, and notes where there are any
    "ids may be used again after a free": ("a 5 1\nf 5\na 5 2\na 6 3\nf 5\n",
        {"object": [0, 0, 1, 2, 1]}),
    "ids may be any 64-bit number": (f"a {LARGEST} 1\na 0 2\nf {LARGEST}\n",
        {"object": [0, 1, 0]}),
    "fields may be missing from the right": ("a 0 8\na 1 8 3\na 2 8 4 9\n",
        {"time": [0, 3, 7], "thread": [0, 0, 9], "site": [0, 0, 0]}),
    "a resize keeps the object": ("a 3 8\nr 3 80\nr 3 8\nf 3\n",
        {"object": [0, 0, 0, 0], "size": [8, 80, 8, 0]}),
    "a resize to 0 is a free": ("a 3 8\nr 3 0\na 3 8\n",
        {"op": [0, 4, 0], "object": [0, 0, 1]}, "1 resize to 0 bytes taken as a free."),
    "a request for 0 bytes is kept": ("a 0 0\nf 0\n", {"size": [0, 0]}),
    "sizes of 32 bits": (f"a 0 {1 << 31}\na 1 {1 << 32}\n", {"size": [1 << 31, 1 << 32]}),
    "sizes beyond any address space": (f"a 0 {MOST}\nr 0 {MOST + 1}\na 1 {1 << 63}\na 2 {LARGEST}",
        {"size": [MOST] * 4}, "3 sizes above 2^47 stored as 2^47."),
    "a gap above one hour": (f"a 0 8\na 1 8 {HOUR}\na 2 8 {HOUR + 1}\n",
        {"time": [0, HOUR, 2 * HOUR + 1]}, "1 gap above one hour (one second in plots)."),
    "other text": ("a 0 8\nx 1 2\nhello, world\n\nf 0\n", {"op": [ALLOC, FREE]},
        "2 lines of other text passed over, the first is line 2."),
    "blanks, carriage returns, no last newline": ("a 0 8\r\n\r\n  \na 1  9\t3 \nf 0",
        {"op": [0, 0, 4]}),
    "a long line": ("#" * 4096 + "\na 0 8\n", {"size": [8]}),
    "a last line that is cut": ("a 0 8\na 1 9\nr 0", {"size": [8, 9]},
        f"{CUT}line 3: the file ends inside this line (it was cut short; copy or record it again)"),
}  # fmt: skip
READ |= {
    f"alignment {one}": (f"m 0 8 {one}\n", {"alignment": [one]})
    for one in (0, 1, 2, 8, 4096, 1 << 24)
}
READ_OTHERWISE = {
    "csv: a time below its predecessor": (
        f"{CSV}alloc,0,8,0,100\nalloc,1,8,0,90\nalloc,2,8,0,95\nalloc,3,8,0,130\n",
        {"time": [0, 0, 0, 30]}, "2 times below their predecessors set to them."),
    "csv: a clock of 32 bits that begins again, and falls by less": (
        f"{CSV}alloc,0,8,0,{2**32 - 100}\nalloc,1,8,0,50\nalloc,2,8,0,40\n"
        f"alloc,3,8,0,{2**32 - 1}\nalloc,4,8,0,{2**32 // 10}\nalloc,5,8,0,{2**33}\n"
        "alloc,6,8,0,7\n",
        {"time": [0, 150, 150, 2**32 + 99] + [2**32 + 100 + 2**32 // 10] * 3},
        "2 times a clock of 32 bits, of microseconds, began again; it is counted on.",
        "3 times below their predecessors set to them.",
        "1 gap above one hour (one second in plots)."),
    "csv: columns in any order, quoted, with the names of C": (
        'site,"op",size,object,time,thread,alignment\n0xff,malloc,8,0x7f00aa,10,3,\n'
        '16,"calloc","9",1,11,,0\n,posix_memalign,10,2,12,1,64\n,realloc,11,0x7f00aa,13,1,\n'
        ",free,,1,14,1,\n",
        {"op": [0, 1, 2, 3, 4], "object": [0, 1, 2, 0, 1], "size": [8, 9, 10, 11, 0],
         "alignment": [0, 0, 64, 0, 0], "time": [0, 1, 2, 3, 4], "thread": [3, 0, 1, 1, 1],
         "site": [0xFF, 16, 0, 0, 0]}),
    "csv: other names of C": (
        "op,object,size\nalloc,0,8\nzeroed,1,8\naligned,2,8\nmemalign,3,8\naligned_alloc,4,8\n",
        {"op": [0, 1, 2, 2, 2]}),
    "csv: gaps kept as fractions": ("op,object,size,function\nMALLOC,1,24.0,main\nfree,1\n",
        {"op": [ALLOC, FREE], "size": [24, 0]}, 'Column "function" passed over: not known.'),
    "csv: a table of calls that a program printed": (
        "no;ms;function;pointer;bytes\n1;5;pvPortMalloc;0xf7a01008;512\n"
        "2;7;pvPortMalloc;0x00000000;1048576\n3;8;vPortFree;0x00000000;\n"
        "4;9;vPortFree;0xf7a01008;\n5;10;vPort",
        {"op": [ALLOC, FREE], "size": [512, 0], "time": [0, 4000]},
        'Column "no" passed over: not known.', "1 request that the heap refused left out.",
        f"{CUT}line 6: the file ends inside this line (it was cut short; copy or record it again)"),
    "csv: such a table with other names": (
        "us,event,old,ptr,len\n1,heap_caps_calloc,,20A0,8\n3,realloc,20A0,20B0,9\n4,free,,20b0,\n",
        {"op": [1, RESIZE, FREE], "object": [0, 0, 0], "size": [8, 9, 0], "time": [0, 2, 3]}),
    "csv: times in ms, with decimals": (
        "op,object,size,ms\nmalloc,1,64,0.5\nmalloc,2,32,1\nfree,1,0,2.1257\nfree,2,0,\n",
        {"op": [ALLOC, ALLOC, FREE, FREE], "time": [0, 500, 1625, 1625]},
        "1 time below its predecessor set to it."),
    "csv: its blocks may come again, and its resizes be unknown": (
        "op,address,size\nmalloc,10,8\nmalloc,10,9\nrealloc,20,7\nfree,(nil),\nnew,NULL,4\n",
        {"op": [ALLOC, FREE, ALLOC, ALLOC], "size": [8, 0, 9, 7]},
        "1 block taken as freed, in whose place others were given.",
        "1 request that the heap refused left out."),
    "csv: a last line that is cut": ("op,object,size\nalloc,0,8\nalloc,1,9\nfre",
        {"size": [8, 9]},
        f"{CUT}line 4: the file ends inside this line (it was cut short; copy or record it again)"),
    "rep: its operations": (f"{REP}a 0 512\na 1 128\nr 0 640\nf 1\n",
        {"op": [0, 0, 3, 4], "size": [512, 128, 640, 0]}),
    "rep: fewer operations than announced": (f"{REP}a 0 512\na 1 128\n", {"size": [512, 128]},
        f"{CUT}operation 3 of 4: the file was cut short"),
    "rep: cut behind a number": (f"{REP}a 0 512\na 1 12", {},
        f"{CUT}operation 3 of 4: the file was cut short (so may be the last number of line 6)"),
    "rep: cut in a line": (f"{REP}a 0 512\na", {},
        f"{CUT}line 6: the file ends inside this line (it was cut short; copy or record it again)"),
}  # fmt: skip


@pytest.mark.parametrize("rule", [*READ, *READ_OTHERWISE])
def test_what_is_read(rule):
    text, expected, *told = READ.get(rule) or READ_OTHERWISE[rule]
    columns, notes = read(text, rule.partition(":")[0] if rule in READ_OTHERWISE else "text")
    assert {name: columns[name] for name in expected} == expected
    assert notes == told


def test_dropped_events_are_counted_and_leave_the_rest_as_it_is():
    columns, notes = read("f 9\na 0 8\na 0 16\nr 7 5\nr 7 0\nf 0\nf 0\n", drop_unknown=True)
    assert columns["op"] == [0, 4, 0, 4]
    assert columns["size"] == [8, 0, 16, 0]
    assert notes == [
        "1 block taken as freed, in whose place others were given.",
        "2 resizes of unknown ids dropped.",
        "2 frees of unknown or freed ids dropped, the first of 9.",
    ]


NO_NUMBERS = ("-1", "+1", "1_000", "1e3", "0x10", "٣", "nan", "inf", "8.0", f"{LARGEST + 1}")
REFUSED = [
    ("text", "a 0 8\n\nf 3\n", "line 3: free of unknown or freed id 3"),
    ("text", "a 0 8\nf 0\nf 0\n", "line 3: free of unknown or freed id 0"),
    (
        "text",
        "a 4 8\na 4 9\n",
        "line 2: id 4 is allocated again "
        "(heapfit import --drop-unknown takes such blocks as freed before and counts them)",
    ),
    ("text", "a 0 8\nr 1 9\n", "line 2: resize of unknown id 1"),
    ("text", "a 0 8\nf 536875008\n", "line 2: free of unknown or freed id 536875008 (0x20001000)"),
    *(("text", f"a 0 8\na 1 {word}\n", "line 2: size ") for word in NO_NUMBERS),
    *(("text", f"a 0 8 {word}\n", "line 1: dt ") for word in NO_NUMBERS),
    *(
        ("csv", f"{CSV}alloc,0,8,0,{word}\n", "line 2: time ")
        for word in ("-1", "1.5.2", "1e9", "1.")
    ),
    ("text", f"a 0 8 {LARGEST}\na 1 8 1\n", "line 1: time "),
    ("text", f"a 0 8 {1 << 62}\na 1 8 {1 << 62}\n", "line 2: time "),
    *(
        ("text", f"m 0 8 {one}\n", f"line 1: alignment {one} is ")
        for one in (3, 12, 24, 1 << 25, 1 << 32, 1 << 63, LARGEST)
    ),
    *(("text", text, "no allocation in it") for text in ("", "\n\n", "# name x\n", "# all of it")),
    ("text", "f 0 1 1 ff\n", "line 1: more fields than the event has"),
    ("text", "a 0 8 1 1 zz\n", 'line 1: site "zz"'),
    ("text", "a 0\n", 'line 1: size ""'),
    ("text", f"a 0 8\n{'#' * 4097}\n", "line 2: longer than 4096 bytes"),
    ("text", f"a 0 8\n{'#' * 4100}", "line 2: longer than 4096 bytes"),
    ("text", "# heap-events 2\na 0 8\n", "line 1: heap-events of another version"),
    ("text", "# pointer_bits 327\na 0 8\n", "line 1: pointer_bits "),
    ("text", "a 0 8\na 1 9\nr 0\n", "line 3: "),
    (
        "rep",
        f"{REP}a 0 1\nf 0\na 1 1\nf 1\na 0 1\n",
        "line 9: more operations than the 4 announced",
    ),
    ("rep", f"{REP}a 2 1\n", "line 5: id 2 is not below the 2 ids announced"),
    ("csv", "op,object,size\nalloc,0,8\nalloc,1,9\nfre\n", "line 4: "),
    ("csv", "op,object\n", "line 1: no column size"),
    ("csv", "op,object,size,size\n", "line 1: column size twice"),
    ("csv", "op,object,size\nalloc,0\n", "line 2: 2 fields where the header names 3"),
    ("csv", "op,object,size\nfree,0,8,\n", "line 2: 4 fields where the header names 3"),
    ("csv", "op,object,size\nmunmap,0,8\n", 'line 2: op "munmap" is none of'),
    ("csv", "op,object,size\nalloc,,8\n", 'line 2: object ""'),
    ("csv", "op,object,size\nalloc,0,\n", 'line 2: size ""'),
    ("csv", 'op,object,size\n"alloc,0,8\n', "line 2: a quoted field does not end"),
    ("csv", 'op,object,size\n"alloc"x,0,8\n', "line 2: text after a quoted field"),
    ("csv", "op,object,size\nalloc,0x,8\n", 'line 2: object ""'),
    ("csv", "", "ends before the line that names the columns"),
]


@pytest.mark.parametrize(("reader", "text", "told"), REFUSED)
def test_what_is_refused(reader, text, told):
    assert refusal(text, reader).startswith(told)


def test_refusals_name_the_rule_and_the_way_out():
    assert "--drop-unknown" in refusal("f 0\n")
    assert "only an aligned allocation" in refusal(f"{CSV}alloc,0,8,16,0\n", "csv")
    assert "four header lines" in refusal("2000\n2\n", "rep")
    assert refusal("f 0\nf 1\n", drop_unknown=True) == "no allocation in it"
    assert "time" in refusal(f"a 0 8\nf 9 {LARGEST}\nf 9 1\n", drop_unknown=True)


def test_live_bytes_that_overflow_are_refused():
    lines = [f"a {i} {MOST}\n" for i in range(1 << 16)]
    assert read("".join(lines[:-1]))[0]["size"] == [MOST] * ((1 << 16) - 1)
    assert refusal("".join(lines)) == "line 65536: the live bytes overflow"


def test_a_word_of_the_input_is_quoted_without_its_controls_and_shortened():
    told = refusal(f"a 0 \x1b[2J{'9' * 100}\n")
    assert "\x1b" not in told
    assert len(told) < 150


def test_the_header_tells_program_source_and_pointer_size():
    reader = _engine.TextTrace()
    reader.feed(b"# heap-events 1\n# name my program\n# source a b  c\n# pointer_bits 32\na 0 1\n")
    assert (reader.program, reader.source, reader.pointer_bits) == ("my program", "a b  c", 32)


@pytest.mark.parametrize(("told", "known"), [("?", 0), ("0", 0), ("32", 32), ("64", 64)])
def test_a_pointer_size_is_32_64_or_unknown(told, known):
    reader = _engine.TextTrace()
    reader.feed(f"# pointer_bits {told}\na 0 1\n".encode())
    assert reader.pointer_bits == known


@pytest.mark.parametrize("width", [1, 2, 3, 7])
def test_how_a_file_is_cut_into_chunks_does_not_matter(width):
    text = "# name x\na 0 8 1 1 ab\r\nm 1 16 64 5\n\nr 0 9\nf 1"
    assert read(text, width=width) == read(text)


def test_of_lifetimes_a_last_line_that_is_cut_is_left_out():
    text = "size,lower,upper\n8,0,9\n9,"
    reader = _engine.LifetimeTrace(False)
    reader.feed(text.encode())
    reader.finish()
    assert reader.take()["size"].tolist()[0] == 8
    assert reader.notes[-1].startswith(f"{CUT}line 3: the file ends inside")


@pytest.mark.parametrize("separator", [",", ";", "\t", " , ", " ;"])
@pytest.mark.parametrize("name", ["size", "Size", '"SIZE"'])
def test_tables_are_read_as_spreadsheets_write_them(separator, name):
    matches = {one.name: one.matches for one in FORMATS}
    lines = [["op", "object", name], ["alloc", "0X10", "8"], ["free", '"0x10"', ""]]
    text = "".join(separator.join(line) + "\r\n" for line in lines)
    assert matches["csv"](text.encode())
    assert read(text, "csv")[0]["size"] == [8, 0]
    lines = [["Lower", "END", name], ["0", '"5"', "8"]]
    text = "".join(separator.join(line) + "\n" for line in lines)
    assert matches["minimalloc"](text.encode())
    reader = _engine.LifetimeTrace(False)
    reader.feed(text.encode())
    reader.finish()
    assert reader.take()["time"].tolist() == [0, 6]


# ---- whatever a program does

ID = st.integers(0, 6)  # few, so that ids are met again
SIZE = st.one_of(st.integers(0, 64), st.integers(0, 1 << 47))
STEP = st.integers(0, 1 << 32)
THREAD = st.integers(0, (1 << 32) - 1)
SITE = st.integers(0, (1 << 32) - 1)
LINE = st.tuples(st.sampled_from("acmrf"), ID, SIZE, st.integers(0, 24), STEP, THREAD, SITE)


def text_of(lines):
    """Each line with all its fields."""
    written = []
    for op, object_id, size, log2, step, thread, site in lines:
        words = [op, object_id]
        words += [size] if op != "f" else []
        words += [1 << log2] if op == "m" else []
        words += [step, thread]
        words += [f"{site:x}"] if op != "f" else []
        written.append(" ".join(map(str, words)))
    return "\n".join(written)


def model_of(lines):
    """The rows that the replay rules ask for, with events of unknown objects dropped.

    What is allocated again while it is live was freed before, which nobody saw.
    """
    rows = {name: [] for name in COLUMNS}

    def put(*row):
        for name, value in zip(COLUMNS, row, strict=True):
            rows[name].append(value)

    live = {}
    objects = 0
    time = 0
    for op, object_id, size, log2, step, thread, site in lines:
        time += step
        is_allocation = op in "acm"
        if is_allocation and object_id in live:
            put(4, live[object_id], 0, 0, time, 0, 0)
        elif not is_allocation and object_id not in live:
            continue
        if is_allocation:
            live[object_id] = objects
            objects += 1
        is_free = op == "f" or (op == "r" and size == 0)
        put(
            4 if is_free else "acmrf".index(op),
            live[object_id],
            0 if is_free else size,
            1 << log2 if op == "m" else 0,
            time,
            thread,
            0 if op == "f" else site,
        )
        if is_free:
            del live[object_id]
    first = rows["time"][0] if rows["time"] else 0
    rows["time"] = [time - first for time in rows["time"]]
    return rows


@settings(max_examples=200, derandomize=True)
@given(st.lists(LINE, max_size=60))
def test_text_stored_and_read_again_equals_the_model(lines):
    lines = [("a", 99, 1, 0, 0, 1, 1), *lines]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.write_text(text_of(lines))
        options = ImportOptions(drop_unknown=True)
        trace = import_file(source, Path(folder) / "t.parquet", options)
        (batch,) = trace.batches(list(COLUMNS))
        assert {name: batch[name].tolist() for name in batch} == model_of(lines)
        assert trace.info.events == len(trace.events()) == len(batch["op"])
