# SPDX-License-Identifier: Apache-2.0
"""Packet tables, and whole files on their way to a trace: what each one of a corpus gives.

The corpus is the folder HEAPFIT_CORPUS names. Where that is unset, the table of outcomes is run on
files generated here.
"""

import gzip
import os
import re
from pathlib import Path

import numpy as np
import pytest
from captures import ETHERNET, Reading, ethernet, ipv4, pcap

from heapfit.errors import HeapfitError
from heapfit.importers.packets import PacketSource, is_packets
from heapfit.importers.source import ImportOptions
from heapfit.importers.stream import ByteStream
from heapfit.trace.stored import prefix_errors

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


def test_a_bad_queue_model_is_refused_before_the_file_is_read(tmp_path):
    with (
        ByteStream(write(tmp_path, "a.pcap", CAPTURE)) as stream,
        pytest.raises(HeapfitError, match=r"^queue model"),
    ):
        PacketSource(stream, ImportOptions(queue="lifo"))


def test_captures_and_tables_are_told_by_their_first_bytes():
    assert is_packets(CAPTURE)
    assert is_packets(pcap([], order=">", is_nano=True))
    assert is_packets(SMALL_TABLE)
    assert not is_packets(LINES)
    assert not is_packets(b"")
    assert not is_packets(b"a 0 16\n")


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
    "net/industrial-bacnet-services.pkt.gz": 7049,
    "net/industrial-bsap.pkt.gz": 7916,
    "net/industrial-c37-pmu-unclean.pkt.gz": 7145,
    "net/industrial-cip-value.pkt.gz": 24708,
    "net/industrial-eip-changeport.pkt.gz": 2987,
    "net/industrial-iec61850-abb3.pkt.gz": 2459,
    "net/industrial-modbus-mb2.pkt.gz": 13425,
    "net/industrial-modbus-plant1.pkt.gz": 15387,
    "net/industrial-opcua.pkt.gz": 4714,
    "net/industrial-s7-wrapup.pkt.gz": 8696,
    "net/iot-coap-mqtt.pkt.gz": 8514,
    "net/iot-d-linkhomehub.pkt.gz": 15622,
    "net/iot-d-linksiren.pkt.gz": 11562,
    "net/iot-d-linkswitch.pkt.gz": 12701,
    "net/iot-d-linkwatersensor.pkt.gz": 11834,
    "net/iot-homematicplug.pkt.gz": 1024,
    "net/iot-huebridge.pkt.gz": 26667,
    "net/iot-hueswitch.pkt.gz": 38947,
    "net/iot-lightify.pkt.gz": 6960,
    "net/iot-maxgateway.pkt.gz": 1064,
    "net/iot-wemoinsightswitch2.pkt.gz": 2852,
    "net/iot-wemoswitch.pkt.gz": 5794,
    "net/iot-withings.pkt.gz": 1171,
    "net/mixed-malcolm-ssl.pkt.gz": 6740,
    "net/mixed-markofu-hackxmas.pkt.gz": 1150,
    "net/mixed-mercury-capture2.pkt.gz": 5584,
    "net/mixed-mercury-surfshark.pkt.gz": 4972,
    "net/mixed-ndpi-opera-vpn.pkt.gz": 3200,
    "net/mixed-ndpi-reddit.pkt.gz": 1942,
    "net/mixed-ndpi-teams.pkt.gz": 1498,
    "net/mixed-nf-alexa-app.pkt.gz": 3406,
    "net/mixed-nf-forticlient.pkt.gz": 2000,
    "net/mixed-nf-ftp.pkt.gz": 1192,
    "net/mixed-nf-instagram.pkt.gz": 3442,
    "net/mixed-nf-tor.pkt.gz": 3694,
    "net/mixed-nf-webex.pkt.gz": 1580,
    "net/mixed-ppp-example.pkt.gz": 4631,
    "net/mixed-slips-test7.pkt.gz": 1969,
    "net/mixed-suri-smb-filename.pkt.gz": 1520,
    "net/mixed-zeek-http-206b.pkt.gz": 1556,
    "net/mixed-zeek-ssh.pkt.gz": 1797,
    "net/own-lwip-pool.pkt.gz": 116079,
    "net/own-lwip-ram.pkt.gz": 112962,
    "net/own-mqtt-link.pkt.gz": 19868,
    "net/own-web-ts1.pkt.gz": 68468,
    "net/voip-fax-t38.pkt.gz": 1552,
    "net/voip-kakao-talk.pkt.gz": 3203,
    "net/voip-rtp-voice.pkt.gz": 1353,
    "net/voip-whatsapp-login-call.pkt.gz": 1251,
    "net/voip-wireguard.pkt.gz": 2399,
    "net/wifi-wep64-ptw.pkt.gz": NO_IP.format(65282, 34652),
    "net/wifi-wpa-induction.pkt.gz": NO_IP.format(1093, 808),
    "net/wifi-wpa-test-decode.pkt.gz": NO_IP.format(4274, 3338),
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


def test_every_capture_and_table_of_the_corpus_is_in_the_table_of_outcomes(tmp_path):
    for name, (content, _) in GENERATED.items():
        write(tmp_path, name, content)
    folder = Path(FOLDER) if FOLDER else tmp_path
    patterns = ["pcap/*", "net/*"] if FOLDER else ["*"]
    found = {str(path.relative_to(folder)) for each in patterns for path in folder.glob(each)}
    assert found == OUTCOMES.keys()
