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
    ethertype_macsec = 0x88e5,
    ethertype_nsh = 0x894f,
    ethertype_arista = 0xd28b,
    ppp_ipv4 = 0x0021,
    ppp_ipv6 = 0x0057,
    ppp_mpls = 0x0281,
    ppp_mpls_multicast = 0x0283,
};

constexpr std::size_t pppoe_header = 6;
constexpr std::size_t mpls_label = 4;
constexpr std::size_t ethernet_header = 14;
constexpr int deepest_nesting = 8; // tags in one frame; real ones have two or three

// Bytes of a header of fixed size that ends with another EtherType; 0 if `type` announces none.
std::size_t fixed_tag_size(std::uint16_t type) {
    switch (type) {
    case 0x8100: // 802.1Q, 802.1ad, and three used before 802.1ad
    case 0x88a8:
    case 0x9100:
    case 0x9200:
    case 0x9300:
        return 4;
    case 0x8926: // VN-Tag
        return 6;
    case 0x8909: // Cisco's metadata
    case 0x893f: // 802.1BR
        return 8;
    case 0x8903: // FabricPath, and the frame that it carries
        return 2 + ethernet_header;
    case 0x88e7: // 802.1ah, and the frame that it carries
        return 4 + ethernet_header;
    default:
        return 0;
    }
}

bool is_mpls(std::uint16_t type) {
    return type == ethertype_mpls || type == ethertype_mpls_upstream;
}

// 802.1AE: where nothing is encrypted the EtherType follows.
std::size_t macsec_size(std::uint8_t control) {
    constexpr std::uint8_t has_channel = 0x20, is_encrypted = 0x08, is_changed = 0x04;
    return (control & (is_encrypted | is_changed)) != 0 ? 0 : (control & has_channel) != 0 ? 16 : 8;
}

// Arista's time stamp: of 8 bytes, or of 6.
std::size_t arista_size(std::uint8_t version) {
    return 4 + ((version & 0x20) != 0 ? 6 : 8) + 2;
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
    if (type <= largest_802_3_length) {
        return is_snap(frame, offset) ? 8 : 0;
    }
    if (type == ethertype_macsec && frame.size() > offset) {
        return macsec_size(frame[offset]);
    }
    if (is_mpls(type)) { // a wire's control word, and its frame (RFC 4448)
        return frame.size() > offset && frame[offset] >> 4 == 0 ? 4 + ethernet_header : 0;
    }
    if (type == ethertype_arista && frame.size() > offset + 3) {
        return arista_size(frame[offset + 3]);
    }
    return fixed_tag_size(type);
}

// Behind the last label of an MPLS stack (RFC 3032); the frame's end if there is none.
std::size_t skip_labels(FrameBytes frame, std::size_t offset) {
    while (frame.size() >= offset + mpls_label) {
        offset += mpls_label;
        if ((frame[offset - 2] & 1) != 0) {
            return offset;
        }
    }
    return frame.size();
}

// RFC 8300: a length in words, and which protocol follows.
IpPlace follow_nsh(FrameBytes frame, std::size_t offset) {
    constexpr std::uint8_t length_bits = 0x3f;
    return frame.size() < offset + 4
               ? IpPlace{}
               : ip_by_version(
                     frame, offset + 4 * static_cast<std::size_t>(frame[offset + 1] & length_bits));
}

} // namespace

IpPlace ip_at(FrameBytes frame, std::size_t offset, IpPlace::Kind announced) {
    return offset < frame.size() ? ip_by_version(frame, offset) : IpPlace{announced, offset};
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
    return protocol == ppp_mpls || protocol == ppp_mpls_multicast
               ? follow_ethertype(frame, next, ethertype_mpls)
               : IpPlace{};
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
        case ethertype_nsh:
            return follow_nsh(frame, offset);
        default:
            break;
        }
        if (is_mpls(type)) {
            offset = skip_labels(frame, offset);
        }
        const std::size_t step = tag_size(frame, offset, type);
        if (step == 0 || frame.size() < offset + step) {
            return is_mpls(type) ? ip_by_version(frame, offset) : IpPlace{};
        }
        offset += step;
        type = load16(&frame[offset - 2], std::endian::big);
    }
    return {};
}

} // namespace heapfit
