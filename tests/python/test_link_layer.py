# SPDX-License-Identifier: Apache-2.0
"""Each link type leads to its IP packets, and to nothing else."""

import struct

import pytest
from captures import ETHERNET, MACS, RAW, Reading, ethernet, ipv4, ipv6, pcap, radiotap, snap, wlan

from heapfit.errors import HeapfitError

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
