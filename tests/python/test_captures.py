# SPDX-License-Identifier: Apache-2.0
"""pcap and pcapng: both byte orders, their clocks, and every way a file can be damaged."""

import struct

import pytest
from captures import (
    ETHERNET,
    RAW,
    Reading,
    block,
    enhanced,
    erf,
    ethernet,
    interface,
    ipv4,
    obsolete,
    option,
    patched_pcap,
    pcap,
    section,
    simple,
    snoop,
)

from heapfit.errors import HeapfitError

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


def test_the_first_timed_packet_is_time_zero_even_behind_untimed_ones():
    content = ng(interface(), simple(FRAMES[0]), enhanced(10**15, FRAMES[1]))
    assert Reading(content).times == [0, 0]


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


def test_unlisted_interfaces_alone_are_refused():
    expected = (
        r"^none of 1 packets is IP \(1 packet of link type 147 .USER0. .*; import --whole-frames"
    )
    with pytest.raises(HeapfitError, match=expected):
        Reading(ng(interface(147), enhanced(0, FRAMES[0])))


def test_at_most_eight_unlisted_link_types_are_named():
    strange = b"".join(interface(60_000 + i) for i in range(20))
    packets = b"".join(enhanced(0, FRAMES[0], index=i) for i in range(21))
    notes = Reading(ng(strange, interface(), packets)).notes
    assert len(notes) == 9
    assert notes[0] == "1 packet of link type 60000 skipped: not supported"
    assert notes[-1] == "12 packets of still other link types skipped: not supported"


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


def test_times_before_their_epoch_are_below_those_after_it():
    reading = Reading(clocked(6, [5, -2_000_000_000, 9]))
    assert reading.times == [0, 0, 4]
    assert reading.notes == ["1 packet timed before the one ahead: set to its time"]


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
    assert reading.notes == ["1 packet after a gap above one hour: the gap is kept"]


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
