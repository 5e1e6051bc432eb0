// SPDX-License-Identifier: Apache-2.0
#include "capture/network_layer.hpp"

#include <algorithm>
#include <array>

#include "capture/bytes.hpp"

namespace heapfit {

namespace {

enum : std::uint16_t {
    largest_802_3_length = 1500, // a smaller "type" is a length, and LLC follows
    ethertype_ipv4 = 0x0800,
    ethertype_ipv6 = 0x86dd,
    ethertype_pppoe_session = 0x8864,
    ethertype_mpls = 0x8847,
    ethertype_mpls_upstream = 0x8848,
    ppp_ipv4 = 0x0021,
    ppp_ipv6 = 0x0057,
};

constexpr std::size_t pppoe_header = 6;
constexpr std::size_t mpls_label = 4;
constexpr int deepest_nesting = 8; // tags in one frame; real ones have two or three

bool is_vlan_tag(std::uint16_t type) { // 802.1Q, 802.1ad, and three used before 802.1ad
    return type == 0x8100 || type == 0x88a8 || type == 0x9100 || type == 0x9200 || type == 0x9300;
}

// LLC with SNAP of the IETF (000000) or of bridge tunnels (0000f8); both end with an EtherType.
bool is_snap(FrameBytes frame, std::size_t offset) {
    static constexpr std::array<std::uint8_t, 5> front = {0xaa, 0xaa, 0x03, 0x00, 0x00};
    if (frame.size() < offset + front.size() + 1) {
        return false;
    }
    const std::uint8_t last = frame[offset + front.size()];
    return std::ranges::equal(frame.subspan(offset, front.size()), front) &&
           (last == 0x00 || last == 0xf8);
}

// Bytes of a header that ends with another EtherType; 0 if `type` announces none.
std::size_t tag_size(FrameBytes frame, std::size_t offset, std::uint16_t type) {
    if (is_vlan_tag(type)) {
        return 4;
    }
    return type <= largest_802_3_length && is_snap(frame, offset) ? 8 : 0;
}

// Behind the last label of an MPLS stack (RFC 3032), which tells no protocol: IP shows by its
// version.
IpPlace follow_mpls(FrameBytes frame, std::size_t offset) {
    bool is_last = false;
    for (; !is_last && frame.size() >= offset + mpls_label; offset += mpls_label) {
        is_last = (frame[offset + 2] & 1) != 0;
    }
    return is_last ? ip_by_version(frame, offset) : IpPlace{};
}

} // namespace

IpPlace ip_at(FrameBytes frame, std::size_t offset, IpPlace::Kind announced) {
    const int version = announced == IpPlace::Kind::ipv4 ? 4 : 6;
    if (offset < frame.size() && frame[offset] >> 4 != version) {
        return {};
    }
    return {announced, offset};
}

IpPlace ip_by_version(FrameBytes frame, std::size_t offset) {
    if (frame.size() <= offset) {
        return {};
    }
    const int version = frame[offset] >> 4;
    return version == 4   ? IpPlace{IpPlace::Kind::ipv4, offset}
           : version == 6 ? IpPlace{IpPlace::Kind::ipv6, offset}
                          : IpPlace{};
}

IpPlace follow_ppp(FrameBytes frame, std::size_t offset) {
    if (frame.size() < offset + 2) {
        return {};
    }
    const bool is_compressed = (frame[offset] & 1) != 0; // the last byte of a number is odd
    const std::uint16_t protocol =
        is_compressed ? frame[offset] : load16(&frame[offset], std::endian::big);
    const std::size_t next = offset + (is_compressed ? 1 : 2);
    if (protocol == ppp_ipv4 || protocol == ppp_ipv6) {
        return ip_at(frame, next, protocol == ppp_ipv4 ? IpPlace::Kind::ipv4 : IpPlace::Kind::ipv6);
    }
    return {};
}

IpPlace follow_ethertype(FrameBytes frame, std::size_t offset, std::uint16_t type) {
    for (int depth = 0; depth <= deepest_nesting; ++depth) {
        switch (type) {
        case ethertype_ipv4:
            return ip_at(frame, offset, IpPlace::Kind::ipv4);
        case ethertype_ipv6:
            return ip_at(frame, offset, IpPlace::Kind::ipv6);
        case ethertype_pppoe_session:
            return follow_ppp(frame, offset + pppoe_header);
        case ethertype_mpls:
        case ethertype_mpls_upstream:
            return follow_mpls(frame, offset);
        default:
            break;
        }
        const std::size_t step = tag_size(frame, offset, type);
        if (step == 0 || frame.size() < offset + step) {
            return {};
        }
        offset += step;
        type = load16(&frame[offset - 2], std::endian::big);
    }
    return {};
}

} // namespace heapfit
