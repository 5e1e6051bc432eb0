// SPDX-License-Identifier: Apache-2.0
#include "heapfit/capture/link_layer.hpp"

#include <algorithm>

#include "capture/bytes.hpp"
#include "capture/link_80211.hpp"
#include "capture/link_wrapped.hpp"
#include "capture/network_layer.hpp"

namespace heapfit {

namespace {

using Kind = IpPlace::Kind;

constexpr auto big = std::endian::big;

// A header of fixed size with an EtherType inside.
template <std::size_t header, std::size_t type_offset> IpPlace ip_behind_type(FrameBytes frame) {
    if (frame.size() < header) {
        return {};
    }
    return follow_ethertype(frame, header, load16(&frame[type_offset], big));
}

template <std::size_t header> IpPlace ip_bare(FrameBytes frame) {
    return ip_by_version(frame, header);
}

// LLC behind a header of fixed size.
template <std::size_t header> IpPlace ip_behind_llc(FrameBytes frame) {
    return follow_ethertype(frame, header, llc_follows);
}

IpPlace ip_bare_v4(FrameBytes frame) {
    return ip_at(frame, 0, Kind::ipv4);
}
IpPlace ip_bare_v6(FrameBytes frame) {
    return ip_at(frame, 0, Kind::ipv6);
}

constexpr IpFinder ip_in_hdlc = ip_behind_type<4, 2>;

// Cisco's HDLC where PPP or a loopback was announced: its address, and a control byte of 0.
bool is_hdlc(FrameBytes frame) {
    return frame.size() >= 2 && (frame[0] == 0x0f || frame[0] == 0x8f) && frame[1] == 0;
}

// BSD loopback: four bytes of address family, in the order of the machine that captured (NULL) or
// of the network (LOOP); small numbers, so the order shows by itself.
IpPlace ip_in_loopback(FrameBytes frame) {
    if (frame.size() < 4 || is_hdlc(frame)) {
        return ip_in_hdlc(frame);
    }
    const std::uint32_t family =
        std::min(load32(&frame[0], std::endian::little), load32(&frame[0], big));
    switch (family) {
    case 2:
        return ip_at(frame, 4, Kind::ipv4);
    case 10: // AF_INET6 of Linux, Windows, NetBSD and OpenBSD, FreeBSD, macOS
    case 23:
    case 24:
    case 28:
    case 30:
        return ip_at(frame, 4, Kind::ipv6);
    default: // some tools write an EtherType
        return family > 0xffff ? IpPlace{}
                               : follow_ethertype(frame, 4, static_cast<std::uint16_t>(family));
    }
}

// PPP, with or without address and control (ff 03); pppd writes the direction (00, 01) for the ff.
IpPlace ip_in_ppp(FrameBytes frame) {
    if (is_hdlc(frame)) {
        return ip_in_hdlc(frame);
    }
    const bool has_control =
        frame.size() >= 2 && frame[1] == 0x03 && (frame[0] == 0xff || frame[0] <= 1);
    return follow_ppp(frame, has_control ? 2 : 0);
}

// A byte that tells the direction, then the frame.
template <IpFinder find> IpPlace ip_behind_direction(FrameBytes frame) {
    return ip_behind(frame, 1, find);
}

// Addresses (and Linux's own offset), then the number of a protocol: IP as of RFC 1051, or of
// RFC 1201, where a byte tells the first part of a packet (0, or odd) from others and a number of
// two bytes follows; behind an exception's ff ff ff the same begins anew.
template <std::size_t header> IpPlace ip_in_arcnet(FrameBytes frame) {
    constexpr std::uint8_t ip_1051 = 0xf0, ip_1201 = 0xd4, exception = 0xff;
    if (frame.size() < header + 6) {
        return {};
    }
    if (frame[header] == ip_1051) {
        return ip_by_version(frame, header + 1);
    }
    const std::size_t part = header + (frame[header + 1] == exception ? 5 : 1);
    const bool is_first = frame[part] == 0 || (frame[part] & 1) != 0;
    return frame[header] == ip_1201 && is_first ? ip_by_version(frame, part + 3) : IpPlace{};
}

// A magic number, flags, the length of attributes where a flag says so, then the frame; without its
// link header if another says so, but with the protocol's number.
template <IpFinder find> IpPlace ip_in_juniper(FrameBytes frame) {
    constexpr std::uint8_t has_attributes = 0x80, has_no_link = 0x02;
    if (frame.size() < 6 || load32(&frame[0], big) >> 8 != 0x4d4743) {
        return {};
    }
    const std::size_t header =
        4 + ((frame[3] & has_attributes) != 0 ? std::size_t{2} + load16(&frame[4], big) : 0);
    return (frame[3] & has_no_link) != 0 ? ip_by_version(frame, header + 4)
                                         : ip_behind(frame, header, find);
}

IpPlace ip_in_pppoe(FrameBytes frame) {
    return follow_ppp(frame, 6);
}

struct LinkType {
    std::uint16_t number;
    const char *name;
    IpFinder find; // null: known by name, not supported
};

// https://www.tcpdump.org/linktypes.html; 11, 12 and 14 are numbers of older systems.
constexpr LinkType link_types[] = {
    {0, "NULL", ip_in_loopback},
    {1, "Ethernet", ip_behind_type<14, 12>},
    {6, "Token Ring", ip_in_token_ring},
    {7, "ARCNET", ip_in_arcnet<2>},
    {8, "SLIP", ip_bare<16>}, // the direction, and a header as it was compressed
    {9, "PPP", ip_in_ppp},
    {10, "FDDI", ip_in_fddi},
    {11, "ATM RFC 1483", ip_behind_llc<0>},
    {12, "raw IP", ip_bare<0>},
    {14, "raw IP", ip_bare<0>},
    {50, "PPP serial", ip_in_ppp},
    {51, "PPPoE", ip_in_pppoe},
    {100, "ATM RFC 1483", ip_behind_llc<0>},
    {101, "raw IP", ip_bare<0>},
    {104, "Cisco HDLC", ip_in_hdlc},
    {105, "802.11", ip_in_80211},
    {106, "ATM classical IP", ip_behind_llc<0>},
    {107, "Frame Relay", ip_in_frame_relay},
    {108, "LOOP", ip_in_loopback},
    {109, "IPsec ENC", ip_bare<12>},
    {113, "Linux cooked v1", ip_behind_type<16, 14>},
    {117, "PFLOG", ip_in_pflog},
    {119, "802.11 Prism", ip_in_prism},
    {122, "Fibre Channel", ip_behind_llc<16>},
    {123, "SunATM", ip_behind_llc<4>},
    {127, "802.11 radiotap", ip_in_radiotap},
    {129, "ARCNET of Linux", ip_in_arcnet<4>},
    {138, "IEEE 1394", ip_behind_type<18, 16>},
    {149, "PKTAP as USER2", ip_in_pktap},
    {163, "802.11 AVS", ip_in_prism},
    {166, "PPP pppd", ip_in_ppp},
    {178, "Juniper's Ethernet", ip_in_juniper<ip_behind_type<14, 12>>},
    {179, "Juniper's PPP", ip_in_juniper<ip_in_ppp>},
    {180, "Juniper's Frame Relay", ip_in_juniper<ip_in_frame_relay>},
    {181, "Juniper's Cisco HDLC", ip_in_juniper<ip_in_hdlc>},
    {192, "PPI", ip_in_ppi},
    {204, "PPP with direction", ip_behind_direction<ip_in_ppp>},
    {205, "Cisco HDLC with direction", ip_behind_direction<ip_in_hdlc>},
    {206, "Frame Relay with direction", ip_behind_direction<ip_in_frame_relay>},
    {226, "IPNET", ip_bare<24>},
    {228, "raw IPv4", ip_bare_v4},
    {229, "raw IPv6", ip_bare_v6},
    {239, "NFLOG", ip_in_nflog},
    {240, "netANALYZER", ip_behind_type<18, 16>},
    {241, "netANALYZER transparent", ip_behind_type<26, 24>},
    {242, "IP over InfiniBand", ip_behind_type<44, 40>},
    {258, "PKTAP", ip_in_pktap},
    {274, "Ethernet mPacket", ip_behind_type<22, 20>},
    {276, "Linux cooked v2", ip_behind_type<20, 0>},
    {281, "Broadcom's DSA tag", ip_behind_type<18, 16>},
    {282, "Broadcom's DSA tag ahead", ip_behind_type<18, 16>},
    {284, "DSA", ip_behind_type<18, 16>},
    {285, "EDSA", ip_behind_type<22, 20>},
    {132, "Juniper's ES", nullptr},
    {137, "Juniper's ATM1", nullptr},
    {147, "USER0", nullptr},
    {164, "Juniper's monitor", nullptr},
    {177, "Linux LAPD", nullptr},
    {182, "Juniper's FRF.16", nullptr},
    {187, "Bluetooth HCI", nullptr},
    {189, "Linux USB", nullptr},
    {190, "CAN 2.0B", nullptr},
    {195, "802.15.4", nullptr},
    {201, "Bluetooth HCI with direction", nullptr},
    {215, "802.15.4 with PHY", nullptr},
    {220, "Linux USB mmapped", nullptr},
    {227, "SocketCAN", nullptr},
    {230, "802.15.4 without FCS", nullptr},
    {231, "D-Bus", nullptr},
    {249, "USBPcap", nullptr},
    {251, "Bluetooth LE", nullptr},
    {252, "Wireshark exported PDU", nullptr},
    {253, "NETLINK", nullptr},
    {256, "Bluetooth LE with PHY", nullptr},
    {272, "nRF sniffer", nullptr},
    {283, "802.15.4 TAP", nullptr},
};

const LinkType *known_link_type(std::uint16_t number) {
    const auto *const found = std::ranges::find(link_types, number, &LinkType::number);
    return found == std::end(link_types) ? nullptr : found;
}

// The length the IP header tells; 0 where it tells none or was not captured.
std::uint32_t told_size(FrameBytes frame, IpPlace place) {
    const FrameBytes packet = frame.subspan(std::min(place.offset, frame.size()));
    if (place.kind == Kind::ipv4) {
        return packet.size() < 4 ? 0U : load16(&packet[2], big);
    }
    const std::uint32_t payload = packet.size() < 6 ? 0U : load16(&packet[4], big);
    return payload == 0 ? 0 : payload + 40;
}

} // namespace

IpFinder ip_finder(std::uint16_t link_type) {
    const LinkType *const known = known_link_type(link_type);
    return known == nullptr ? nullptr : known->find;
}

std::string link_type_title(std::uint16_t link_type) {
    const LinkType *const known = known_link_type(link_type);
    return std::to_string(link_type) +
           (known == nullptr ? "" : std::string{" ("} + known->name + ")");
}

IpSize ip_size(FrameBytes frame, IpPlace place, std::uint32_t original) {
    if (original <= place.offset) {
        return {};
    }
    const std::uint32_t in_frame = original - static_cast<std::uint32_t>(place.offset);
    const std::uint32_t told = told_size(frame, place);
    return told == 0 || told > in_frame ? IpSize{in_frame, true} : IpSize{told, false};
}

} // namespace heapfit
