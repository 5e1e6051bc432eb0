# SPDX-License-Identifier: Apache-2.0
"""Recordings are read as recorder/WIRE.md says, and damaged ones refused, never crashed on."""

import os
import random
import struct
from dataclasses import dataclass

import pytest
from readers import read_wire

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers.followed import FollowedWire
from heapfit.plan.plan import Plan
from heapfit.trace.live import LiveHeap

HEADER_SIZE = 256
RECORD_SIZE = 32
ALLOC, ZEROED, ALIGNED, FREE, BEGIN, END = range(1, 7)
OLD, NEW = 0x1000, 0x2000


def header(**changed):
    fields = {
        "magic": b"hfitwire",
        "version": 1,
        "header_size": HEADER_SIZE,
        "record_size": RECORD_SIZE,
        "pointer_bits": 64,
        "flags": 0,
        "process": 42,
        "image": 0,
        "stopped": 0,
        "unrecorded": 0,
        "start": 0,
        "program": b"program",
    }
    return struct.pack("<8s8I2Q200s", *(fields | changed).values())


def record(op, address, size=0, thread=1, time=0, log2=0):
    commit = op | log2 << 8 | time >> 32 << 16
    return struct.pack("<QQIIII", address, size, 7, thread, time & 0xFFFFFFFF, commit)


CHUNK_SIZE = 256
LONGEST_RECORD = 64  # bytes; a chunk with less room is full


@dataclass(frozen=True)
class Event:
    """A record of version 2, its place in the order of all apart."""

    op: int
    address: int
    size: int = 0
    thread: int = 1
    time: int = 0
    log2: int = 0
    site: int = 7
    callers: tuple[int, ...] = ()


def number(value):
    head = b""
    while value >= 0x80:
        head += bytes([value & 0x7F | 0x80])
        value >>= 7
    return head + bytes([value])


def difference(value):
    return number(2 * value if value >= 0 else -2 * value - 1)


def packed(event, order, last, sites):
    """The record that tells `event` after the Event `last` of the number `last_order`."""
    before, last_order = last
    tag, fields = event.op, b""
    if order != last_order + 1:
        tag, fields = tag | 8, fields + number(order - last_order)
    if event.time != before.time:
        tag, fields = tag | 16, fields + number(event.time - before.time)
    if event.address % 16 or before.address % 16:
        tag, fields = tag | 64, fields + difference(event.address - before.address)
    else:
        fields += difference(event.address // 16 - before.address // 16)
    if event.op not in (FREE, END):
        fields += number(event.size)
    if event.op == ALIGNED:
        fields += bytes([event.log2])
    if event.op != END:
        is_new = sites.get(event.site % 256, 0) != event.site
        sites[event.site % 256] = event.site
        fields += struct.pack("<I", event.site) if is_new else bytes([event.site % 256])
        tag |= 32 * is_new
        if is_new and event.callers:
            tag, fields = tag | 128, fields + struct.pack("<4I", *event.callers)
    return bytes([tag]) + fields


NOTHING = Event(0, 0)


def chunk(numbered, size=CHUNK_SIZE):
    """The chunk of (order, Event) pairs, which all are one thread's."""
    last, sites = (NOTHING, 0), {}
    content = struct.pack("<I", numbered[0][1].thread)
    for order, event in numbered:
        content += packed(event, order, last, sites)
        last = event, order
    return content.ljust(size, b"\0")


def chunks(events, of_each=1000):
    """A chunk for each thread and each `of_each` of its records, as recorders write them."""
    parts = {}
    for order, event in enumerate(events, 1):
        own = parts.setdefault(event.thread, [[]])
        if len(own[-1]) == of_each:
            own.append([])
        own[-1].append((order, event))
    parted = sorted((part for own in parts.values() for part in own), key=lambda part: part[0][0])
    return header(version=2, record_size=CHUNK_SIZE) + b"".join(map(chunk, parted))


SOUND = header() + b"".join(
    [
        record(ALLOC, OLD, 10),
        record(ZEROED, NEW, 20, time=(1 << 32) + 5),
        record(ALIGNED, 0x3000, 30, log2=6, time=(1 << 32) + 6),
        record(BEGIN, OLD, 40, time=(1 << 32) + 7),
        record(FREE, NEW, thread=2, time=(1 << 32) + 8),
        record(END, NEW, 40, time=(1 << 32) + 9),
        record(FREE, NEW, time=(1 << 32) + 10),
    ]
)
SOUND_ROWS = [(0, 0, 10), (1, 1, 20), (2, 2, 30), (4, 1, 0), (3, 0, 40), (4, 0, 0)]


def test_records_become_the_events_they_tell():
    reader, rows, columns = read_wire(SOUND)
    assert rows == SOUND_ROWS
    assert columns["alignment"].tolist() == [0, 0, 64, 0, 0, 0]
    assert columns["time"].tolist() == [0, *((1 << 32) + n for n in (5, 6, 8, 9, 10))]
    assert columns["thread"].tolist() == [1, 1, 1, 2, 1, 1]
    assert columns["site"].tolist() == [7] * 6
    assert (reader.program, reader.source, reader.pointer_bits) == (
        "program",
        "heapfit record",
        64,
    )
    assert reader.notes == ["1 gap above one hour (one second in plots)."]


@pytest.mark.parametrize("step", [1, 7, 31, 33, 255, 257])
def test_chunks_of_any_size_read_the_same(step):
    assert read_wire(SOUND, step=step)[1] == SOUND_ROWS


def test_a_wider_header_is_skipped():
    content = header(header_size=4096) + bytes(4096 - HEADER_SIZE) + record(ALLOC, OLD, 10)
    assert read_wire(content, step=100)[1] == [(0, 0, 10)]


def test_zeros_end_the_recording():
    assert read_wire(SOUND + bytes(5000))[1] == SOUND_ROWS


CALLS = {
    "the old address of a resize may be allocated before its end": (
        [
            *(record(ALLOC, OLD, 10), record(BEGIN, OLD, 50), record(ALLOC, OLD, 11, thread=2)),
            *(record(END, NEW, 50), record(FREE, OLD, thread=2), record(FREE, NEW)),
        ],
        [(0, 0, 10), (0, 1, 11), (3, 0, 50), (4, 1, 0), (4, 0, 0)],
        [],
    ),
    "a refused resize leaves the block": (
        [record(ALLOC, OLD, 10), record(BEGIN, OLD, 50), record(END, 0, 50), record(FREE, OLD)],
        [(0, 0, 10), (4, 0, 0)],
        ["1 request that the program's heap refused left out."],
    ),
    "a resize to zero frees": (
        [record(ALLOC, OLD, 10), record(BEGIN, OLD), record(END, 0)],
        [(0, 0, 10), (4, 0, 0)],
        ["1 resize to 0 bytes taken as a free."],
    ),
    "a resize to zero that gives a block frees and allocates": (
        [record(ALLOC, OLD, 10), record(BEGIN, OLD), record(END, NEW, 0), record(FREE, NEW)],
        [(0, 0, 10), (4, 0, 0), (0, 1, 0), (4, 1, 0)],
        ["1 resize to 0 bytes taken as a free."],
    ),
    "a resize without its end leaves the block": (
        [record(ALLOC, OLD, 10), record(BEGIN, OLD, 50)],
        [(0, 0, 10)],
        ["1 resize that did not return left out."],
    ),
    "refused requests are counted, not replayed": (
        [record(ALLOC, OLD, 10), record(ALLOC, 0, 2**64 - 1)],
        [(0, 0, 10)],
        ["1 request that the program's heap refused left out."],
    ),
    "a block that a library freed unseen is free where another is given": (
        [
            *(record(ALLOC, OLD, 10), record(ALLOC, OLD, 20), record(ALLOC, NEW, 30)),
            *(record(BEGIN, OLD, 40), record(END, NEW, 40)),
        ],
        [(0, 0, 10), (4, 0, 0), (0, 1, 20), (0, 2, 30), (4, 2, 0), (3, 1, 40)],
        ["2 blocks taken as freed, in whose place others were given."],
    ),
    "a record without its commit word does not count": (
        [record(ALLOC, OLD, 10), record(ALLOC, 0x4000, 10)[:28] + bytes(4), bytes(320)],
        [(0, 0, 10)],
        [],
    ),
}


@pytest.mark.parametrize(("records", "rows", "notes"), CALLS.values(), ids=CALLS.keys())
def test_calls_are_what_their_records_tell(records, rows, notes):
    reader, found, _ = read_wire(header() + b"".join(records), drop_unknown=True)
    assert (found, reader.notes) == (rows, notes)


def test_unknown_blocks_of_an_attached_recording_are_dropped_and_counted():
    content = header(flags=1) + b"".join(
        [
            *(record(FREE, 0x9000), record(BEGIN, 0x8000, 9), record(END, 0x8800, 9)),
            record(ALLOC, OLD, 10),
        ]
    )
    reader, rows, _ = read_wire(content, drop_unknown=True)
    assert rows == [(0, 0, 10)]
    assert reader.notes == [
        "Blocks from before the recording (a parent process's, or while it slept) are unknown.",
        "1 resize of an unknown id dropped.",
        "1 free of an unknown or freed id dropped: 36864.",
    ]


@pytest.mark.parametrize(("error", "why"), [(1, "confined itself"), (28, "No space left")])
def test_only_a_confinement_that_ended_a_recording_is_its_reason(error, why):
    content = header(flags=2, stopped=error, unrecorded=3) + record(ALLOC, 0x1000, 10)
    (note,) = read_wire(content)[0].notes
    assert why in note


def test_a_recording_that_ended_early_says_why_and_what_is_missing():
    content = header(stopped=28, unrecorded=3) + record(ALLOC, OLD, 10)
    assert read_wire(content)[0].notes == [
        "The recording ended early (No space left on device): 3 later events are missing."
    ]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (header(magic=b"elsewise"), "byte 0: is no recording"),
        (header(version=3), "byte 8: wire version 3; this program reads 1 to 2"),
        (header(header_size=255), "byte 12: a header of 255 bytes"),
        (header(header_size=0xFFFFFFE0), "byte 12: a header of 4294967264 bytes"),
        (header(record_size=16), "byte 12: a header of 256 bytes or units of 16"),
        (header(pointer_bits=16), "byte 20: pointers of 16 bits"),
        (header(), "no allocation in it"),
        (header() + record(9, OLD), "record 0: operation 9 is none of 1 to 6"),
        (header() + record(ALLOC, 1 << 63, 1), "record 0: address 9223372036854775808"),
        (header() + record(ALIGNED, OLD, 1, log2=64), "record 0: alignment 2\\^64"),
        (header() + record(ALLOC, OLD, 1, log2=4), "record 0: alignment 2\\^4"),
        (header() + record(END, OLD, 1), "record 0: thread 1 ends a resize it did not begin"),
        (
            header() + record(ALLOC, OLD, 1) + record(BEGIN, OLD, 2) + record(BEGIN, NEW, 2),
            "record 2: thread 1 begins a resize within another",
        ),
        (header() + bytes(32) + record(ALLOC, OLD, 1), "record 0: lies after one that was not"),
    ],
)
def test_damage_is_refused_with_its_place(content, told):
    with pytest.raises(HeapfitError, match=told):
        read_wire(content)


def test_every_truncation_reads_the_whole_records_before_it_or_is_refused():
    for length in range(len(SOUND)):
        records, rest = divmod(length - HEADER_SIZE, RECORD_SIZE)
        if records < 1:
            with pytest.raises(HeapfitError, match=r"ends within the header|no allocation"):
                read_wire(SOUND[:length])
            continue
        reader, rows, _ = read_wire(SOUND[:length])
        assert rows == SOUND_ROWS[: len(rows)]
        assert (f"The file ends within record {records}." in reader.notes) == (rest != 0)


EVENTS = [
    Event(ALLOC, OLD, 10),
    Event(ZEROED, NEW, 20, time=1 << 32, site=263),
    Event(ALIGNED, 0x3004, 30, log2=6, time=(1 << 32) + 1),
    Event(BEGIN, OLD, 40, time=(1 << 32) + 2),
    Event(FREE, NEW, thread=2, time=(1 << 32) + 3),
    Event(END, NEW, time=(1 << 32) + 3),
    Event(FREE, 0x3004, thread=2, time=(1 << 32) + 3),
    Event(FREE, NEW, time=(1 << 32) + 3),
]
ROWS = [(0, 0, 10), (1, 1, 20), (2, 2, 30), (4, 1, 0), (3, 0, 40), (4, 2, 0), (4, 0, 0)]


@pytest.mark.parametrize("of_each", [1000, 2, 1])
def test_chunks_of_two_threads_become_one_order(of_each):
    reader, rows, columns = read_wire(chunks(EVENTS, of_each))
    assert rows == ROWS
    assert columns["alignment"].tolist() == [0, 0, 64, 0, 0, 0, 0]
    assert columns["thread"].tolist() == [1, 1, 1, 2, 1, 2, 1]
    assert columns["site"].tolist() == [7, 263, 7, 7, 7, 7, 7]
    assert reader.notes == ["1 gap above one hour (one second in plots)."]


@pytest.mark.parametrize("step", [1, 3, 255, 257, 300])
def test_chunks_fed_in_pieces_of_any_size_read_the_same(step):
    assert read_wire(chunks(EVENTS, 2), step=step)[1] == ROWS


def test_a_new_site_may_be_a_chain_of_callers():
    callers = 1, 0xFFFFFFFF, 3, 0
    event = Event(ALLOC, OLD, 10, site=9, callers=callers)
    told = [event, Event(FREE, OLD), Event(ALLOC, OLD, 20, site=9, callers=callers)]
    reader, rows, columns = read_wire(chunks(told), step=7)
    assert rows == [(0, 0, 10), (4, 0, 0), (0, 1, 20)]
    assert columns["site"].tolist() == [9, 7, 9]
    assert reader.chains == {9: callers}
    assert read_wire(SOUND)[0].chains == {}


def test_a_record_whose_fields_are_there_without_its_tag_does_not_count_yet():
    own = [(order, event) for order, event in enumerate(EVENTS[:4], 1)]
    places = [len(chunk(own[:count], size=0)) for count in range(1, len(own))]
    whole = chunk(own)
    for committed, place in enumerate(places, 1):
        half = whole[:place] + b"\0" + whole[place + 1 :]
        content = header(version=2, record_size=CHUNK_SIZE)
        assert read_wire(content + half)[1] == ROWS[: min(committed, 3)]
        reader = _engine.WireTrace(False)
        reader.feed(content)
        assert not reader.follow(half, HEADER_SIZE)
        reader.follow(whole, HEADER_SIZE)
        assert len(reader.take()["op"]) == 3  # the fourth begins a resize


def test_a_chunk_with_room_for_just_one_record_is_not_full():
    sizes = [1, 200, 200, *[1] * 23]
    events = [Event(op, OLD, size) for size in sizes for op in (ALLOC, FREE)]
    numbered = list(enumerate([*events, Event(ALLOC, OLD, 1)], 1))
    assert len(chunk(numbered[:-1], size=0)) == CHUNK_SIZE - LONGEST_RECORD
    reader = _engine.WireTrace(False)
    reader.feed(header(version=2, record_size=CHUNK_SIZE))
    assert not reader.follow(chunk(numbered[:-1]), HEADER_SIZE)
    assert reader.follow(chunk(numbered), HEADER_SIZE)
    assert reader.events == len(numbered)


def test_a_slow_thread_holds_up_a_million_records_of_others():
    size, pair = 1 << 20, bytes([ALLOC, 0, 1, 7, FREE, 0, 7])  # of one address and site
    pairs = size // len(pair) - 3
    content, order = header(version=2, record_size=size), 2
    for thread in range(2, 6):
        first = [Event(ALLOC, OLD, 1, thread), Event(FREE, OLD, thread=thread)]
        content += (chunk(list(enumerate(first, order)), size=0) + pair * pairs).ljust(size, b"\0")
        order += 2 + 2 * pairs
    reader = _engine.WireTrace(False)
    reader.feed(content + chunk([(1, Event(ALLOC, NEW, 1))], size))
    reader.finish()
    assert (1 << 20) + 1 < order - 1 == reader.events
    assert reader.notes == []


def followed(folder, numbered, **changed):
    """A recording of these records that is written to, and the one who follows it."""
    fields = {"process": os.getpid(), "image": 0} | changed
    path = folder / f"{fields['process']}-1-{fields['image']}.wire"
    path.write_bytes(header(version=2, record_size=CHUNK_SIZE, **fields) + chunk(numbered))
    return path, FollowedWire(folder, fields["process"])


def live_of(following):
    list(following.look())
    return following.reader.live_bytes, following.reader.live_blocks


def test_what_is_known_late_to_be_libstdcxxs_pool_is_not_live_for_a_follower(tmp_path):
    own = [(1, Event(ALLOC, OLD, 10)), (2, Event(ALLOC, NEW, 72704))]
    path, following = followed(tmp_path, own[:1])
    assert live_of(following) == (10, 1)
    content = header(version=2, record_size=CHUNK_SIZE)[:-8] + struct.pack("<Q", 2) + chunk(own)
    path.write_bytes(content)
    assert live_of(following) == (10, 1)
    following.close()


def test_what_a_program_becomes_by_exec_is_followed_in_a_heap_of_its_own(tmp_path):
    heap, alone = (LiveHeap(Plan("tlsf", {"alignment": 8})) for _ in range(2))
    _, following = followed(tmp_path, [(1, Event(ALLOC, OLD, 500)), (2, Event(ALLOC, NEW, 10))])
    assert heap.look(following)[0] == following.reader.live_bytes == 510
    later, last = followed(tmp_path, [(1, Event(ALLOC, NEW, 20))], image=11)
    begun = later.read_bytes()
    later.write_bytes(begun[:HEADER_SIZE] + bytes(CHUNK_SIZE))
    assert heap.look(following)[0] == 0, "it has no record yet"
    later.write_bytes(begun)
    (growth, room, _), (_, expected, _) = heap.look(following), alone.look(last)
    assert (following.reader.live_bytes, room) == (last.reader.live_bytes, expected)
    assert (following.reader.live_bytes, growth) == (20, -490)
    following.close()
    last.close()


@pytest.mark.parametrize(("is_running", "live"), [(True, (10, 1)), (False, (30, 2))])
def test_a_record_that_a_kill_prevented_holds_others_up_until_the_program_has_ended(
    tmp_path, is_running, live
):
    own = [(1, Event(ALLOC, OLD, 10)), (3, Event(ALLOC, NEW, 20))]
    _, following = followed(tmp_path, own, process=os.getpid() if is_running else 1 << 30)
    assert live_of(following) == live == live_of(following)
    following.close()


@pytest.mark.parametrize(
    "record",
    [
        packed(Event(ALLOC, OLD, 10, site=9, callers=(0, 2, 3, 4)), 1, (NOTHING, 0), {}),
        bytes([ALLOC | 32 | 128])
        + number(1)
        + number(10)
        + bytes(4)
        + struct.pack("<4I", 1, 2, 3, 4),
        bytes([ALLOC | 128]) + number(1) + number(10) + bytes(1) + struct.pack("<4I", 1, 2, 3, 4),
        bytes([7 | 128]) + number(2),
    ],
)
def test_callers_of_no_new_site_are_refused(record):
    content = header(version=2, record_size=CHUNK_SIZE) + struct.pack("<I", 1) + record
    with pytest.raises(HeapfitError, match=r"byte 260: is no record \(the file is damaged\)"):
        read_wire(content.ljust(HEADER_SIZE + CHUNK_SIZE, b"\0"))


def test_a_chunk_handed_over_is_two_threads():
    content = chunk([(1, Event(ALLOC, OLD, 10))], size=0)
    content += bytes([7]) + number(2) + packed(Event(FREE, OLD), 2, (Event(0, OLD), 1), {7: 7})
    columns = read_wire(header(version=2, record_size=CHUNK_SIZE) + content)[2]
    assert columns["thread"].tolist() == [1, 2]


def test_a_thread_behind_another_in_time_does_not_turn_it_back():
    events = [Event(ALLOC, OLD, 1, time=9), Event(ALLOC, NEW, 1, thread=2, time=8)]
    reader, _, columns = read_wire(chunks(events))
    assert columns["time"].tolist() == [0, 0]
    assert reader.notes == []


def test_one_record_a_thread_may_be_missing_more_are_told():
    numbered = [(1, Event(ALLOC, OLD, 1)), (3, Event(ALLOC, NEW, 2)), (4, Event(FREE, OLD))]
    head = header(version=2, record_size=CHUNK_SIZE)
    reader, rows, _ = read_wire(head + chunk(numbered))
    assert (rows, reader.notes) == ([(0, 0, 1), (0, 1, 2), (4, 0, 0)], [])
    reader, rows, _ = read_wire(head + chunk([*numbered[:2], (9, Event(FREE, OLD))]))
    assert (len(rows), reader.notes) == (3, ["6 records are missing."])


def test_random_programs_of_many_threads_are_read_as_they_ran():
    draw = random.Random(5)
    for _ in range(20):
        live, events, rows = {}, [], []
        for address in range(16, 16 * 400, 16):
            thread, time = draw.randrange(1, 9), len(events)
            if live and draw.random() < 0.5:
                old = draw.choice(list(live))
                events.append(Event(FREE, old, thread=thread, time=time))
                rows.append((4, live.pop(old), 0))
            size = draw.randrange(1 << draw.randrange(1, 40))
            site = draw.getrandbits(draw.choice([2, 10, 32]))
            events.append(Event(ALLOC, address, size, thread, time, site=site))
            live[address] = sum(op == 0 for op, _, _ in rows)
            rows.append((0, live[address], size))
        _, read_rows, columns = read_wire(chunks(events, draw.randrange(1, 12)))
        assert read_rows == rows
        assert columns["thread"].tolist() == [event.thread for event in events]
        of_allocations = columns["site"][columns["op"] == 0].tolist()
        assert of_allocations == [event.site for event in events if event.op == ALLOC]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (header(version=2, record_size=16), "byte 12: a header of 256 bytes or units of 16"),
        (header(version=2, record_size=1 << 21), "byte 12: .* units of 2097152"),
        (chunks(EVENTS)[:256] + b"\1\0\0\0\x80", "byte 260: is no record"),
        (chunks(EVENTS)[:256] + b"\1\0\0\0\x08\1\1\1", "byte 260: is no record"),
        (chunks(EVENTS)[:256] + b"\1\0\0\0\1" + b"\xff" * 10 + bytes(9), "byte 260: is no record"),
        (chunks(EVENTS) + chunk([(3, Event(FREE, NEW))]), "record 3: is there twice"),
        (chunks([Event(END, OLD)]), "record 0: thread 1 ends a resize it did not begin"),
    ],
)
def test_damaged_chunks_are_refused_with_their_place(content, told):
    with pytest.raises(HeapfitError, match=told):
        read_wire(content)


def test_every_truncation_of_chunks_reads_the_whole_records_before_it_or_is_refused():
    content = chunks(EVENTS, 3)
    for length in range(len(content)):
        try:
            rows = read_wire(content[:length], drop_unknown=True)[1]
        except HeapfitError as error:
            assert "no allocation" in str(error) or "ends within the header" in str(error)
        else:
            assert len(rows) <= len(ROWS)


@pytest.mark.parametrize(
    ("content", "most"),
    [(SOUND, len(SOUND_ROWS) + 1), (chunks(EVENTS, 3), len(ROWS) + 1)],
    ids=["events", "chunks"],
)
def test_every_flipped_bit_gives_a_trace_or_one_line(content, most):
    for bit in range(len(content) * 8):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            _, rows, _ = read_wire(bytes(damaged), drop_unknown=True)
        except HeapfitError as error:
            assert str(error).startswith(("byte ", "record ", "no allocation"))
            assert "\n" not in str(error)
        else:
            assert len(rows) <= most
