# SPDX-License-Identifier: Apache-2.0
"""Logs with frames are read as recorder/target/FRAMES.md says, whatever else or less is in them."""

import random

import pytest
from frames import (
    ALIGNED,
    ALLOC,
    BASE,
    FREE,
    NEEDS,
    OTHER,
    RESIZE,
    SERVED,
    SITE,
    ZEROED,
    Recorder,
    frame,
    header,
    varint,
)
from readers import read_frames

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.fitting.verify.placements import check_recorded_order
from heapfit.importers import import_file
from heapfit.importers.boots import cut_boots
from heapfit.importers.formats import find_format

MISSING = (
    ": double HFIT_RECORD_RING_SIZE, unless the line lost frames. A block whose free is missing "
    "counts as live, one whose request is missing does not."
)


def sound(events=400, seed=1):
    """A recorder told random events of every kind, and the rows that they are."""
    draw, recorder = random.Random(seed), Recorder()
    live, rows, objects, tick = [], [], 0, 5
    free_slots = list(range(50, 0, -1))
    for _ in range(events):
        tick += draw.choice((0, 0, 0, 1, 300))
        chance, size = draw.random(), draw.choice((0, 8, 100, 200, 256))
        if live and chance < 0.4:
            slot, number = live.pop(draw.randrange(len(live)))
            recorder.free(BASE + 512 * slot, tick)
            free_slots.append(slot)
            rows.append((4, number, 0))
        elif live and chance < 0.5:
            at = draw.randrange(len(live))
            slot, number = live[at]
            new = free_slots.pop() if free_slots and chance < 0.45 else slot
            recorder.resize(BASE + 512 * slot, BASE + 512 * new, size + 1, tick)
            free_slots += [slot] if new != slot else []
            live[at] = (new, number)
            rows.append((3, number, size + 1))
        elif free_slots:
            slot = free_slots.pop(draw.randrange(len(free_slots)))
            recorder.alloc(BASE + 512 * slot, size, tick)
            live.append((slot, objects))
            rows.append((0, objects, size))
            objects += 1
    return recorder, rows


def test_addresses_are_kept_of_what_is_placed_alone():
    recorder = Recorder()
    recorder.alloc(BASE + 512, 8, 1)
    recorder.alloc(BASE, 0, 2)
    recorder.resize(BASE + 512, BASE + 1024, 9, 3)
    recorder.alloc(BASE + 512, 256, 4)
    recorder.free(BASE + 1024, 5)
    reader = _engine.FrameTrace()
    reader.keep_addresses()
    reader.feed(recorder.log())
    reader.finish()
    assert reader.addresses.tolist() == [BASE + 512, BASE + 1024, BASE + 512]
    assert not read_frames(recorder.log())[0].addresses.size


def test_frames_become_the_events_they_tell():
    recorder, rows = sound()
    reader, found, _ = read_frames(recorder.log())
    assert found == rows
    assert reader.notes == []
    assert (reader.source, reader.pointer_bits) == ("recorder/target", 32)


def test_what_is_not_plain_about_a_request_is_read():
    recorder = Recorder()
    recorder.alloc(BASE + 8, 24, 1000, bytes([ZEROED << 2 | OTHER]))
    recorder.alloc(BASE + 64, 24, 1500, bytes([ALIGNED << 2 | OTHER, 6]))
    recorder.alloc(BASE + 256, 24, 1500, bytes([SITE << 2 | OTHER]) + varint(0x8001234))
    recorder.alloc(None, 5000, 1600)
    recorder.resize(BASE + 8, None, 700, 1600)
    recorder.free(BASE + 8, 1602)
    reader, rows, columns = read_frames(recorder.log())
    assert rows == [(1, 0, 24), (2, 1, 24), (0, 2, 24), (4, 0, 0)]
    assert columns["alignment"].tolist() == [0, 64, 0, 0]
    assert columns["site"].tolist() == [0, 0, 0x8001234, 0]
    assert columns["time"].tolist() == [0, 500_000, 500_000, 602_000]
    assert reader.notes == ["2 requests that the heap refused left out, the largest of 5000 bytes."]


@pytest.mark.parametrize("step", [1, 7, 64, 1000])
def test_other_text_is_passed_over_wherever_chunks_end(step):
    recorder, rows = sound(200)
    texts = (
        b"boot: 12 tasks\r\n",
        b"\xf5",
        b"\xf5\xfd",
        b"\xf5\xfd\x20",
        "h\u00e9\n".encode(),
        b"",
    )
    noise = [texts[i % len(texts)] for i in range(len(recorder.finished()))]
    log = header() + b"".join(text + one for text, one in zip(noise, recorder.frames, strict=True))
    reader, found, _ = read_frames(b"# a log\n" + log + b"\xf5\xfd\xff", step)
    assert found == rows
    count = 8 + sum(map(len, noise)) + 3
    assert reader.notes == [f"{count:,} bytes of other text passed over."]


def test_the_clock_may_wrap_and_does_not_go_back():
    recorder = Recorder()
    for i, tick in enumerate((2**32 - 2000, 2**32 - 1000, 500, 400, 1500)):
        recorder.began = recorder.tick = tick
        recorder.alloc(BASE + 8 * i, 8, tick)
        recorder.close(tick)
    _, _, columns = read_frames(recorder.log())
    assert columns["time"].tolist() == [0, 1_000_000, 2_500_000, 2_500_000, 3_500_000]


def test_missing_frames_are_counted_to_the_event():
    recorder, _ = sound(2000)
    frames = recorder.finished()
    kept = [one for i, one in enumerate(frames) if i not in {3, 4, 5, 20}]
    after = [int.from_bytes(frames[i][3:5], "little") for i in (3, 6, 20, 21)]
    missing = after[1] - after[0] + after[3] - after[2]
    reader, _, _ = read_frames(header() + b"".join(kept))
    assert reader.notes[0] == (f"{missing} events are missing in 2 places{MISSING}")


def test_a_loss_heals_where_blocks_are_given_again():
    """A free that is missing is known once another block lies there."""
    recorder = Recorder()
    recorder.alloc(BASE, 64)
    recorder.alloc(BASE + 64, 64)
    recorder.close(0)
    recorder.free(BASE)
    recorder.free(BASE + 64)
    recorder.close(0)
    recorder.alloc(BASE + 32, 40)
    recorder.free(BASE + 32)
    frames = recorder.finished()
    reader, rows, _ = read_frames(header() + frames[0] + frames[2])
    assert rows == [(0, 0, 64), (0, 1, 64), (4, 0, 0), (4, 1, 0), (0, 2, 40), (4, 2, 0)]
    assert reader.notes == [
        f"2 events are missing in 1 place{MISSING}",
        "Event 5 is given memory that a live block covers (2 blocks in all, taken as freed): frees "
        "are missing.",
    ]


def test_a_free_that_is_recorded_late_is_named_by_the_event_that_shows_it():
    """As by a hook that runs once the heap has given back its lock: nothing is missing."""
    recorder = Recorder()
    recorder.alloc(BASE, 64)
    recorder.alloc(BASE + 16, 8)
    recorder.free(BASE)
    reader, rows, _ = read_frames(recorder.log())
    assert rows[:3] == [(0, 0, 64), (4, 0, 0), (0, 1, 8)]
    assert reader.notes[0] == (
        "Event 3 is given memory that a live block covers (1 block in all, taken as freed): frees "
        "were recorded late, outside the heap's lock."
    )


@pytest.mark.parametrize(("is_late", "bits"), [(False, 32), (True, 32), (True, 64)])
def test_calls_recorded_in_another_order_than_the_heap_got_them_are_named(is_late, bits, tmp_path):
    """heap_4 gives the lowest chunk that fits; 16 B take 24 with their header."""
    recorder = Recorder()
    recorder.alloc(BASE + 8, 64)
    for address in (104, 80) if is_late else (80, 104):
        recorder.alloc(BASE + address, 16)
    log, free_rtos = tmp_path / "log", 1 << 1
    about = header(flags=free_rtos, pointer_bits=bits)
    log.write_bytes(about + b"".join(recorder.finished()))
    trace = import_file(log, tmp_path / "trace.parquet")
    assert list(check_recorded_order(log, trace)) == (is_late and bits == 32) * [
        "From event 2 on heap_4's rule places blocks elsewhere than the device did: calls were "
        "recorded outside the heap's lock, or the device has another heap."
    ]


def test_blocks_whose_allocation_is_missing_are_told():
    recorder = Recorder()
    recorder.free(BASE)
    recorder.resize(BASE + 64, BASE + 128, 40)
    recorder.free(BASE + 128)
    reader, rows, _ = read_frames(header(live=3) + b"".join(recorder.finished()))
    assert rows == [(0, 0, 40), (4, 0, 0)]
    assert reader.notes == [
        "3 blocks were live when the recorder began: unknown here.",
        "1 allocation known by a later resize only.",
        "1 free of an unknown or freed id dropped: 536870912 (0x20000000).",
    ]


@pytest.mark.parametrize("begins", [1, 10, 40])
def test_a_log_that_begins_late_waits_for_a_header(begins):
    recorder, rows = sound(2000)
    frames = recorder.finished()
    before = [int.from_bytes(one[3:5], "little") for one in frames]
    late = header(before[50], recorder.events)
    reader, found, _ = read_frames(b"".join([*frames[begins:50], late, *frames[50:]]))
    assert reader.notes[0] == f"The log begins after {before[begins]} events of the recording."
    assert reader.pointer_bits == 32
    assert found[-1][0] == rows[-1][0]


def test_sizes_that_were_rounded_are_told():
    recorder = Recorder()
    recorder.alloc(BASE, 32)
    reader, _, _ = read_frames(header(flags=1) + b"".join(recorder.finished()))
    assert reader.notes == [
        "Sizes are those of blocks, which the heap had rounded up: requests may be less."
    ]


@pytest.mark.parametrize(
    ("flags", "source"),
    [
        (0, "recorder/target"),
        (1 << 1 | 1, "recorder/target, FreeRTOS"),
        (4 << 1, "recorder/target, ESP-IDF"),
        (7 << 1, "recorder/target"),
    ],
)
def test_the_system_that_is_recorded_is_in_the_source(flags, source):
    recorder = Recorder()
    recorder.alloc(BASE, 32)
    reader, _, _ = read_frames(header(flags=flags) + b"".join(recorder.finished()))
    assert reader.source == source


def test_more_than_65535_missing_events_are_known_by_the_next_header():
    recorder = Recorder()
    recorder.alloc(BASE, 8)
    recorder.close(0)
    recorder.events = recorder.first = 200_001
    recorder.alloc(BASE + 8, 8)
    first, last = recorder.finished()
    reader, rows, _ = read_frames(header() + first + header(200_001, 200_002) + last)
    assert len(rows) == 2
    assert reader.notes[0].startswith("200,000 events are missing in 1 place:")


def test_a_log_without_a_header_has_its_events_and_no_times():
    recorder, rows = sound(4000)
    reader, found, columns = read_frames(b"".join(recorder.finished()))
    assert found == rows
    assert set(columns["time"].tolist()) == {0}
    assert reader.notes == [
        "No header frame is in the log: times and the heap's place are unknown."
    ]


@pytest.mark.parametrize("again", [header(), header(900, 900, heap_size=1)])
def test_a_trace_ends_where_another_recording_begins(again):
    recorder, rows = sound()
    reader, found, _ = read_frames(recorder.log() + again + recorder.log())
    assert found == rows
    assert reader.notes == ["The device began another recording: what follows is left out."]


@pytest.mark.parametrize("begins", [0, 1])
def test_each_event_of_five_boots_is_read_or_counted(tmp_path, begins):
    """Also where the log begins behind the first one's header, which alone tells its boot."""
    logs, events = [], []
    for count in (90, 300, 2000, 40, 120):
        recorder, _ = sound(count)
        logs.append(recorder.log())
        events.append(recorder.events)
    logs[0] = logs[0][begins * len(header()) :]
    log = tmp_path / "boots.frames"
    log.write_bytes(b"boot\n".join(logs))
    notes = import_file(log, tmp_path / "boots.parquet").info.notes
    assert notes[0] == (
        f"The log has 5 boots: this is number 3, the longest; {sum(events) - max(events):,} events "
        "of others are left out (heapfit import --boot takes another, fit reads all)."
    )
    boots = cut_boots(log, find_format(log), tmp_path)
    traces = [import_file(one, tmp_path / f"{i}.parquet") for i, one in enumerate(boots)]
    assert [one.info.events for one in traces] == events


def test_frames_told_twice_count_once():
    recorder, rows = sound(2000)
    frames = recorder.finished()
    reader, found, _ = read_frames(header() + b"".join([*frames[:9], *frames[2:]]))
    assert found == rows
    assert reader.notes == ["7 frames left out as told before."]


@pytest.mark.parametrize(
    "body",
    [
        b"\x80",
        b"\x00",
        b"\x0a",
        b"\x0a\x0a\x00",
        b"\xff" * 6,
        b"\x0b\x19\x00\x00",
        b"\x17\x00\x00",
        b"\x07\x01",
    ],
    ids=["cut", "no size", "time alone", "two times", "33 bits", "2^25", "unknown", "zeroed free"],
)
def test_a_frame_whose_events_are_not_whole_is_left_out(body):
    recorder = Recorder()
    recorder.alloc(BASE, 8)
    [good] = recorder.finished()
    reader, rows, _ = read_frames(header() + good + frame(1, 0, body))
    assert rows == [(0, 0, 8)]
    assert reader.notes == ["1 damaged frame left out."]


def test_a_log_cut_anywhere_is_read_up_to_there():
    recorder, rows = sound(60)
    log = recorder.log()
    for end in range(len(header()) + 1, len(log), 3):
        try:
            _, found, _ = read_frames(log[:end])
        except HeapfitError as error:
            assert str(error) == "no allocation in it"
            continue
        assert found == rows[: len(found)]


def test_no_damaged_byte_is_taken_for_an_event():
    recorder, rows = sound(60)
    log = bytearray(recorder.log())
    whole = {tuple(rows[i : i + 8]) for i in range(len(rows))}
    assert whole
    for at in range(len(header()), len(log)):
        log[at] ^= 0x10
        reader, found, _ = read_frames(bytes(log))
        assert len(found) < len(rows)
        assert any("missing" in note or "passed over" in note for note in reader.notes)
        log[at] ^= 0x10


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"no frame at all\n", "byte 16: ends without a frame of the recorder"),
        (header(version=2), "frame 1: is of another version than 1"),
        (header(), "no allocation in it"),
        (header(pointer_bits=16), "no allocation in it"),
    ],
)
def test_what_is_no_recording_is_refused(content, what):
    with pytest.raises(HeapfitError, match=what):
        read_frames(content)


def test_a_log_is_told_by_a_frame_in_it(tmp_path):
    recorder, rows = sound()
    log = tmp_path / "uart.log"
    log.write_bytes(b"a 0 12 boot, which looks like another format\n" + recorder.log())
    trace = import_file(log, tmp_path / "uart.parquet")
    assert trace.info.events == len(rows)
    assert trace.info.notes == ("45 bytes of other text passed over.",)


def test_what_requests_need_is_told_from_the_first_event_on():
    body = [
        *(varint(1 << 3 | ALLOC), varint(40)),
        *(bytes([NEEDS << 2 | OTHER]), varint(200), bytes([ZEROED << 2 | OTHER])),
        *(varint(64 << 3 | ALLOC), varint(1500)),
        *(varint(64 << 3 | 1 << 2 | FREE),),
    ]
    _, rows, columns = read_frames(header() + frame(0, 0, b"".join(body)))
    assert rows == [(0, 0, 40), (1, 1, 1500), (4, 0, 0)]
    assert columns["needs"].tolist() == [0, 200, 0]
    assert read_frames(header() + frame(0, 0, body[0] + body[1]))[2]["needs"].tolist() == [0]


SERVED_BODY = [
    *(varint(1 << 3 | ALLOC), varint(40)),
    *(bytes([SERVED << 2 | OTHER]), varint(131), bytes([ZEROED << 2 | OTHER])),
    *(varint(64 << 3 | ALLOC), varint(1500)),
    *(varint(256 << 3 | ALLOC), varint(8)),
    *(bytes([RESIZE << 2 | OTHER]), varint(0), bytes([SERVED << 2 | OTHER, 8])),
    *(varint(2 << 3 | ALLOC), varint(60)),
    *(varint(0 << 3 | FREE),),
]


def test_where_requests_were_served_is_told_until_another_is():
    """Within a frame: each begins with a memory that is unknown."""
    body = b"".join(SERVED_BODY)
    more = frame(5, 0, varint(1 << 3 | ALLOC) + varint(9))
    _, rows, columns = read_frames(header(flags=16) + frame(0, 0, body) + more)
    ops = [(0, 0, 40), (1, 1, 1500), (0, 2, 8), (3, 2, 60), (4, 2, 0), (4, 0, 0), (0, 3, 9)]
    assert rows == ops  # the last block lies where the first did
    assert columns["served"].tolist() == [0, 131, 131, 8, 0, 0, 0]
    assert read_frames(frame(0, 0, body))[2]["served"].tolist()[:4] == [0, 131, 131, 8]  # no header
    plain = frame(0, 0, b"".join(SERVED_BODY[:2]))
    assert "served" not in read_frames(header() + plain)[2]
    assert read_frames(header(flags=16) + plain)[2]["served"].tolist() == [0]


@pytest.mark.parametrize("bits", [256, 1 << 31])
def test_a_memory_of_more_bits_than_there_are_makes_a_frame_bad(bits):
    told = bytes([SERVED << 2 | OTHER]) + varint(bits) + varint(1 << 3 | ALLOC) + varint(9)
    good = frame(1, 0, varint(2 << 3 | ALLOC) + varint(9))
    reader, rows, _ = read_frames(header(flags=16) + frame(0, 0, told) + good)
    assert rows == [(0, 0, 9)] and any("damaged" in note for note in reader.notes)
