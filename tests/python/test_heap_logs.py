# SPDX-License-Identifier: Apache-2.0
"""Logs of heap calls in the forms that people have, and files of heaptrack in both forms."""

import gzip
import tomllib
from pathlib import Path

import pyarrow as pa
import pytest
from readers import read_log

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, import_file
from heapfit.importers.boots import cut_boots
from heapfit.importers.formats import find_format
from heapfit.programs.source_lines import site_hash
from program import call_heapfit

ALLOC, ZEROED, ALIGNED, RESIZE, FREE = range(5)
TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def events_of(text: str) -> list[tuple[int, int, int]]:
    """Of "alloc 0 16, free 0": what is done, the block's number, and its bytes."""
    words = [f"{one} 0".split()[:3] for one in text.split(", ")]
    ops = ("alloc", "zeroed", "aligned", "resize", "free")
    return [(ops.index(op), int(block), int(size)) for op, block, size in words]


# In each a block is allocated, moved or made larger where the form can tell that, and freed.
LOGS = {name: (one["text"], events_of(one["events"])) for name, one in TABLES["logs"].items()}


@pytest.mark.parametrize("form", LOGS)
@pytest.mark.parametrize("step", [1, 1000])
def test_lines_become_the_events_they_tell(form, step):
    text, rows = LOGS[form]
    reader, found, _ = read_log(b"boot: 3 tasks\r\n" + text.encode(), step)
    assert found == rows
    assert reader.source == form
    assert any("of other text passed over." in note for note in reader.notes)


@pytest.mark.parametrize("form", LOGS)
def test_a_log_is_known_by_its_lines(form, tmp_path):
    log = tmp_path / "device.log"
    log.write_text("*** Booting ***\n" + LOGS[form][0])
    assert import_file(log, tmp_path / "device.parquet").info.source == form


def test_every_form_of_the_page_has_its_sample():
    page = (Path(__file__).parents[2] / "docs/import-formats.md").read_text(encoding="utf-8")
    table = page.partition("| form | a line | sizes |\n|---|---|---|\n")[2].partition("\n\n")[0]
    assert len(table.splitlines()) == len(LOGS)
    assert f"in one of {len(LOGS)} forms" in page


# FreeRTOS's calls, and the sizes read: blocks that touch have a header, but heap_1's, which frees
# nothing; heap_3 passes what was asked for.
MALLOC, NEXT = "traceMALLOC(0x20000100, 32)\n", "traceMALLOC(0x20000120, 16)\n"
GIVEN = "traceFREE(0x20000100, 32)\n"
PRINTED = {
    MALLOC + NEXT + GIVEN: [24, 8],
    NEXT + MALLOC + GIVEN: [8, 24],
    (MALLOC + NEXT + GIVEN).replace("0x2", "0x7f002"): [16, 0],
    MALLOC + NEXT: [32, 16],
    MALLOC + GIVEN + NEXT: [32, 16],
    MALLOC + "traceMALLOC(0x20000128, 13)\n" + GIVEN: [32, 13],
    MALLOC + "traceMALLOC(0x0, 8)\n" + NEXT + GIVEN: [24, 8],
}


@pytest.mark.parametrize("text", PRINTED)
def test_a_chunk_of_freertos_is_read_without_its_header(text):
    _, found, _ = read_log(text.encode(), 1000)
    assert [size for op, _, size in found if op == 0] == PRINTED[text]


@pytest.mark.parametrize("form", [one for one in LOGS if one.startswith(("NuttX", "FreeRTOS"))])
def test_sizes_that_are_no_requests_are_told(form):
    reader, _, _ = read_log(LOGS[form][0].encode())
    assert any(note.startswith("Sizes are those of") for note in reader.notes)


# What calls are, by their lines: events, and what is told.
CALLS = {
    name: (one["text"], events_of(one["events"]), one.get("notes"))
    for name, one in TABLES["calls"].items()
} | {
    "a long line without a call is counted once": (
        "x" * 20000 + "\nmalloc(8) = 0x10\n" + "y " * 5000 + "\n",
        [(ALLOC, 0, 8)],
        ["2 lines of other text passed over."],
    ),
}


@pytest.mark.parametrize(("text", "rows", "notes"), CALLS.values(), ids=CALLS.keys())
def test_calls_are_what_their_lines_tell(text, rows, notes):
    reader, found, _ = read_log(text.encode())
    assert found == rows
    assert notes is None or reader.notes == notes


def test_what_was_freed_before_a_list_was_made_is_told():
    """It lives until its address is given again, which is the most that it can have."""
    text, _ = LOGS["ESP-IDF's heap trace"]
    reader, _, _ = read_log(text.encode())
    assert reader.notes[:2] == [
        "A list tells what was live then, not what had come and gone before.",
        "1 block was freed at a time that the log does not tell: taken as live until the address "
        "is given again, or to the end. The peak is at most what is shown.",
    ]
    line = "{} bytes (@ 0x{}) allocated CPU 0 ccount 0x1 caller 0x2\n"
    text = line.format(8, 10) + "freed by 0x3\n" + line.format(9, 20)
    _, rows, _ = read_log(text.encode())
    assert rows == [(ALLOC, 0, 8), (ALLOC, 1, 9), (FREE, 0, 0)]


@pytest.mark.parametrize("form", ["NuttX's memdump", "ESP-IDF's heap trace"])
def test_another_list_begins_anew(form):
    """What it does not repeat is gone; the peak is the larger list's."""
    text, rows = LOGS[form]
    reader, twice, _ = read_log((text + text).encode())
    live = {event[1] for event in rows if event[0] == ALLOC} - {
        event[1] for event in rows if event[0] == FREE
    }
    assert twice[: len(rows)] == rows
    assert {event[1] for event in twice[len(rows) :] if event[0] == FREE} >= live
    assert not any("in whose place" in note for note in reader.notes)


def test_an_order_that_a_table_does_not_tell_is_missed():
    text = "Size Address\n64 0x100\n128 0x200\nxx 0x300\n7 zz\n7 0xfffffffffffffffff\n"
    reader, rows, _ = read_log(text.encode())
    assert rows == [(ALLOC, 0, 64), (ALLOC, 1, 128)]
    assert any("order of their requests is not told" in note for note in reader.notes)


@pytest.mark.parametrize("step", [7, 1 << 20])
@pytest.mark.parametrize("between", [" ", ", ", "|", ")"])
@pytest.mark.parametrize(
    "form",
    ["malloc({size}) = 0x{at:x}", "Alloc: 0x{at:x} -> {size} at f.c:3", "#m:0x{at:x};0-{size}"],
)
def test_no_call_is_lost_where_a_long_line_is_cut(form, between, step):
    """Lines are read in pieces: a call that begins in one and ends in the next is whole."""
    calls = [form.format(size=100 + i, at=0x20000000 + 64 * i) for i in range(400)]
    reader, rows, _ = read_log(("(" * 5000 + between.join(calls) + "\n").encode(), step)
    assert rows == [(ALLOC, i, 100 + i) for i in range(400)]
    assert reader.notes == []


TOOL_LOGS = sorted(Path(__file__).with_name("tool_logs").iterdir())
# malloc(24), calloc(5, 20), realloc to 60, free, aligned_alloc(64, 128), free, realloc to 4000
TOOL_SIZES = [24, 100, 60, 0, 128, 0, 4000]


@pytest.mark.parametrize("log", TOOL_LOGS, ids=lambda log: log.stem)
def test_what_a_tool_wrote_of_one_program_is_read(log, tmp_path):
    """ltrace 0.7.3 with the options in the name, uftrace 0.13, glibc 2.36, valgrind 3.19."""
    trace = import_file(log, tmp_path / "t.parquet")
    (batch,) = trace.batches(("op", "object", "size"))
    assert batch["size"].tolist() == TOOL_SIZES
    assert batch["object"].tolist() == [0, 1, 0, 1, 2, 2, 0]
    assert (batch["op"] == FREE).tolist() == [size == 0 for size in TOOL_SIZES]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("heap_v2/524288\n  t*: 1: 64 [0: 0]\n", "jemalloc, which has samples"),
        ("heap profile: 1: 64 [1: 64] @ heapprofile\n", "tcmalloc, which has sums"),
        ("desc: --massif\ncmd: ./a\n", "massif, which has snapshots"),
        ('{"dhatFileVersion":2\n', "DHAT, which has sums"),
        ("FLR\0\0\2\0\1", "Flight Recorder"),
        ("Z\4\10\1\20\2`x\n\4\10\3\20\4\n\4\10\5\20\2", "pprof, as of Go"),
        ("\n\4\10\1\20\2\n\4\10\3\20\4\22", "pprof, as of Go"),
        ("# callgrind format\nversion: 1\n", "callgrind, which counts"),
        ("version: 1\ncreator: callgrind-3.19\n", "callgrind, which counts"),
        ("Dr. Memory version 2.5.0 build 0\n", "report of Dr. Memory"),
        ('{"nodes":[{"id":1,"callFrame":{}}]}', "profile of the processor's time"),
        ('{"$schema":"https://www.speedscope.app/x"}', "profile of the processor's time"),
        ("gmon\1\0\0\0", "profile of gprof"),
        ("!<arch>\nf.o/  0", "library of objects"),
        ("PAGEDU64 x", "dump of Windows"),
        ("Nettrace\24\0", "trace of .NET or Tracy"),
        ("Component: ARM Compiler 5.06 Tool: armlink\n", "linker map of Arm's"),
        ("#" * 79 + "\n# IAR ELF Linker V9.20\n", "linker map of Arm's"),
        ("MDF     4.10    ", "log of a CAN bus"),
        ("date Tue Jan 20 10:00:00.000 am 2026\nbase hex  timestamps\n", "log of a CAN bus"),
        ('<?xml version="1.0"?>\n<svg xmlns="x"></svg>', "picture or a document"),
        (
            "[12:00] Total : 960320 (100%)\n[12:00]   - Free (Current)      : 922018 (95%)\n",
            r"heapinfo, .* can be replayed from it \(heapfit forecast LOG says",
        ),
    ],
)
def test_a_profile_without_events_is_named(content, what, tmp_path):
    log = tmp_path / "profile"
    log.write_text(content)
    with pytest.raises(HeapfitError, match=what):
        import_file(log, tmp_path / "t.parquet")


@pytest.mark.parametrize("content", [b"free(0x10)\n", b"x" * 5000])
def test_what_is_no_log_is_refused(content):
    with pytest.raises(HeapfitError, match="no allocation in it"):
        read_log(content)


# ---- heaptrack
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
        "1 free of an unknown or freed id dropped: 153.",
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
    assert reader.notes[-1] == "1 free of an unknown or freed id dropped."


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


# ---- boots, callers, lists and other files

BOOT = "*** Booting Zephyr OS build v3.7.0 ***\n"
CALLS_OF_A_BOOT = "malloc({}) = 0x20001000\nmalloc(8) = 0x20001100\nfree(0x20001000)\n"


CLOCKS_OF_BOOTS = (
    *("[{:6}][I][main.cpp:42] loop(): ", "[{}] ", "[{:8}] ", "{}: ", "[I][{}] ", "I ({}) heap: "),
    *("[{:05}] ", "00> [{:8}] ", "{} ms ", "[ {} ] "),
)


def print_boots(clock: str, *times: int, boots: int = 2) -> str:
    """Requests at these milliseconds of each boot."""
    return "".join(
        f"{clock.format(time)}malloc({16 + boot}) = 0x{0x2000_0000 + 64 * i:08x}\n"
        for boot in range(boots)
        for i, time in enumerate(times)
    )


@pytest.mark.parametrize(
    ("text", "events"),
    [
        (BOOT + CALLS_OF_A_BOOT.format(24) + BOOT + CALLS_OF_A_BOOT.format(40), [3, 3]),
        (CALLS_OF_A_BOOT.format(24) + BOOT + "wifi\n" + BOOT + "malloc(9) = 0x20\n", [3, 1]),
        (
            "I (900) a: malloc(8) = 0x100\nI (90000) a: free(0x100)\nI (300) a: malloc(9) = 0x10\n",
            [2, 1],
        ),
        (BOOT + CALLS_OF_A_BOOT.format(24), [3]),
        *((print_boots(clock, 312, 318, 402, 61_000), [4, 4]) for clock in CLOCKS_OF_BOOTS),
        *((print_boots(clock, 30, 34, 72, 900), [4, 4]) for clock in CLOCKS_OF_BOOTS),
        *(
            (print_boots(clock, 30, 90, 900, 36, 905, 1010, boots=1), [6])
            for clock in CLOCKS_OF_BOOTS
        ),
        # numbers of tasks are no clock
        (print_boots("[{}] ", 12, 300, 300, 12, 300, 12, 12, 300, 300, 300, boots=1), [10]),
    ],
)
def test_each_boot_of_a_log_of_calls_is_a_recording(tmp_path, text, events):
    log = tmp_path / "device.log"
    log.write_text(text)
    boots = cut_boots(log, find_format(log), tmp_path)
    traces = [import_file(one, tmp_path / f"{i}.parquet") for i, one in enumerate(boots)]
    assert [one.info.events for one in traces] == events
    alone = import_file(log, tmp_path / "all.parquet").info
    assert alone.events == max(events)
    told = f"The log has {len(events)} boots"
    assert any(note.startswith(told) for note in alone.notes) == (len(events) > 1)
    for number, count in enumerate(events, 1):
        one = import_file(log, tmp_path / "one.parquet", ImportOptions(boot=number)).info
        assert one.events == count
        others = f"this is number {number}; {sum(events) - count:,} events of others"
        assert any(others in note for note in one.notes) == (len(events) > 1)
    for number in (0, -1, len(events) + 1):
        told = call_heapfit("import", log, "--boot", number, "-o", tmp_path / "none.parquet")
        assert told.returncode != 0 and f"--boot {number}: boots with calls" in told.stderr


def test_each_device_of_a_log_of_calls_is_cut_by_its_own_clock(tmp_path):
    """Clocks of two devices in turn fall with each line; the second one starts again."""
    lines = [
        f"node-0{n}: I ({first + 100 * i}) heap: malloc({8 * n + i}) = 0x2000{i:04x}\n"
        for i in range(30)
        for n, first in ((1, 5_000), (2, 90_000))
    ]
    again = [line for line in lines if line.startswith("node-02")]
    log = tmp_path / "device.log"
    log.write_text("".join([*lines, *again]))
    boots = cut_boots(log, find_format(log), tmp_path)
    sizes = [
        next(import_file(one, tmp_path / f"{i}.parquet").batches(("size",)))["size"].tolist()
        for i, one in enumerate(boots)
    ]
    assert sizes == [[8 * n + i for i in range(30)] for n in (1, 2, 2)]


ROOMS = {"kitchen": (100, 200, 24), "garage": (40, 64, 300)}


@pytest.mark.parametrize("tag", ["[{}] ", "I (5) [{}]: "])
def test_tags_are_devices_where_an_address_is_live_twice(tmp_path, tag):
    """Two heaps that begin at one address; below, two tasks that free each other's blocks."""
    log = tmp_path / "device.log"
    lines = {
        room: [
            f"{tag.format(room)}{call}"
            for i, size in enumerate(sizes)
            for at in [0x2000_1000 + 0x100 * (i % 2)]
            for call in [f"free(0x{at:x})\n"] * (i > 1) + [f"malloc({size}) = 0x{at:x}\n"]
        ]
        for room, sizes in ROOMS.items()
    }
    for order in (zip(*lines.values(), strict=True), lines.values()):
        log.write_text("".join(line for among in order for line in among))
        boots = cut_boots(log, find_format(log), tmp_path)
        traces = [import_file(one, tmp_path / f"{i}.parquet") for i, one in enumerate(boots)]
        sizes = [next(one.batches(("size",)))["size"].tolist() for one in traces]
        assert [[size for size in one if size] for one in sizes] == [*map(list, ROOMS.values())]
    # Long logs, too, of which not every line is looked at for a start.
    log.write_text(
        "".join(
            f"{tag.format(room)}{call}\n"
            for call in ("malloc(8) = 0x20001000", "free(0x20001000)") * 5_100
            for room in ROOMS
        )
    )
    assert len(cut_boots(log, find_format(log), tmp_path)) == len(ROOMS)
    calls = ("[net] malloc(8) = 0x100", "[ui] malloc(9) = 0x200", "[ui] free(0x100)")
    text = "\n".join([*calls, "[ui] malloc(7) = 0x100", ""])
    turned = text.translate(str.maketrans("12", "21"))  # in the next boot the addresses are others'
    for written, boots in ((text, 1), (text + BOOT + turned, 2)):
        log.write_text(written)
        assert len(cut_boots(log, find_format(log), tmp_path)) == boots


# A form that prints its callers: the sites of its requests, by what `sites` shows of them.
CALLERS = {
    form: (one.get("text") or LOGS[form][0], one["sites"])
    for form, one in TABLES["callers"].items()
}


def show_sites(folder, text, *options):
    """What `sites` says of a log, and of the trace that was made of it."""
    log, stored = folder / "device.log", folder / "stored.parquet"
    log.write_text(text)
    import_file(log, stored)
    return [call_heapfit("sites", str(one), *options).stdout for one in (log, stored)]


@pytest.mark.parametrize("form", CALLERS)
def test_callers_that_a_log_prints_are_kept(tmp_path, form):
    text, expected = CALLERS[form]
    for shown in show_sites(tmp_path, text):
        assert [one for one in expected if one in shown] == expected


@pytest.mark.parametrize(
    ("form", "view", "names"),
    [
        ("SystemView's heap events", "tasks", ["alloc"]),
        ("Zephyr's heaptrace dump", "tasks", ["main"]),
        ("NuttX's memdump", "tasks", ["35"]),
        ("ESP-IDF's heap trace", "memories", ["internal", "external"]),
    ],
)
def test_tasks_and_memories_that_a_log_prints_are_kept(tmp_path, form, view, names):
    for shown in show_sites(tmp_path, LOGS[form][0], "--view", view):
        assert [one for one in names if one in shown] == names


@pytest.mark.usefixtures("unmeasured")
def test_a_list_gives_no_size_and_tells_what_it_lacks(tmp_path):
    text = LOGS["ESP-IDF's heap trace"][0] + (
        "total allocations: 24 total frees: 20\n(NB: Internal Buffer has overflowed)\n"
    )
    (tmp_path / "leak.log").write_text(text)
    shown = call_heapfit("fit", str(tmp_path / "leak.log"), "-o", str(tmp_path / "out"))
    assert shown.returncode == 1
    assert "no size follows" in shown.stderr
    notes = import_file(tmp_path / "leak.log", tmp_path / "t.parquet").info.notes
    told = (
        "The list is not whole: 4 blocks were live, and 3 are listed, since its records were full."
    )
    assert told in notes
    (tmp_path / "leak.log").write_text(text.replace("24 total", "23 total").rpartition("(NB")[0])
    notes = import_file(tmp_path / "leak.log", tmp_path / "whole.parquet").info.notes
    assert not any("whole" in one for one in notes)


FOREIGN = {
    "a capture of Bluetooth": b"btsnoop\0\0\0\0\1",
    "a report of pprof": b"Showing nodes accounting for 512kB, 100% of 512kB total\n",
    "a trace of LTTng": b"\xc1\x1f\xfc\xc1" + bytes(28),
    "a flight log": b"ULog\x01\x12\x35\x01",
    "a database": b"SQLite format 3\0",
    "a picture": b"\x89PNG\r\n\x1a\n",
    "a report of coverage": b"TN:\nSF:/a.c\nDA:1,2\n",
    "a waveform": b"$date today $end\n$timescale 1ns $end\n",
    "a program or a dump of another system": b"MZ\x90\0",
    "a report of macOS' leaks": b"Process:         app [123]\n\nleaks Report Version: 4.0\n",
    "a recording of memray": b"memray\0\0\1",
    "a heap profile of Go": b"heap profile: 1: 64 [1: 64] @ heap/1048576\n",
    "a heap dump of Java": b"JAVA PROFILE 1.0.2\0",
    "a heap snapshot of Node": b'{"snapshot":{"meta":{',
    "a linker map": b"Archive member included to satisfy reference by file (symbol)\n",
    "a core dump": b"\x7fELF\2\1\1" + bytes(9) + b"\4\0" + bytes(40),
    "a trace of Chrome": b'{"traceEvents":[{"ph":"X"}]}',
    "a trace of Tracealyzer": b"PSF\0abc",
    "an archive": b"PK\3\4abcd",
    "a report of valgrind": b"==12== HEAP SUMMARY:\n==12==     in use at exit: 40 bytes\n",
    "a recording of perf": b"PERFILE2" + bytes(40),
    "a firmware's image": b"UF2\nWQ]\x9e" + bytes(40),
    "memory as text": b":020000040800F2\n:00000001FF\n",
    "a page of heapfit's own": b"<!DOCTYPE html><html><head><title>heapfit</title>",
    "a program for another processor": b"\x7fELF\1\1\1" + bytes(9) + b"\2\0\x28\0" + bytes(40),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_file_of_another_kind_is_named_with_what_to_do(tmp_path, what):
    file = tmp_path / "file"
    file.write_bytes(FOREIGN[what])
    shown = call_heapfit("import", str(file), "-o", str(tmp_path / "t.parquet"))
    assert shown.returncode != 0
    assert f"is {what}" in shown.stderr
    assert "--line" not in shown.stderr


@pytest.mark.parametrize("step", [7, 4096, 1 << 20])
def test_a_line_may_have_any_length(step):
    """Calls within it are read; none is cut where a word or call ends."""
    calls = "".join(f"hl{{m,16,{0x1000 + 16 * i:x}}}" for i in range(1000))
    _, rows, _ = read_log(f"{'x' * 9000}\n{calls} {'y' * 5000}\nhl{{f,1000}}\n".encode(), step)
    assert rows == [*((ALLOC, i, 16) for i in range(1000)), (FREE, 0, 0)]
