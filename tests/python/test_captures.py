# SPDX-License-Identifier: Apache-2.0
"""Captures of packets: files and their damage, link layers, tables, and queue models."""

import gzip
import os
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from captures import (
    ETHERNET,
    MACS,
    RAW,
    Reading,
    between,
    block,
    enhanced,
    erf,
    ethernet,
    interface,
    ipv4,
    ipv6,
    obsolete,
    option,
    patched_pcap,
    pcap,
    radiotap,
    section,
    simple,
    snap,
    snoop,
    wlan,
)

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers.packets import PacketSource
from heapfit.importers.source import ImportOptions
from heapfit.importers.stream import ByteStream
from heapfit.trace.stored import prefix_errors

HOUR = 3600.0
FRAMES = [ethernet(ipv4(size)) for size in (100, 200, 300)]
SMALL_PCAP = pcap([ipv4(28), ipv4(20)], RAW)
SMALL_PCAPNG = (
    section()
    + interface(RAW, options=option(9, b"\x06") + option(0, b""))
    + enhanced(5, ipv4(28))
    + simple(ipv4(20))
)


def ng(*blocks: bytes, order: str = "<") -> bytes:
    return section(order) + b"".join(blocks)


def clocked(resolution: int, ticks: list[int], offset: int | None = None) -> bytes:
    options = option(9, bytes([resolution]))
    options += b"" if offset is None else option(14, struct.pack("<q", offset))
    return ng(interface(options=options), *(enhanced(tick, FRAMES[0]) for tick in ticks))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("is_nano", [False, True])
def test_pcap_reads_alike_in_both_orders_and_resolutions(order, is_nano):
    times = [1e9, 1e9 + 0.25, 1e9 + 2.5]
    records = [(time, frame, len(frame)) for time, frame in zip(times, FRAMES, strict=True)]
    reading = Reading(pcap(records, order=order, is_nano=is_nano))
    assert reading.sizes == [100, 200, 300]
    assert reading.times == [0, 250_000, 2_500_000]


@pytest.mark.parametrize("order", ["<", ">"])
def test_pcapng_reads_all_three_packet_blocks_in_both_orders(order):
    content = ng(
        interface(order=order),
        enhanced(7_000_000, FRAMES[0], order),
        obsolete(7_000_010, FRAMES[1], order),
        simple(FRAMES[2], order),
        order=order,
    )
    reading = Reading(content)
    assert reading.sizes == [100, 200, 300]
    assert reading.times == [0, 10, 10]
    assert reading.notes == ["1 packet without a possible time: set to the time before"]


def test_unknown_blocks_are_skipped_whatever_their_size():
    blocks = [block(0x0BAD, bytes(size)) for size in (0, 4, 100_000)]
    assert Reading(ng(*blocks, interface(), blocks[2], enhanced(0, FRAMES[0]))).sizes == [100]


def test_a_new_section_brings_its_own_order_and_interfaces():
    first = ng(interface(RAW), enhanced(0, ipv4(50)))
    second = ng(interface(order=">"), enhanced(3, FRAMES[0], ">"), order=">")
    assert Reading(first + second).sizes == [50, 100]
    undescribed = Reading(first + ng(enhanced(0, ipv4(50))))
    assert undescribed.sizes == [50]
    assert "interface 0 is not described" in undescribed.damage


def test_packets_of_unlisted_interfaces_are_skipped_and_counted():
    blocks = [interface(), interface(253), enhanced(0, FRAMES[0]), enhanced(1, FRAMES[1], index=1)]
    reading = Reading(ng(*blocks))
    assert reading.sizes == [100]
    assert reading.notes == ["1 packet of link type 253 (NETLINK) skipped: not supported"]


@pytest.mark.parametrize(
    ("resolution", "ticks", "times"),
    [
        (0, [5, 7], [0, 2_000_000]),
        (3, [5, 7], [0, 2000]),
        (6, [5, 7], [0, 2]),
        (9, [5000, 8999], [0, 3]),
        (12, [0, 3_000_000], [0, 3]),
        (127, [0, 2**63 - 1], [0, 0]),
        (0x80, [5, 7], [0, 2_000_000]),
        (0x80 | 10, [0, 1024, 1536], [0, 1_000_000, 1_500_000]),
        (0x80 | 32, [0, 3 << 31], [0, 1_500_000]),
        (0x80 | 127, [0, 2**63 - 1], [0, 0]),
    ],
)
def test_ticks_become_microseconds(resolution, ticks, times):
    assert Reading(clocked(resolution, ticks)).times == times


def test_interfaces_with_different_clocks_share_one_time():
    fast = interface(options=option(9, b"\x09") + option(14, struct.pack("<q", 100)))
    content = ng(interface(), fast, enhanced(100_000_000, FRAMES[0]))
    content += enhanced(2_000_000, FRAMES[1], index=1)
    assert Reading(content).times == [0, 2000]


@pytest.mark.parametrize(
    ("resolution", "tick", "offset"),
    [(0, 2**62, None), (6, 2**62, None), (6, -(2**62), None), (6, 0, 2**62), (6, 0, -(2**63))],
)
def test_times_that_would_overflow_are_set_to_the_time_before(resolution, tick, offset):
    reading = Reading(clocked(resolution, [tick, tick], offset))
    assert reading.times == [0, 0]
    assert reading.notes == ["2 packets without a possible time: set to the time before"]


def test_times_never_decrease_and_what_was_set_is_counted():
    records = [(time, FRAMES[0], 114) for time in (10.0, 12.0, 11.0, 9.0, 12.5)]
    reading = Reading(pcap(records))
    assert reading.times == [0, 2_000_000, 2_000_000, 2_000_000, 2_500_000]
    assert reading.notes == ["2 packets timed before the one ahead: set to its time"]


def test_gaps_above_one_hour_stay_and_are_counted():
    records = [(time, FRAMES[0], 114) for time in (0.0, HOUR, 2 * HOUR + 0.000001)]
    reading = Reading(pcap(records))
    assert reading.times == [0, 3_600_000_000, 7_200_000_001]
    assert reading.notes == [
        "1 packet after a gap above one hour: kept (fifo queues count it as one second)"
    ]


@pytest.mark.parametrize("content", [SMALL_PCAP, SMALL_PCAPNG, pcap(FRAMES), clocked(9, [1, 2])])
@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 7, 13, 64])
def test_any_split_into_chunks_reads_alike(content, chunk):
    whole, split = Reading(content), Reading(content, chunk)
    assert (split.times, split.sizes, split.notes) == (whole.times, whole.sizes, whole.notes)


def test_frames_longer_than_what_is_looked_at_are_passed_over_whole():
    frames = [ethernet(ipv4(9000)), ethernet(ipv4(60))]
    for chunk in (1 << 20, 100):
        assert Reading(pcap(frames), chunk).sizes == [9000, 60]
        content = ng(interface(), *(enhanced(0, frame) for frame in frames))
        assert Reading(content, chunk).sizes == [9000, 60]


@pytest.mark.parametrize(("content", "first_end"), [(SMALL_PCAP, 68), (SMALL_PCAPNG, 120)])
def test_of_a_file_cut_anywhere_the_whole_packets_are_kept(content, first_end):
    whole = Reading(content)
    for length in range(len(content)):
        try:
            reading = Reading(content[:length])
        except HeapfitError as error:
            assert str(error).startswith(("offset", "packet", "none of"))
            assert length < first_end
        else:
            assert reading.sizes == whole.sizes[: len(reading.sizes)]
            assert reading.damage or reading.sizes != whole.sizes


def test_a_cut_names_packet_and_offset():
    reading = Reading(SMALL_PCAP[:-1])
    assert reading.damage.startswith(
        "packet 2 at offset 68: the file ends at offset 103, inside this record"
    )
    assert reading.notes == [f"The rest is left out, from {reading.damage}"]


@pytest.mark.parametrize("chunk", [1, 50, 1 << 20])
def test_damage_ends_a_capture_and_what_was_read_before_stays(chunk):
    damaged = pcap(FRAMES[:2]) + struct.pack("<4I", 0, 0, 1 << 31, 1 << 31) + bytes(100)
    reading = Reading(damaged, chunk)
    assert reading.sizes == [100, 200]
    assert reading.damage.startswith("packet 3 at offset 384: captured length 2147483648 is above")


def test_an_original_length_below_the_captured_one_is_mended_and_counted():
    frame = FRAMES[0]
    content = pcap([]) + struct.pack("<4I", 0, 0, len(frame), 0) + frame
    for unit, size in ((False, 100), (True, len(frame))):
        reading = Reading(content, whole_frames=unit)
        assert reading.sizes == [size]
        assert reading.notes == [
            "1 packet said to be shorter than what was captured: taken as captured"
        ]
    assert Reading(packet_of(114, 60)).sizes == [100]


def test_whole_frames_of_any_link_are_taken_as_long_as_they_were_on_the_wire():
    can = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 227)
    can += struct.pack("<4I", 0, 0, 8, 16) + bytes(8)
    with pytest.raises(HeapfitError, match=r"227 \(SocketCAN\) .*import --whole-frames takes"):
        Reading(can)
    assert Reading(can, whole_frames=True).sizes == [16]
    assert Reading(pcap(FRAMES), whole_frames=True).sizes == list(map(len, FRAMES))


@pytest.mark.parametrize("content", [SMALL_PCAP, SMALL_PCAPNG])
def test_any_flipped_bit_gives_an_error_or_packets(content):
    outcomes = set()
    for bit in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            outcomes.add(len(Reading(bytes(damaged), 16).sizes))
        except HeapfitError as error:
            assert "\n" not in str(error)
            outcomes.add("refused")
    assert {1, 2, "refused"} == outcomes


def record(captured: int, original: int) -> bytes:
    return pcap([]) + struct.pack("<4I", 0, 0, captured, original) + FRAMES[0]


def with_length(length: int) -> bytes:
    return section() + struct.pack("<II", 1, length) + bytes(64)


def packet_of(captured: int, original: int) -> bytes:
    return ng(interface(), block(6, struct.pack("<5I", 0, 0, 0, captured, original) + FRAMES[0]))


DAMAGED = {
    "nothing": (b"", "^offset 0: not a capture: only 0 bytes"),
    "three bytes": (b"\xd4\xc3\xb2", "^offset 0: not a capture: only 3 bytes"),
    "another file": (b"PK\x03\x04" + bytes(60), "^offset 0: not a capture"),
    "a swapped magic": (b"\xc3\xd4\xa1\xb2" + SMALL_PCAP[4:], "^offset 0: not a capture"),
    "pcap of another version": (pcap(FRAMES, major=7), "^offset 4: pcap version 7 is not supp"),
    "captured 2^31": (record(1 << 31, 1 << 31), "^packet 1 at offset 24: captured length 21474"),
    "captured 2^32 - 1": (record((1 << 32) - 1, 0), "^packet 1 .*captured length 4294967295"),
    "captured above the file": (record(1000, 1000), "^packet 1 .*the file ends at offset 154"),
    "pcapng of another version": (section(major=2), "^packet 1 .*pcapng version 2 is not supp"),
    "no byte-order magic": (section()[:8] + bytes(20), "^packet 1 .*has no byte-order magic"),
    "a short section header": (block(0x0A0D0D0A, struct.pack("<I", 0x1A2B3C4D)), "is too short"),
    "block length 0": (with_length(0), "^packet 1 at offset 28: block length 0 is not"),
    "block length 8": (with_length(8), "block length 8 is not a multiple of 4 from 16 to 16777216"),
    "block length 21": (with_length(21), "block length 21 is not"),
    "block length 2^31": (with_length(1 << 31), "block length 2147483648 is not"),
    "block length 2^32 - 4": (with_length((1 << 32) - 4), "block length 4294967292 is not"),
    "other length at the end": (
        section() + interface()[:-4] + struct.pack("<I", 24),
        "begins with length 20 and ends with 24",
    ),
    "a packet before its interface": (ng(enhanced(0, FRAMES[0])), "interface 0 is not described"),
    "a short interface": (ng(block(1, bytes(4))), "interface description is too short"),
    "an interface above 1 MiB": (ng(interface(options=bytes(2 << 20))), "above 1 MiB"),
    "65537 interfaces": (ng(interface() * 65537), "or the 65537th"),
    "an option past its block": (
        ng(interface(options=struct.pack("<HH", 2, 5000))),
        "an option of the interface runs past its block",
    ),
    "a resolution of 3 bytes": (
        ng(interface(options=option(9, b"\6\6\6"))),
        "option 9 of the interface has 3 bytes instead of 1",
    ),
    "an offset of 4 bytes": (ng(interface(options=option(14, bytes(4)))), "bytes instead of 8"),
    "a packet block without fields": (ng(interface(), block(6, bytes(8))), "is too short"),
    "a packet past its block": (packet_of(117, 200), "captured length 117 runs past its block"),
    "a packet of 2^31": (packet_of(1 << 31, 1 << 31), "captured length 2147483648 is above 16777"),
    "no packets": (pcap([]), "^none of 0 packets is IP$"),
}


def with_longer_records(more: int, magic: int = 0xA1B2C3D4) -> bytes:
    """A pcap whose records have so many bytes more, as some systems wrote it."""
    content = struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 65535, 1)
    for frame in FRAMES:
        times = (1_600_000_000, 250_000, len(frame), len(frame))
        content += struct.pack("<IIII", *times) + bytes(more) + frame
    return content


@pytest.mark.parametrize(
    ("more", "magic"), [(4, 0xA1B2C3D4), (8, 0xA1B2C3D4), (12, 0xA1B2C3D4), (12, 0xA1B2CD34)]
)
def test_longer_records_than_pcaps_are_named_with_what_to_do(more, magic):
    told = r"^packet 2 at offset .* Nokia, Red Hat 6.1 or SuSE 6.3, .*editcap -F pcap converts it"
    with pytest.raises(HeapfitError, match=told):
        Reading(with_longer_records(more, magic))


def test_aix_counts_nanoseconds_and_names_interfaces():
    content = struct.pack(">IHHiIII", 0xA1B2C3D4, 2, 2, 0, 0, 65535, 6)  # ethernet, as an ifType
    for part, frame in enumerate(FRAMES):
        content += struct.pack(">IIII", 1, 300_000_000 * part, len(frame), len(frame)) + frame
    reading = Reading(content)
    assert (reading.sizes, reading.times) == ([100, 200, 300], [0, 300_000, 600_000])


SECOND = 1_000_000
OTHER_FORMS = {
    "patched pcap": (patched_pcap(FRAMES), SECOND),
    "patched pcap, big-endian": (patched_pcap(FRAMES, ">"), SECOND),
    "snoop": (snoop(FRAMES), SECOND),
    "snoop, padded": (snoop([frame + b"x" for frame in FRAMES]), SECOND),
    "ERF": (erf(FRAMES), SECOND // 2),
    "ERF, broadcast": (erf([b"\xff" * 6 + frame[6:] for frame in FRAMES]), SECOND // 2),
    "ERF with extensions": (erf(FRAMES, extensions=2), SECOND // 2),
    "ERF of IPv4": (erf([frame[14:] for frame in FRAMES], 22), SECOND // 2),
    "ERF of Cisco HDLC": (erf([b"\x0f\0\x08\0" + f[14:] for f in FRAMES], 1), SECOND // 2),
    "ERF of PPP": (erf([b"\xff\x03\0\x21" + f[14:] for f in FRAMES], 1), SECOND // 2),
}


@pytest.mark.parametrize("chunk", [7, 1 << 20])
@pytest.mark.parametrize(("content", "step"), OTHER_FORMS.values(), ids=OTHER_FORMS.keys())
def test_other_forms_of_captures_are_read(content, step, chunk):
    reading = Reading(content, chunk)
    assert (reading.sizes, reading.notes) == ([100, 200, 300], [])
    assert reading.times == [0, step, 2 * step]


def test_other_records_of_erf_are_counted():
    reading = Reading(erf(FRAMES[:1]) + erf([bytes(40)], 21) + erf(FRAMES[1:]))
    assert (reading.sizes, reading.notes) == ([100, 200, 300], ["1 packet without IP skipped"])


def test_a_damaged_record_of_erf_ends_it():
    short = bytearray(erf(FRAMES[:1]))
    short[10:12] = b"\0\x0f"
    assert "record length 15 is below 16" in Reading(erf(FRAMES) + bytes(short)).damage
    extended = erf(FRAMES[:1])[:10] + b"\0\x12\0\0\0\x40" + b"\x80\0"
    endless = extended[:8] + b"\x82" + extended[9:]
    assert "its headers run past its record" in Reading(erf(FRAMES) + endless).damage


def test_a_link_that_snoop_alone_has_is_refused():
    with pytest.raises(HeapfitError, match=r"^offset 12: link type 65535 is not supported"):
        Reading(snoop(FRAMES, 7))
    assert Reading(snoop(FRAMES, 7), whole_frames=True).sizes == [114, 214, 314]


@pytest.mark.parametrize(("content", "expected"), DAMAGED.values(), ids=DAMAGED.keys())
def test_damage_is_refused_in_one_line_that_tells_where(content, expected):
    with pytest.raises(HeapfitError, match=expected) as told:
        Reading(content)
    assert "\n" not in str(told.value)


def test_option_lists_end_however_they_are_made():
    endless = option(9, b"\x06") * 1000 + option(2, b"") * 1000
    assert Reading(ng(interface(options=endless), enhanced(0, FRAMES[0]))).sizes == [100]
    unterminated = option(2, b"eth0") + option(0, b"") + option(9, bytes(3))
    assert Reading(ng(interface(options=unterminated), enhanced(0, FRAMES[0]))).sizes == [100]


def test_a_simple_packet_is_cut_by_the_snap_length_of_its_interface():
    snapped = block(1, struct.pack("<HHI", ETHERNET, 0, 20))
    packet = block(3, struct.pack("<I", 114) + FRAMES[0][:20])
    assert Reading(ng(snapped, packet)).sizes == [100]


# ---- tables of packets, and whole files

TITLE = b"# packet-sizes 1\n"
LINES = b"0 72 86 17 0 1 -1\n5 0 60 -1 -1 0 -1\n9 1500 1514 6 1 0 1460 881\n"
SMALL_TABLE = TITLE + b"# name small\n" + LINES


def table(line: bytes) -> Reading:
    return Reading(SMALL_TABLE + line, is_table=True)


def test_a_table_gives_times_and_sizes_and_counts_lines_without_ip():
    reading = Reading(SMALL_TABLE, is_table=True)
    assert (reading.times, reading.sizes, reading.records) == ([0, 9], [72, 1500], 3)
    assert reading.notes == ["1 packet without IP skipped"]


def test_a_table_tells_encrypted_frames_apart():
    assert table(b"10 0 86 -1 -1 0 -1 081\n10 0 10 -1 -1 0 -1 d40\n").notes == [
        "2 packets without IP skipped",
        "1 packet of encrypted 802.11 skipped",
    ]


def test_times_of_a_table_count_from_its_first_ip_packet_and_never_decrease():
    content = TITLE + b"5 0 60 -1 -1 0 -1\n7 40 54 6 0 0 0\n99 40 54 6 0 0 0\n98 40 54 6 0 0 0\n"
    reading = Reading(content, is_table=True)
    assert reading.times == [0, 92, 92]
    assert "1 packet timed before the one ahead: set to its time" in reading.notes


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 31])
def test_a_table_in_any_chunks_reads_alike(chunk):
    whole, split = Reading(SMALL_TABLE, is_table=True), Reading(SMALL_TABLE, chunk, is_table=True)
    assert (split.times, split.sizes, split.notes) == (whole.times, whole.sizes, whole.notes)


def test_lines_may_end_as_on_windows():
    content = SMALL_TABLE.replace(b"\n", b"\r\n")
    assert Reading(content, is_table=True).sizes == [72, 1500]


BAD_LINES = {
    "nothing": (b"\n", "the time .field 1. is not a whole number of microseconds"),
    "a negative time": (b"-1 40 54 6 0 0 0\n", "the time"),
    "a time of 2^62": (b"4611686018427387904 40 54 6 0 0 0\n", "the time"),
    "a time of 2^64": (b"18446744073709551616 40 54 6 0 0 0\n", "the time"),
    "a time that is no number": (b"nan 40 54 6 0 0 0\n", "the time"),
    "a time with an underscore": (b"1_0 40 54 6 0 0 0\n", "the time"),
    "a time with a sign": (b"+1 40 54 6 0 0 0\n", "the time"),
    "a size of 2^32": (b"0 4294967296 54 6 0 0 0\n", "the IP length .field 2. is not a whole"),
    "a negative size": (b"0 -40 54 6 0 0 0\n", "the IP length"),
    "a size in Arabic digits": ("0 ٤٠ 54 6 0 0 0\n".encode(), "the IP length"),
    "two spaces": (b"0  40 54 6 0 0 0\n", "the IP length"),
    "six fields": (b"0 40 54 6 0 0\n", "field 7 is not a whole number"),
    "a word": (b"0 40 54 tcp 0 0 0\n", "field 4 is not a whole number"),
    "nine fields": (b"0 40 54 6 0 0 0 081 1\n", "or there are more than 8"),
    "no hexadecimal digits": (b"0 40 54 6 0 0 0 08g\n", "field 8 is not a hexadecimal number"),
    "a long line": (b"0" * 5000 + b"\n", "longer than 4096 bytes"),
    "an endless line": (b"0" * 5000, "longer than 4096 bytes"),
}


@pytest.mark.parametrize(("line", "expected"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_bad_line_is_refused_with_its_number(line, expected):
    with pytest.raises(HeapfitError, match=f"^line 6: .*{expected}"):
        table(line)


def test_a_last_line_without_end_is_left_out_and_told():
    reading = Reading(SMALL_TABLE[:-1], is_table=True)
    assert reading.sizes == Reading(SMALL_TABLE, is_table=True).sizes[:-1]
    assert "the file ends inside this line" in reading.damage


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "^line 1: the file is empty"),
        (LINES, "^line 1: not a packet table"),
        (b"# packet-sizes 2\n" + LINES, "^line 1: packet tables of another version than 1"),
        (TITLE, "^none of 0 packets is IP$"),
        (TITLE + b"5 0 60 -1 -1 0 -1\n", r"^none of 1 packets is IP \(1 packet without IP skip"),
    ],
)
def test_a_table_without_packets_is_refused(content, expected):
    with pytest.raises(HeapfitError, match=expected):
        Reading(content, is_table=True)


def test_a_table_cut_or_flipped_anywhere_gives_an_error_or_packets():
    damaged = [SMALL_TABLE[:length] for length in range(len(SMALL_TABLE))]
    for bit in range(8 * len(SMALL_TABLE)):
        content = bytearray(SMALL_TABLE)
        content[bit // 8] ^= 1 << bit % 8
        damaged.append(bytes(content))
    outcomes = set()
    for content in damaged:
        try:
            outcomes.add(len(Reading(content, is_table=True).sizes))
        except HeapfitError as error:
            assert str(error).startswith(("line ", "none of "))
            outcomes.add("refused")
    assert {1, 2, "refused"} <= outcomes


def write(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


CAPTURE = pcap([ethernet(ipv4(size)) for size in (40, 1500, 52)])


@pytest.mark.parametrize("name", ["a.pcap", "a.pcap.gz"])
def test_a_source_gives_the_columns_of_a_trace_and_tells_what_it_is(tmp_path, name):
    with ByteStream(write(tmp_path, name, CAPTURE)) as stream:
        source = PacketSource(stream, ImportOptions(queue="fill-drain:2"))
        batches = list(source.columns())
    columns = {key: np.concatenate([batch[key] for batch in batches]) for key in batches[0]}
    assert columns["op"].tolist() == [0, 0, 4, 4, 0]
    assert columns["object"].tolist() == [0, 1, 0, 1, 2]
    assert columns["size"].tolist() == [40, 1500, 0, 0, 52]
    assert columns["time"].tolist() == [0, 1_000_000, 1_000_000, 1_000_000, 2_000_000]
    types = ["uint8", "uint32", "uint64", "uint64"]
    assert [str(column.dtype) for column in columns.values()] == types
    info = source.info()
    assert (info.program, info.kind, info.queue) == ("a", "packets", "fill-drain:2")
    assert (info.pointer_bits, info.notes) == (0, ())


IS_UNLISTED = (
    r"offset 20: link type {} \({}\) is not supported \(import --whole-frames takes its frames"
)
NO_IP = r"none of {} packets is IP \({} packets without IP skipped"

# Packets with IP, or how the refusal begins. Those of pcap/ are what tshark counts as "ip or ipv6".
CORPUS: dict[str, int | str] = {
    "pcap/80211-meshid.pcap": NO_IP.format(3, 3),
    "pcap/80211-tim.pcap": NO_IP.format(4, 4),
    "pcap/802154.pcap": IS_UNLISTED.format(195, "802.15.4"),
    "pcap/big-endian.pcap": IS_UNLISTED.format(253, "NETLINK"),
    "pcap/bigtcp-ipv6.pcap": 1,
    "pcap/fddi-llc.pcap": 1333,
    "pcap/hdlc.pcap": 10,
    "pcap/http-ether.pcap": 43,
    "pcap/modbus.pcap": 1237,
    "pcap/mqtt-big.pcap": 51,
    "pcap/nflog.pcap": 10,
    "pcap/ng-be-test202.pcapng": 8,
    "pcap/ng-le-test100.pcapng": 5,
    "pcap/ng-le-test202.pcapng": 8,
    "pcap/null-loop-http2.pcap": 101,
    "pcap/own-coap.pcap": 3000,
    "pcap/own-lwip-ram.nsec.pcap": 5998,
    "pcap/own-mqtt.pcap": 4000,
    "pcap/own-web-ts0.pcap": 11998,
    "pcap/own-web-ts1.pcapng": 6000,
    "pcap/ppp-quic.pcap": 26,
    "pcap/radiotap-80211-http.pcap": 26,
    "pcap/radiotap-exthdr.pcap": NO_IP.format(26, 26),
    "pcap/raw-ip.pcap": 100,
    "pcap/sll.pcap": 511,
    "pcap/sll.pcapng": 159,
    "pcap/sll2.pcap": 3,
    "net/industrial-modbus-mb2.pkt.gz": 13425,
    "net/mixed-ppp-example.pkt.gz": 4631,
    "net/own-mqtt-link.pkt.gz": 19868,
    "net/wifi-wpa-induction.pkt.gz": NO_IP.format(1093, 808),
}
GENERATED: dict[str, tuple[bytes, int | str]] = {
    "generated.pcap": (CAPTURE, 3),
    "generated.pkt.gz": (SMALL_TABLE, 2),
    "unlisted.pcap": (pcap([ipv4(40)], 253), IS_UNLISTED.format(253, "NETLINK")),
    "arp.pcap": (pcap([ethernet(bytes(46), 0x0806)] * 3, ETHERNET), NO_IP.format(3, 3)),
}
FOLDER = os.environ.get("HEAPFIT_CORPUS")
OUTCOMES = CORPUS if FOLDER else {name: outcome for name, (_, outcome) in GENERATED.items()}


def arrivals(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Times and sizes of all packets of a file, as a trace has them."""
    with ByteStream(path) as stream, prefix_errors(path):
        batches = list(PacketSource(stream, ImportOptions()).columns())
    op, time, size = (
        np.concatenate([batch[name] for batch in batches]) for name in ("op", "time", "size")
    )
    return time[op == 0], size[op == 0]


@pytest.mark.parametrize(("name", "outcome"), OUTCOMES.items(), ids=OUTCOMES.keys())
def test_every_file_of_the_corpus_has_its_outcome(tmp_path, name, outcome):
    path = Path(FOLDER) / name if FOLDER else write(tmp_path, name, GENERATED[name][0])
    if isinstance(outcome, int):
        times, sizes = arrivals(path)
        assert len(sizes) == outcome
        assert times[0] == 0
        assert (np.diff(times.astype(np.int64)) >= 0).all()
        assert sizes.min() >= 20
    else:
        with pytest.raises(HeapfitError, match=f"^{re.escape(str(path))}: {outcome}"):
            arrivals(path)


def test_every_capture_of_the_corpus_is_in_the_table_of_outcomes(tmp_path):
    """Of the tables, which are of one form, a few are."""
    for name, (content, _) in GENERATED.items():
        write(tmp_path, name, content)
    folder = Path(FOLDER) if FOLDER else tmp_path
    found = {str(path.relative_to(folder)) for path in folder.glob("pcap/*" if FOLDER else "*")}
    assert found == {name for name in OUTCOMES if not name.startswith("net/")}


# ---- link layers

V4, V6 = ipv4(100), ipv6(100)
PPPOE = b"\x11\0\0\x01\0\x66"
COOKED_V1 = bytes(14)
COOKED_V2_TAIL = bytes(18)
QOS, HT, RELAYED = 0x88, 0x80, 0x03


def mpls(labels: int) -> bytes:
    """A stack of labels, the last of which says so."""
    return struct.pack(f">{labels}I", *(64 | (i == labels - 1) << 8 for i in range(labels)))


IP_FRAMES = {
    "ethernet": (ETHERNET, ethernet(V4)),
    "ethernet, IPv6": (ETHERNET, ethernet(V6, 0x86DD)),
    "ethernet, 802.1Q": (ETHERNET, ethernet(V4, tags=[0x8100])),
    "ethernet, 802.1ad and 802.1Q": (ETHERNET, ethernet(V6, 0x86DD, tags=[0x88A8, 0x8100])),
    "ethernet, old QinQ": (ETHERNET, ethernet(V4, tags=[0x9100, 0x9200, 0x9300])),
    "ethernet, 802.1BR": (ETHERNET, ethernet(bytes(6) + b"\x08\0" + V4, 0x893F)),
    "ethernet, eight tags": (ETHERNET, ethernet(V4, tags=[0x8100] * 8)),
    "ethernet, 802.3 with SNAP": (ETHERNET, ethernet(snap(V4), 108)),
    "ethernet, PPPoE": (ETHERNET, ethernet(PPPOE + b"\0\x21" + V4, 0x8864)),
    "ethernet, 802.1Q and PPPoE, IPv6": (
        ETHERNET,
        ethernet(PPPOE + b"\0\x57" + V6, 0x8864, tags=[0x8100]),
    ),
    "null, little-endian": (0, struct.pack("<I", 2) + V4),
    "null, big-endian": (0, struct.pack(">I", 2) + V4),
    "null, IPv6 of Linux": (0, struct.pack("<I", 10) + V6),
    "null, IPv6 of Windows": (0, struct.pack("<I", 23) + V6),
    "null, IPv6 of OpenBSD": (0, struct.pack("<I", 24) + V6),
    "null, IPv6 of FreeBSD": (0, struct.pack(">I", 28) + V6),
    "null, IPv6 of macOS": (0, struct.pack("<I", 30) + V6),
    "loop": (108, struct.pack(">I", 2) + V4),
    "ppp, bare": (9, b"\0\x21" + V4),
    "ppp, with address and control": (9, b"\xff\x03\0\x57" + V6),
    "ppp, compressed protocol": (9, b"\xff\x03\x21" + V4),
    "ppp serial": (50, b"\xff\x03\0\x21" + V4),
    "pppoe": (51, PPPOE + b"\0\x21" + V4),
    "pppd, received": (166, b"\0\x03\0\x21" + V4),
    "pppd, sent": (166, b"\x01\x03\0\x57" + V6),
    "raw": (RAW, V4),
    "raw, IPv6": (RAW, V6),
    "raw, as number 12": (12, V4),
    "raw, as number 14": (14, V6),
    "raw IPv4": (228, V4),
    "raw IPv6": (229, V6),
    "cooked v1": (113, COOKED_V1 + b"\x08\0" + V4),
    "cooked v1, 802.1Q": (113, COOKED_V1 + b"\x81\0\0\x07\x86\xdd" + V6),
    "cooked v1, 802.2": (113, COOKED_V1 + b"\0\x04" + snap(V4)),
    "cooked v2": (276, b"\x86\xdd" + COOKED_V2_TAIL + V6),
    "802.11": (105, wlan(snap(V4))),
    "802.11, IPv6": (105, wlan(snap(V6, 0x86DD))),
    "802.11, QoS": (105, wlan(snap(V4), QOS, extra=2)),
    "802.11, QoS and HT control": (105, wlan(snap(V4), QOS, HT, extra=6)),
    "802.11, strictly ordered without QoS": (105, wlan(snap(V4), flags=HT)),
    "802.11, four addresses": (105, wlan(snap(V4), flags=RELAYED, extra=6)),
    "802.11, four addresses, QoS, HT": (105, wlan(snap(V4), QOS, RELAYED | HT, extra=12)),
    "radiotap": (127, radiotap(wlan(snap(V4)))),
    "radiotap, time stamp and flags": (
        127,
        radiotap(wlan(snap(V4)), bytes(9), struct.pack("<I", 0b11)),
    ),
    "radiotap, padded header": (
        127,
        radiotap(wlan(snap(V4), QOS, extra=4), bytes(8) + b"\x20", struct.pack("<I", 0b11)),
    ),
    "radiotap, more presence words, padded header": (
        127,
        radiotap(
            wlan(snap(V4), QOS, extra=4), b"\x20", struct.pack("<III", 0x80000002, 0x80000000, 0)
        ),
    ),
}

IP_FRAMES |= {
    f"MPLS of {labels} labels": (ETHERNET, ethernet(mpls(labels) + packet, 0x8847))
    for labels, packet in ((1, V4), (3, V4), (2, V6))
}
WIRE = bytes(4) + ethernet(V4)  # a control word, and the frame of a wire
JUNIPER = b"MGC\x80\0\x02\x01\x02"  # with two bytes of attributes
IP_FRAMES |= {
    "an EtherType that the version corrects": (ETHERNET, ethernet(V6)),
    "MPLS of a wire": (ETHERNET, ethernet(mpls(2) + WIRE, 0x8847)),
    "MPLS of a wire with a tag": (
        ETHERNET,
        ethernet(mpls(1) + bytes(4) + ethernet(V6, 0x86DD, tags=[0x8100]), 0x8848),
    ),
    "PPP, MPLS": (9, b"\xff\x03\x02\x81" + mpls(2) + V4),
    "VN-Tag": (ETHERNET, ethernet(bytes(4) + b"\x08\0" + V4, 0x8926)),
    "802.1ah": (ETHERNET, ethernet(bytes(4) + ethernet(V4), 0x88E7)),
    "FabricPath": (ETHERNET, ethernet(bytes(2) + ethernet(V6, 0x86DD), 0x8903)),
    "Cisco's metadata": (ETHERNET, ethernet(bytes(6) + b"\x08\0" + V4, 0x8909)),
    "MACsec": (ETHERNET, ethernet(bytes(6) + b"\x08\0" + V4 + bytes(16), 0x88E5)),
    "MACsec with a channel": (
        ETHERNET,
        ethernet(b"\x20" + bytes(13) + b"\x86\xdd" + V6 + bytes(16), 0x88E5),
    ),
    "a service chain": (ETHERNET, ethernet(b"\0\x06\x01\x01" + bytes(20) + V4, 0x894F)),
    "Arista's time": (ETHERNET, ethernet(b"\0\x01\0\x10" + bytes(8) + b"\x08\0" + V4, 0xD28B)),
    "Arista's short time": (
        ETHERNET,
        ethernet(b"\0\x01\x01\x21" + bytes(6) + b"\x08\0" + V4, 0xD28B),
    ),
    "PPP that is Cisco HDLC": (9, b"\x8f\0\x08\0" + V4),
    "NULL that is Cisco HDLC": (0, b"\x0f\0\x08\0" + V4),
    "ARCNET, RFC 1051": (7, b"\x01\x02\xf0" + V4),
    "ARCNET, RFC 1201": (7, b"\x01\x02\xd4\0\0\x09" + V4),
    "ARCNET, the first of several": (7, b"\x01\x02\xd4\x03\0\x09" + V4),
    "ARCNET, an exception": (129, b"\x01\x02\0\0\xd4\xff\xff\xff\xd4\0\0\x09" + V4),
    "PKTAP as USER2": (149, struct.pack("<III", 16, 1, 1) + bytes(4) + ethernet(V4)),
    "Juniper's Ethernet": (178, JUNIPER + ethernet(V4)),
    "Juniper's Ethernet without attributes": (178, b"MGC\0" + ethernet(V4)),
    "Juniper without a link header": (178, b"MGC\x02\0\0\0\x02" + V4),
    "Juniper's PPP": (179, JUNIPER + b"\xff\x03\0\x21" + V4),
    "Juniper's Frame Relay": (180, JUNIPER + b"\x18\x41\x03\xcc" + V4),
    "Juniper's Cisco HDLC": (181, JUNIPER + b"\x0f\0\x08\0" + V4),
}
IP_FRAMES["NULL with an EtherType"] = (0, struct.pack("<I", 0x0800) + V4)

SOURCE_ROUTED = bytes(2) + b"\x40" + bytes(5) + b"\x80" + bytes(5) + b"\x04\0\0\0"
NFLOG_MARK = struct.pack("<HHI", 8, 4, 1)
AVS = struct.pack(">II", 0x80211001, 64) + bytes(56)
PRISM = struct.pack("<II", 0x41, 144) + bytes(136)

# A header, and whether IP is announced by it or behind it.
IP_FRAMES |= {
    "SLIP": (8, bytes(16) + V4),
    "Cisco HDLC": (104, b"\x0f\0\x08\0" + V4),
    "Cisco HDLC with direction": (205, b"\x01\x8f\0\x86\xdd" + V6),
    "PPP with direction": (204, b"\0\xff\x03\0\x21" + V4),
    "Frame Relay": (107, b"\x18\x41\x03\xcc" + V4),
    "Frame Relay, IPv6 behind padding": (107, b"\x18\x41\x03\0\x8e" + V6),
    "Frame Relay, SNAP": (107, b"\x18\x41\x03\0\x80\0\0\0\x08\0" + V4),
    "Frame Relay of Cisco, four bytes of address": (107, b"\x18\x40\0\x01\x08\0" + V4),
    "token ring": (6, b"\x10\x40" + MACS + snap(V4)),
    "token ring, routed": (6, b"\x10\x40" + SOURCE_ROUTED[2:] + snap(V4)),
    "FDDI": (10, b"\x50" + MACS + snap(V6, 0x86DD)),
    "ATM": (100, snap(V4)),
    "ATM, as BSD numbers it": (11, snap(V4)),
    "classical IP over ATM": (106, snap(V4)),
    "SunATM": (123, bytes(4) + snap(V4)),
    "Fibre Channel": (122, bytes(16) + snap(V4)),
    "IEEE 1394": (138, bytes(16) + b"\x08\0" + V4),
    "IPsec ENC": (109, bytes(12) + V6),
    "PFLOG": (117, b"\x3d\x02" + bytes(62) + V4),
    "IPNET": (226, bytes(24) + V4),
    "Prism": (119, PRISM + wlan(snap(V4))),
    "Prism, big-endian": (119, struct.pack(">II", 0x41, 144) + PRISM[8:] + wlan(snap(V4))),
    "AVS": (163, AVS + wlan(snap(V4))),
    "AVS as Prism": (119, AVS + wlan(snap(V4))),
    "PPI": (192, struct.pack("<BBHI", 0, 0, 12, 105) + bytes(4) + wlan(snap(V4))),
    "PKTAP": (258, struct.pack("<III", 16, 1, 1) + bytes(4) + ethernet(V4)),
    "NFLOG": (239, b"\x02\0\0\0" + NFLOG_MARK + struct.pack("<HH", 104, 9) + V4),
    "NFLOG, big-endian": (239, b"\x0a\0\0\0" + struct.pack(">HH", 104, 9) + V6),
    "netANALYZER": (240, bytes(4) + ethernet(V4)),
    "netANALYZER with its preamble": (241, bytes(12) + ethernet(V4)),
    "mPacket": (274, bytes(8) + ethernet(V4)),
    "IP over InfiniBand": (242, bytes(40) + b"\x86\xdd\0\0" + V6),
    "Broadcom's tag": (281, MACS + bytes(4) + b"\x08\0" + V4),
    "Broadcom's tag ahead": (282, bytes(4) + ethernet(V4)),
    "DSA": (284, MACS + bytes(4) + b"\x08\0" + V4),
    "EDSA": (285, MACS + b"\xda\xda" + bytes(6) + b"\x86\xdd" + V6),
}

OTHER_FRAMES = {
    "token ring's own frames": (6, bytes(2) + MACS + snap(V4)),
    "Frame Relay's LMI": (107, b"\0\x01\x03\x08\0" + bytes(20)),
    "Frame Relay without an end of its address": (107, bytes(4) + V4),
    "FDDI's station management": (10, b"\x41" + MACS + snap(V4)),
    "NFLOG without a packet": (239, b"\x02\0\0\0" + NFLOG_MARK),
    "NFLOG's attribute of no length": (239, bytes(40)),
    "PKTAP of PPI": (258, struct.pack("<III", 12, 1, 192) + V4),
    "PPI of PPI": (192, struct.pack("<BBHI", 0, 0, 8, 192) + V4),
    "Prism longer than its frame": (119, struct.pack("<II", 0x41, 900) + V4),
    "PFLOG that ends in its header": (117, b"\x3d\x02"),
    "MPLS that carries no IP": (ETHERNET, ethernet(mpls(1) + bytes(40), 0x8847)),
    "MPLS without a last label": (ETHERNET, ethernet(bytes(4 * 20), 0x8847)),
    "ARP": (ETHERNET, ethernet(bytes(46), 0x0806)),
    "nine VLAN tags": (ETHERNET, ethernet(V4, tags=[0x8100] * 9)),
    "802.3 without SNAP": (ETHERNET, ethernet(b"\x42\x42\x03" + bytes(60), 63)),
    "EtherType IPv4 before a packet of version 5": (ETHERNET, ethernet(b"\x50" + V4)),
    "MACsec that is encrypted": (ETHERNET, ethernet(b"\x0c" + bytes(60), 0x88E5)),
    "ARCNET, a later part": (7, b"\x01\x02\xd4\x02\0\x09" + V4),
    "ARCNET's ARP": (7, b"\x01\x02\xd5\0\0\x09" + V4),
    "Juniper without its magic number": (178, b"MGD\0" + ethernet(V4)),
    "Juniper's attributes beyond the frame": (178, b"MGC\x80\xff\xff" + V4),
    "a frame shorter than its link header": (ETHERNET, bytes(13)),
    "an empty frame": (ETHERNET, b""),
    "a link header and nothing behind it": (ETHERNET, ethernet(b"")),
    "PPP LCP": (9, b"\xff\x03\xc0\x21" + V4),
    "raw bytes of version 5": (RAW, b"\x50" + V4),
    "a loopback family of AppleTalk": (0, struct.pack("<I", 16) + V4),
    "an 802.11 beacon": (105, wlan(snap(V4), 0x80)),
    "an 802.11 null frame": (105, wlan(snap(V4), 0x48)),
    "an 802.11 QoS null frame": (105, wlan(snap(V4), 0xC8, extra=2)),
    "an 802.11 frame of one byte": (105, b"\x08"),
    "radiotap longer than its frame": (127, struct.pack("<BBHI", 0, 0, 500, 0) + V4),
    "radiotap of another version": (127, b"\x01" + radiotap(wlan(snap(V4)))[1:]),
    "radiotap whose presence words never end": (
        127,
        radiotap(wlan(V4), present=b"\xff\xff\xff\xff" * 4),
    ),
}


@pytest.mark.parametrize(("link_type", "frame"), IP_FRAMES.values(), ids=IP_FRAMES.keys())
def test_ip_is_found_behind_the_link_header(link_type, frame):
    reading = Reading(pcap([frame], link_type))
    assert (reading.sizes, reading.notes) == ([100], [])


@pytest.mark.parametrize(("link_type", "frame"), OTHER_FRAMES.values(), ids=OTHER_FRAMES.keys())
def test_other_frames_are_skipped_and_counted(link_type, frame):
    with pytest.raises(HeapfitError, match=r"^none of 1 packets is IP \(1 packet without IP skip"):
        Reading(pcap([frame], link_type))


@pytest.mark.parametrize("link_type", [105, 127])
@pytest.mark.parametrize("captured", [2, None])
def test_protected_80211_is_told_as_encrypted(link_type, captured):
    """However little of it was captured: its first two bytes tell."""
    protected = wlan(snap(V4), flags=0x40)[:captured]
    plain = wlan(snap(V4))
    frames = [protected, plain] if link_type == 105 else [radiotap(protected), radiotap(plain)]
    reading = Reading(pcap(frames, link_type))
    assert reading.sizes == [100]
    assert reading.notes == ["1 packet of encrypted 802.11 skipped"]


@pytest.mark.parametrize(
    ("link_type", "title"), [(147, r"147 \(USER0\)"), (253, r"253 \(NETLINK\)"), (999, "999")]
)
def test_an_unlisted_link_type_is_refused(link_type, title):
    expected = (
        f"^offset 20: link type {title} is not supported .import --whole-frames takes its frames"
    )
    with pytest.raises(HeapfitError, match=expected):
        Reading(pcap([ethernet(V4)], link_type))


def test_frame_check_bits_beside_the_link_type_are_ignored():
    assert Reading(pcap([ethernet(V4)], 0x34000000 | ETHERNET)).sizes == [100]


@pytest.mark.parametrize(
    ("frame", "original", "size", "is_from_frame"),
    [
        (ethernet(ipv4(40) + bytes(6)), 60, 40, False),  # padded to the shortest frame
        (ethernet(ipv4(1500))[:34], 1514, 1500, False),  # cut by the snap length
        (ethernet(ipv4(1500))[:18], 1514, 1500, False),  # just the length was captured
        (ethernet(ipv4(1500))[:17], 1514, 1500, True),
        (ethernet(b""), 1514, 1500, True),
        (ethernet(ipv4(2948, told=0)), 2962, 2948, True),  # segmentation offload
        (ethernet(ipv4(40, told=41)), 54, 40, True),  # tells more than the frame held
        (ethernet(ipv4(40, told=65535)), 54, 40, True),
        (ethernet(ipv6(60, 20), 0x86DD), 74, 60, False),
        (ethernet(ipv6(1500), 0x86DD)[:20], 1514, 1500, False),
        (ethernet(ipv6(1500), 0x86DD)[:19], 1514, 1500, True),
        (ethernet(ipv6(2948, 0), 0x86DD), 80054, 80040, True),  # jumbogram
        (ethernet(ipv6(60, 21), 0x86DD), 74, 60, True),
        (ethernet(ipv4(40), tags=[0x8100]), (1 << 32) - 1, 40, False),
        (ethernet(ipv4(40, told=0)), (1 << 32) - 1, (1 << 32) - 15, True),
    ],
)
def test_the_size_is_what_the_ip_header_tells_if_the_frame_can_hold_it(
    frame, original, size, is_from_frame
):
    reading = Reading(pcap([(0.0, frame, original)]))
    assert reading.sizes == [size]
    note = "1 packet sized by the frame: the IP header tells no usable length"
    assert (note in reading.notes) == is_from_frame


def test_packets_above_the_usual_mtu_are_kept_and_told():
    reading = Reading(pcap([ethernet(ipv4(size)) for size in (1500, 1501, 4396)]))
    assert reading.sizes == [1500, 1501, 4396]
    assert reading.notes == [
        "2 packets above 1500 B kept (offloads or a large MTU; largest 4396 B)"
    ]


# ---- the packets of one device

DEVICE, PEER, OTHER, ALL, DEVICE6, PEER6 = (
    *("10.0.0.7", "10.0.0.8", "10.0.0.9", "239.1.1.1"),
    *("fe80::7", "2001:db8::1:8"),
)
TALK = [  # sizes tell the packets
    between(DEVICE, PEER, 40),
    between(PEER, DEVICE, 50),
    between(OTHER, ALL, 60),
    between(DEVICE, ALL, 70),
    between(DEVICE6, PEER6, 80),
    between(PEER6, DEVICE6, 90),
]


@pytest.mark.parametrize(
    ("side", "sizes"),
    [
        ("", [40, 50, 60, 70, 80, 90]),
        (f",to={DEVICE}", [50, 60]),
        (f",from={DEVICE}", [40, 70]),
        (",to=fe80:0:0:0:0:0:0:7", [60, 70, 90]),
        (",from=02:00:00:00:00:07", [40, 70, 80]),
        (",to=02:00:00:00:00:07", [50, 60, 90]),
    ],
)
def test_what_a_device_receives_is_told_from_what_it_sends(side, sizes):
    reader = _engine.CaptureReader(False, _engine.QueueModel(f"fifo:9{side}"))
    _, found = reader.feed(pcap(TALK))
    reader.finish()
    assert found.tolist() == sizes
    left = f"{len(TALK) - len(sizes)} packets left out: of the other direction, or of other devices"
    assert reader.notes == ([left] if side else [])


def test_a_capture_without_the_devices_packets_is_refused():
    reader = _engine.CaptureReader(False, _engine.QueueModel("fifo:9,from=10.9.9.9"))
    reader.feed(pcap(TALK))
    with pytest.raises(HeapfitError, match="none of 6 packets is of that device and direction"):
        reader.finish()


@pytest.mark.parametrize(
    ("frames", "common"),
    [
        (TALK[:2], [DEVICE, PEER]),
        ([*TALK[:4], between(DEVICE, OTHER)], [DEVICE]),
        ([TALK[0], TALK[2]], [DEVICE, PEER]),
        ([*TALK[4:], between(DEVICE6, "fe80::9")], ["fe80:0:0:0:0:0:0:7"]),
        ([*TALK, between(OTHER, DEVICE)], ["02:00:00:00:00:07"]),  # by IP there are two of it
        ([TALK[0], between(OTHER, "10.0.0.1")], []),
    ],
)
def test_the_address_at_an_end_of_every_packet_is_found(frames, common):
    reader = _engine.CaptureReader()
    reader.feed(pcap(frames))
    assert reader.addresses == common


@pytest.mark.parametrize("address", ["", "10.0.0", "10.0.0.256", "::1::", "1:2:3:4:5:6:7:8:9", "x"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(HeapfitError, match=f'^"{address}" is no address'):
        _engine.QueueModel(f"fifo:9,to={address}")


# ---- queue models

ALLOC, FREE = 0, 4
MICROSECONDS_OF_HOUR = 3_600_000_000
Event = tuple[int, int, int, int]  # op, object, size, time


def events_of(queue: str, times, sizes=None, batch: int = 1 << 20) -> list[Event]:
    model = _engine.QueueModel(queue)
    time = np.array(times, np.uint64)
    size = np.full(len(time), 100, np.uint32) if sizes is None else np.array(sizes, np.uint32)
    starts = range(0, len(time), batch)
    parts = [model.feed(time[at : at + batch], size[at : at + batch]) for at in starts]
    parts.append(model.finish())
    columns = [np.concatenate([part[i] for part in parts]).tolist() for i in range(4)]
    return list(zip(*columns, strict=True))


def releases_of(events: list[Event]) -> dict[int, int]:
    return {event[1]: event[3] for event in events if event[0] == FREE}


def arrival_times(count: int, mean_us: float = 100.0) -> list[int]:
    gaps = np.random.default_rng(1).exponential(mean_us, count)
    return np.floor(np.cumsum(gaps)).astype(np.int64).tolist()


def in_order(times: list[int], releases_ns: list[int]) -> list[Event]:
    """The events of packets of 100 bytes: releases due at an arrival come before it."""
    tagged = [(time * 1000, 1, i, (ALLOC, i, 100, time)) for i, time in enumerate(times)]
    tagged += [(ns, 0, i, (FREE, i, 0, ns // 1000)) for i, ns in enumerate(releases_ns)]
    return [event for *_, event in sorted(tagged)]


def test_fill_and_drain_frees_every_n_packets_in_order_at_the_last_arrival():
    assert events_of("fill-drain:2", [0, 5, 9], [40, 1500, 60]) == [
        (ALLOC, 0, 40, 0),
        (ALLOC, 1, 1500, 5),
        (FREE, 0, 0, 5),
        (FREE, 1, 0, 5),
        (ALLOC, 2, 60, 9),
    ]


def test_fill_and_drain_leaves_an_unfilled_batch_live():
    ops = [event[0] for event in events_of("fill-drain:1000", range(2999))]
    assert (ops.count(ALLOC), ops.count(FREE)) == (2999, 2000)


@pytest.mark.parametrize("rate", [5000, 10_000, 12_000, 1_000_000])
def test_a_server_takes_packets_in_order_at_its_rate(rate):
    times = arrival_times(2000)
    service = round(1e9 / rate)
    releases, free_at = [], 0
    for time in times:
        free_at = max(free_at, time * 1000) + service
        releases.append(free_at)
    assert events_of(f"fifo:{rate}", times) == in_order(times, releases)


def test_a_server_sees_a_gap_above_one_hour_as_one_second():
    times = [0, 0, 0, MICROSECONDS_OF_HOUR + 1, MICROSECONDS_OF_HOUR + 1]
    assert releases_of(events_of("fifo:1.25", times)) == {
        0: 800_000,
        1: MICROSECONDS_OF_HOUR + 1 + 600_000,
        2: MICROSECONDS_OF_HOUR + 1 + 1_400_000,
        3: MICROSECONDS_OF_HOUR + 1 + 2_200_000,
        4: MICROSECONDS_OF_HOUR + 1 + 3_000_000,
    }


def test_a_server_serves_through_a_gap_of_one_hour():
    assert releases_of(events_of("fifo:0.001", [0, 0, 0, MICROSECONDS_OF_HOUR])) == {
        0: 1000 * 10**6,
        1: 2000 * 10**6,
        2: 3000 * 10**6,
        3: 4600 * 10**6,
    }


@pytest.mark.parametrize("rate", [10**6, 8 * 10**7, 10**9])
def test_a_link_sends_packets_in_order_byte_by_byte(rate):
    times = arrival_times(2000)
    sizes = np.random.default_rng(2).integers(40, 1500, len(times)).tolist()
    releases, idle_at = {}, 0
    for i, (time, size) in enumerate(zip(times, sizes, strict=True)):
        idle_at = max(idle_at, time * 1000) + round(size * 8e9 / rate)
        releases[i] = idle_at // 1000
    events = events_of(f"link:{rate}", times, sizes, batch=64)
    assert releases_of(events) == releases
    order = [event[3] for event in events]
    assert order == sorted(order)


def test_a_fixed_holding_time_releases_each_packet_that_much_later():
    times = arrival_times(2000)
    releases = [1000 * (time + 730) for time in times]
    assert events_of("hold:fixed:730", times) == in_order(times, releases)


@pytest.mark.parametrize(
    "queue", ["fill-drain:7", "fifo:9000", "link:9e6", "hold:fixed:450", "hold:exp:300:3"]
)
def test_batches_of_any_size_give_the_same_events(queue):
    times = arrival_times(500)
    whole = events_of(queue, times)
    assert events_of(queue, times, batch=1) == events_of(queue, times, batch=13) == whole


@pytest.mark.parametrize(
    "queue", ["fill-drain:7", "fifo:0.001", "link:1e3", "hold:fixed:1000000000000000"]
)
def test_times_at_the_limit_do_not_wrap(queue):
    times = [0, 2**63 - 1, 2**63 - 1]
    told = [event[3] for event in events_of(queue, times)]
    assert told == sorted(told)


@pytest.mark.parametrize(
    "queue",
    [
        "",
        "fifo",
        "fill-drain:",
        "fill-drain:0",
        "fill-drain:-1",
        "fill-drain:4294967296",
        "fill-drain:1_000",
        "fill-drain:٣",
        "fill-drain: 5",
        "fill-drain:5 ",
        "fifo:0",
        "fifo:-5",
        "fifo:nan",
        "fifo:inf",
        "fifo:1e10",
        "fifo:1e-4",
        "fifo:1e999",
        "hold:5",
        "link:999",
        "link:1e13",
        "hold:fixed:1.5",
        "hold:fixed:1000000000000001",
        "hold:exp:",
        "hold:exp:5:",
        "hold:exp:5:-1",
        "hold:exp:5:6:7",
        "hold:fixed:10min",
        "fifo:5,",
        "fifo:5,rate=0",
        "fifo:5,at=10.0.0.1",
        "fifo:5,to=10.0.0.1,from=10.0.0.2",
        "x" * 10_000,
    ],
)
def test_an_unknown_model_is_refused_with_the_known_ones(queue):
    with pytest.raises(HeapfitError, match=r'^queue model: ".*use fill-drain:N, fifo:RATE') as told:
        _engine.QueueModel(queue)
    assert len(str(told.value)) < 320


def test_packets_whose_times_decrease_are_refused():
    with pytest.raises(HeapfitError, match=r"^queue model: packet 2: its time decreases"):
        events_of("fifo:100", [5, 4])
    with pytest.raises(HeapfitError, match=r"^queue model: packet 1: .*reaches 2\^63"):
        events_of("fifo:100", [2**63])


def test_columns_of_different_lengths_are_refused():
    model = _engine.QueueModel("fifo:100")
    with pytest.raises(HeapfitError, match=r"^queue model: 2 times for 1 sizes"):
        model.feed(np.zeros(2, np.uint64), np.zeros(1, np.uint32))
