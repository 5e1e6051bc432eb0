# SPDX-License-Identifier: Apache-2.0
"""The replay rules, one statement each, as the engine's readers keep to them."""

from __future__ import annotations

import pytest

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers.formats import _is_csv as is_csv
from heapfit.importers.formats import _is_lifetimes as is_lifetimes
from heapfit.trace.operations import ALIGNED, ALLOC, FREE, RESIZE, ZEROED

CSV = "op,object,size,alignment,time\n"


def read(text, reader=_engine.TextTrace, drop_unknown=False):
    """The columns as lists, and the notes."""
    engine = reader(drop_unknown)
    engine.feed(text.encode())
    engine.finish()
    return {name: column.tolist() for name, column in engine.take().items()}, engine.notes


def refusal(text, reader=_engine.TextTrace):
    with pytest.raises(HeapfitError) as caught:
        read(text, reader)
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


def test_ids_may_be_used_again_after_a_free_and_name_a_new_object():
    columns, _ = read("a 5 1\nf 5\na 5 2\na 6 3\nf 5\n")
    assert columns["object"] == [0, 0, 1, 2, 1]


def test_ids_may_be_any_64_bit_number():
    columns, _ = read("a 18446744073709551615 1\na 0 2\nf 18446744073709551615\n")
    assert columns["object"] == [0, 1, 0]


def test_fields_may_be_missing_from_the_right():
    columns, _ = read("a 0 8\na 1 8 3\na 2 8 4 9\n")
    assert columns["time"] == [0, 3, 7]
    assert columns["thread"] == [0, 0, 9]
    assert columns["site"] == [0, 0, 0]


def test_a_free_of_an_unknown_id_is_refused_with_its_line():
    assert refusal("a 0 8\n\nf 3\n").startswith("line 3: free of unknown or freed id 3")


def test_a_double_free_is_refused_with_its_line():
    assert refusal("a 0 8\nf 0\nf 0\n").startswith("line 3: free of unknown or freed id 0")


def test_a_second_allocation_of_a_live_id_is_refused_with_its_line():
    assert refusal("a 4 8\na 4 9\n") == (
        "line 2: id 4 is allocated again "
        "(heapfit import --drop-unknown takes such blocks as freed before and counts them)"
    )


def test_a_resize_of_an_unknown_id_is_refused_with_its_line():
    assert refusal("a 0 8\nr 1 9\n").startswith("line 2: resize of unknown id 1")


def test_a_refusal_that_dropping_avoids_says_so():
    assert "--drop-unknown" in refusal("f 0\n")


def test_dropped_events_are_counted_and_leave_the_rest_as_it_is():
    columns, notes = read("f 9\na 0 8\na 0 16\nr 7 5\nr 7 0\nf 0\nf 0\n", drop_unknown=True)
    assert columns["op"] == [0, 4, 0, 4]
    assert columns["size"] == [8, 0, 16, 0]
    assert notes == [
        "1 block taken as freed, in whose place others were given.",
        "2 resizes of unknown ids dropped.",
        "2 frees of unknown ids dropped.",
    ]


def test_a_resize_keeps_the_object():
    columns, _ = read("a 3 8\nr 3 80\nr 3 8\nf 3\n")
    assert columns["object"] == [0, 0, 0, 0]
    assert columns["size"] == [8, 80, 8, 0]


def test_a_resize_to_0_is_a_free_and_told():
    columns, notes = read("a 3 8\nr 3 0\na 3 8\n")
    assert columns["op"] == [0, 4, 0]
    assert columns["object"] == [0, 0, 1]
    assert notes == ["1 resize to 0 bytes taken as a free."]


def test_a_request_for_0_bytes_is_kept():
    columns, notes = read("a 0 0\nf 0\n")
    assert columns["size"] == [0, 0]
    assert notes == []


@pytest.mark.parametrize("size", [(1 << 47) + 1, 1 << 63, (1 << 64) - 1])
def test_a_size_beyond_any_address_space_is_stored_as_the_largest(size):
    columns, notes = read(f"a 0 {1 << 47}\nr 0 {size}\na 1 {size}\n")
    assert columns["size"] == [1 << 47] * 3
    assert notes == ["2 sizes above 2^47 stored as 2^47."]


@pytest.mark.parametrize("size", [0, 1 << 31, 1 << 32])
def test_sizes_around_32_bits_pass(size):
    assert read(f"a 0 {size}\n")[0]["size"] == [size]


@pytest.mark.parametrize(
    "word", ["-1", "+1", "1_000", "1e3", "0x10", "٣", "nan", "inf", "8.0", "18446744073709551616"]
)
def test_a_size_that_is_not_plain_digits_is_refused(word):
    assert refusal(f"a 0 8\na 1 {word}\n").startswith("line 2: size ")


@pytest.mark.parametrize("word", ["-1", "nan", "inf", "1.5", "1e9", "18446744073709551616"])
def test_a_time_that_is_no_number_of_microseconds_is_refused(word):
    assert refusal(f"a 0 8 {word}\n").startswith("line 1: dt ")
    assert refusal(f"{CSV}alloc,0,8,0,{word}\n", _engine.CsvTrace).startswith("line 2: time ")


def test_live_bytes_that_overflow_are_refused():
    lines = [f"a {i} {1 << 47}\n" for i in range(1 << 16)]
    assert read("".join(lines[:-1]))[0]["size"] == [1 << 47] * ((1 << 16) - 1)
    assert refusal("".join(lines)) == "line 65536: the live bytes overflow"


def test_a_time_below_its_predecessor_is_set_to_it_and_counted():
    columns, notes = read(
        f"{CSV}alloc,0,8,0,100\nalloc,1,8,0,90\nalloc,2,8,0,95\nalloc,3,8,0,130\n",
        _engine.CsvTrace,
    )
    assert columns["time"] == [0, 0, 0, 30]
    assert notes == ["2 times below their predecessors set to them."]


def test_a_gap_above_one_hour_is_kept_and_counted():
    hour = 3_600_000_000
    columns, notes = read(f"a 0 8\na 1 8 {hour}\na 2 8 {hour + 1}\n")
    assert columns["time"] == [0, hour, 2 * hour + 1]
    assert notes == ["1 gap above one hour (one second in plots)."]


def test_a_time_that_overflows_is_refused():
    assert refusal(f"a 0 8 {(1 << 64) - 1}\na 1 8 1\n").startswith("line 1: time ")
    assert refusal(f"a 0 8 {1 << 62}\na 1 8 {1 << 62}\n").startswith("line 2: time ")
    late = "a 0 8\n" + f"f 9 {(1 << 64) - 1}\nf 9 1\n"
    with pytest.raises(HeapfitError, match="time"):
        read(late, drop_unknown=True)


@pytest.mark.parametrize("alignment", [1, 2, 8, 4096, 1 << 24])
def test_an_alignment_that_is_a_power_of_two_passes(alignment):
    assert read(f"m 0 8 {alignment}\n")[0]["alignment"] == [alignment]


def test_alignment_0_is_the_heaps_own():
    assert read("m 0 8 0\n")[0]["alignment"] == [0]


@pytest.mark.parametrize("alignment", [3, 12, 24, 1 << 25, 1 << 32, 1 << 63, (1 << 64) - 1])
def test_other_alignments_are_refused(alignment):
    assert refusal(f"m 0 8 {alignment}\n").startswith(f"line 1: alignment {alignment} is ")


def test_only_an_aligned_allocation_has_an_alignment():
    assert "only an aligned allocation" in refusal(f"{CSV}alloc,0,8,16,0\n", _engine.CsvTrace)


@pytest.mark.parametrize("text", ["", "\n\n", "# name x\n", "# heap-events 1\n# all comments"])
def test_a_trace_without_an_allocation_is_refused(text):
    assert refusal(text) == "no allocation in it"


def test_a_trace_whose_every_event_is_dropped_is_refused():
    with pytest.raises(HeapfitError, match="no allocation in it"):
        read("f 0\nf 1\n", drop_unknown=True)


def test_lines_of_other_text_are_passed_over_and_counted():
    columns, notes = read("a 0 8\nx 1 2\nhello, world\n\nf 0\n")
    assert columns["op"] == [ALLOC, FREE]
    assert notes == ["2 lines of other text passed over, the first is line 2."]


def test_an_unknown_field_is_refused():
    assert refusal("f 0 1 1 ff\n") == "line 1: more fields than the event has"
    assert refusal("a 0 8 1 1 zz\n").startswith('line 1: site "zz"')
    assert refusal("a 0\n").startswith('line 1: size ""')


def test_a_word_of_the_input_is_quoted_without_its_controls_and_shortened():
    told = refusal(f"a 0 \x1b[2J{'9' * 100}\n")
    assert "\x1b" not in told
    assert len(told) < 150


def test_a_line_may_be_long_but_not_longer_than_the_bound():
    comment = "#" * 4096
    assert read(f"{comment}\na 0 8\n")[0]["size"] == [8]
    assert refusal(f"a 0 8\n{comment}#\n") == "line 2: longer than 4096 bytes"
    assert refusal(f"a 0 8\n{comment}####") == "line 2: longer than 4096 bytes"


def test_blank_lines_carriage_returns_and_a_missing_last_newline_are_fine():
    assert read("a 0 8\r\n\r\n  \na 1  9\t3 \nf 0")[0]["op"] == [0, 0, 4]


def test_the_header_tells_program_source_and_pointer_size():
    reader = _engine.TextTrace()
    reader.feed(b"# heap-events 1\n# name my program\n# source a b  c\n# pointer_bits 32\na 0 1\n")
    assert (reader.program, reader.source, reader.pointer_bits) == ("my program", "a b  c", 32)


@pytest.mark.parametrize(("told", "known"), [("?", 0), ("0", 0), ("32", 32), ("64", 64)])
def test_a_pointer_size_is_32_64_or_unknown(told, known):
    reader = _engine.TextTrace()
    reader.feed(f"# pointer_bits {told}\na 0 1\n".encode())
    assert reader.pointer_bits == known
    assert refusal(f"# pointer_bits {told}7\n").startswith("line 1: pointer_bits ")


def test_another_version_of_the_text_form_is_refused():
    assert refusal("# heap-events 2\na 0 8\n").startswith("line 1: heap-events of another version")


@pytest.mark.parametrize("width", [1, 2, 3, 7])
def test_how_a_file_is_cut_into_chunks_does_not_matter(width):
    text = b"# name x\na 0 8 1 1 ab\r\nm 1 16 64 5\n\nr 0 9\nf 1"
    whole, parts = _engine.TextTrace(), _engine.TextTrace()
    whole.feed(text)
    for start in range(0, len(text), width):
        parts.feed(text[start : start + width])
    whole.finish()
    parts.finish()
    expected, got = whole.take(), parts.take()
    assert {name: expected[name].tolist() for name in expected} == {
        name: got[name].tolist() for name in got
    }


REP = "2000\n2\n4\n1\n"


def test_a_rep_file_gives_its_operations():
    columns, _ = read(f"{REP}a 0 512\na 1 128\nr 0 640\nf 1\n", _engine.RepTrace)
    assert columns["op"] == [0, 0, 3, 4]
    assert columns["size"] == [512, 128, 640, 0]


def test_of_a_rep_file_with_fewer_operations_than_announced_these_are_read():
    columns, notes = read(f"{REP}a 0 512\na 1 128\n", _engine.RepTrace)
    assert columns["size"] == [512, 128]
    assert notes == ["The rest is left out, from operation 3 of 4: the file was cut short"]


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (
            "a 1 12",
            "operation 3 of 4: the file was cut short (so may be the last number of line 6)",
        ),
        ("a", "line 6: the file ends inside this line (it was cut short; copy or record it again)"),
    ],
)
def test_of_a_rep_file_that_is_cut_inside_a_line_one_note_tells_where(end, told):
    _, notes = read(f"{REP}a 0 512\n{end}", _engine.RepTrace)
    assert notes == [f"The rest is left out, from {told}"]


@pytest.mark.parametrize(
    ("text", "reader"),
    [
        ("a 0 8\na 1 9\nr 0", _engine.TextTrace),
        ("op,object,size\nalloc,0,8\nalloc,1,9\nfre", _engine.CsvTrace),
        ("size,lower,upper\n8,0,9\n9,", _engine.LifetimeTrace),
    ],
)
def test_a_last_line_that_is_cut_is_left_out_and_told(text, reader):
    columns, notes = read(text, reader)
    assert columns["size"][0] == 8
    line = text.count("\n") + 1
    assert notes[-1].startswith(f"The rest is left out, from line {line}: the file ends inside")
    with pytest.raises(HeapfitError):
        read(f"{text}\n", reader)


def test_a_rep_file_with_more_operations_than_announced_is_refused():
    told = refusal(f"{REP}a 0 1\nf 0\na 1 1\nf 1\na 0 1\n", _engine.RepTrace)
    assert told == "line 9: more operations than the 4 announced"


def test_a_rep_id_not_below_their_number_is_refused():
    told = refusal(f"{REP}a 2 1\n", _engine.RepTrace)
    assert told == "line 5: id 2 is not below the 2 ids announced"


def test_a_rep_file_cut_in_its_header_is_refused():
    assert "four header lines" in refusal("2000\n2\n", _engine.RepTrace)


def test_csv_columns_may_come_in_any_order_and_quoted():
    columns, _ = read(
        'site,"op",size,object,time,thread,alignment\n'
        "0xff,malloc,8,0x7f00aa,10,3,\n"
        '16,"calloc","9",1,11,,0\n'
        ",posix_memalign,10,2,12,1,64\n"
        ",realloc,11,0x7f00aa,13,1,\n"
        ",free,,1,14,1,\n",
        _engine.CsvTrace,
    )
    assert columns == {
        "op": [0, 1, 2, 3, 4],
        "object": [0, 1, 2, 0, 1],
        "size": [8, 9, 10, 11, 0],
        "alignment": [0, 0, 64, 0, 0],
        "time": [0, 1, 2, 3, 4],
        "thread": [3, 0, 1, 1, 1],
        "site": [0xFF, 16, 0, 0, 0],
    }


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("alloc", 0),
        ("malloc", 0),
        ("zeroed", 1),
        ("calloc", 1),
        ("aligned", 2),
        ("memalign", 2),
        ("aligned_alloc", 2),
        ("posix_memalign", 2),
    ],
)
def test_csv_operations_have_their_c_names_too(name, op):
    assert read(f"op,object,size\n{name},0,8\n", _engine.CsvTrace)[0]["op"] == [op]


@pytest.mark.parametrize("separator", [",", ";", "\t", " , ", " ;"])
@pytest.mark.parametrize("name", ["size", "Size", '"SIZE"'])
def test_tables_are_read_as_spreadsheets_write_them(separator, name):
    lines = [["op", "object", name], ["alloc", "0X10", "8"], ["free", '"0x10"', ""]]
    text = "".join(separator.join(line) + "\r\n" for line in lines)
    assert is_csv(text.encode())
    assert read(text, _engine.CsvTrace)[0]["size"] == [8, 0]
    lines = [["Lower", "END", name], ["0", '"5"', "8"]]
    text = "".join(separator.join(line) + "\n" for line in lines)
    assert is_lifetimes(text.encode())
    assert read(text, _engine.LifetimeTrace)[0]["time"] == [0, 6]


def test_csv_is_read_as_tools_write_it_that_keep_gaps_as_fractions():
    text = "op,object,size,function\nMALLOC,1,24.0,main\nfree,1\n"
    columns, notes = read(text, _engine.CsvTrace)
    assert (columns["op"], columns["size"]) == ([ALLOC, FREE], [24, 0])
    assert notes == ['Column "function" passed over: not known.']


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("op,object\n", "line 1: no column size"),
        ("op,object,size,size\n", "line 1: column size twice"),
        ("op,object,size\nalloc,0\n", "line 2: 2 fields where the header names 3"),
        ("op,object,size\nfree,0,8,\n", "line 2: 4 fields where the header names 3"),
        ("op,object,size\nmunmap,0,8\n", 'line 2: op "munmap" is none of'),
        ("op,object,size\nalloc,,8\n", 'line 2: object ""'),
        ("op,object,size\nalloc,0,\n", 'line 2: size ""'),
        ('op,object,size\n"alloc,0,8\n', "line 2: a quoted field does not end"),
        ('op,object,size\n"alloc"x,0,8\n', "line 2: text after a quoted field"),
        ("op,object,size\nalloc,0x,8\n", 'line 2: object ""'),
        ("", "ends before the line that names the columns"),
    ],
)
def test_a_malformed_csv_file_is_refused(text, told):
    assert refusal(text, _engine.CsvTrace).startswith(told)
