// SPDX-License-Identifier: Apache-2.0
#include "capture/link_wrapped.hpp"

#include <algorithm>
#include <bit>

#include "capture/bytes.hpp"
#include "capture/link_80211.hpp"
#include "capture/network_layer.hpp"

namespace heapfit {

namespace {

using Kind = IpPlace::Kind;

constexpr auto big = std::endian::big;
constexpr auto little = std::endian::little;

// RFC 2427: a control byte, padding, and the number of a network protocol. Cisco's own form has an
// EtherType there.
IpPlace follow_nlpid(FrameBytes frame, std::size_t offset) {
    constexpr std::uint8_t unnumbered = 0x03, ipv4 = 0xcc, ipv6 = 0x8e, snap = 0x80;
    if (frame.size() < offset + 3) {
        return {};
    }
    if (frame[offset] != unnumbered) {
        return follow_ethertype(frame, offset + 2, load16(&frame[offset], big));
    }
    offset += frame[offset + 1] == 0 ? 2 : 1;
    switch (frame[offset]) {
    case ipv4:
        return ip_at(frame, offset + 1, Kind::ipv4);
    case ipv6:
        return ip_at(frame, offset + 1, Kind::ipv6);
    case snap: // three bytes of an organization, then an EtherType
        return frame.size() < offset + 6
                   ? IpPlace{}
                   : follow_ethertype(frame, offset + 6, load16(&frame[offset + 4], big));
    default:
        return {};
    }
}

// Attributes of netfilter, of which one is the packet: | length 2 | type 2 | value | padding |
IpPlace find_attribute(FrameBytes frame, std::endian order) {
    constexpr std::uint16_t type_bits = 0x7fff, payload = 9;
    for (std::size_t at = 4; frame.size() >= at + 4;) {
        const std::size_t length = load16(&frame[at], order);
        if (length < 4) {
            break;
        }
        if ((load16(&frame[at + 2], order) & type_bits) == payload) {
            return ip_by_version(frame, at + 4);
        }
        at += (length + 3) & ~std::size_t{3};
    }
    return {};
}

// Behind a header that names the link type of what follows; not behind another such header.
IpPlace ip_behind_named(FrameBytes frame, std::size_t header, std::uint32_t link_type) {
    const IpFinder find =
        link_type > 0xffff ? nullptr : ip_finder(static_cast<std::uint16_t>(link_type));
    const bool is_nested = find == ip_in_ppi || find == ip_in_pktap;
    return is_nested ? IpPlace{} : ip_behind(frame, header, find);
}

} // namespace

IpPlace ip_behind(FrameBytes frame, std::size_t header, IpFinder find) {
    if (find == nullptr || frame.size() < header) {
        return {};
    }
    IpPlace place = find(frame.subspan(header));
    place.offset += header;
    return place;
}

// An address of two to four bytes; its last one is odd (Q.922).
IpPlace ip_in_frame_relay(FrameBytes frame) {
    for (std::size_t at = 1; at < 4 && at < frame.size(); at++) {
        if ((frame[at] & 1) != 0) {
            return follow_nlpid(frame, at + 1);
        }
    }
    return {};
}

// Behind the source address a route, if the address's first bit says so.
IpPlace ip_in_token_ring(FrameBytes frame) {
    constexpr std::size_t header = 14, source = 8;
    constexpr std::uint8_t type_bits = 0xc0, data = 0x40, is_routed = 0x80, route_bits = 0x1f;
    if (frame.size() <= header || (frame[1] & type_bits) != data) {
        return {};
    }
    const std::size_t route = (frame[source] & is_routed) != 0 ? frame[header] & route_bits : 0;
    return follow_ethertype(frame, header + route, llc_follows);
}

IpPlace ip_in_fddi(FrameBytes frame) {
    constexpr std::size_t header = 13;
    constexpr std::uint8_t class_bits = 0xf0, data = 0x50;
    if (frame.empty() || (frame[0] & class_bits) != data) {
        return {};
    }
    return follow_ethertype(frame, header, llc_follows);
}

// In the byte order of the machine that captured; lengths are small, so one of the two has none.
IpPlace ip_in_nflog(FrameBytes frame) {
    const IpPlace place = find_attribute(frame, little);
    return place.kind == Kind::none ? find_attribute(frame, big) : place;
}

// OpenBSD's header tells its own length, without padding.
IpPlace ip_in_pflog(FrameBytes frame) {
    return frame.empty() ? IpPlace{} : ip_by_version(frame, (frame[0] + 3U) & ~std::size_t{3});
}

// https://www.cacetech.com/documents/PPI_Header_format_1.0.1.pdf
IpPlace ip_in_ppi(FrameBytes frame) {
    return frame.size() < 8
               ? IpPlace{}
               : ip_behind_named(frame, load16(&frame[2], little), load32(&frame[4], little));
}

// Apple's, which begins with its length, the next header's type, and the link type.
IpPlace ip_in_pktap(FrameBytes frame) {
    return frame.size() < 12
               ? IpPlace{}
               : ip_behind_named(frame, load32(&frame[0], little), load32(&frame[8], little));
}

// Both begin with a number and the header's length, AVS in the network's order.
IpPlace ip_in_prism(FrameBytes frame) {
    constexpr std::uint32_t avs = 0x80211000;
    if (frame.size() < 8) {
        return {};
    }
    const std::uint32_t length = (load32(&frame[0], big) & ~0xfU) == avs
                                     ? load32(&frame[4], big)
                                     : std::min(load32(&frame[4], big), load32(&frame[4], little));
    return ip_behind(frame, length, ip_in_80211);
}

} // namespace heapfit
