// SPDX-License-Identifier: Apache-2.0
// From a captured frame to the IP packet inside it: one finder for each link type of the table in
// link_layer.cpp (numbers as in the LINKTYPE_ registry of the pcap format), and the size rule.
//
//   | link header (Ethernet, VLAN tags, PPP, 802.11, ...) | IP packet | padding |
//   0                                                     offset
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace heapfit {

using FrameBytes = std::span<const std::uint8_t>;

// Bytes at the front of a frame that are looked at; deeper headers count as no IP.
inline constexpr std::size_t frame_prefix = 1024;

struct IpPlace {
    enum class Kind : std::uint8_t { none, ipv4, ipv6, encrypted };
    Kind kind = Kind::none;
    std::size_t offset = 0; // of the IP header in the frame; ipv4 and ipv6 only
};

// Finds the IP packet in the captured front of a frame; null for link types that are not supported.
using IpFinder = IpPlace (*)(FrameBytes frame);
[[nodiscard]] IpFinder ip_finder(std::uint16_t link_type);

// "147 (USER0)"
[[nodiscard]] std::string link_type_title(std::uint16_t link_type);

struct IpSize {
    std::uint32_t bytes = 0;    // 0: nothing of a packet is there
    bool is_from_frame = false; // the header's length was absent, 0 or above what the frame held
};

// The size rule: IPv4's total length, IPv6's payload length + 40, however much was captured; where
// that is not told (0: segmentation offloads, jumbograms; or cut off by the snap length) or above
// `original` minus the link header, that difference. `original` is the frame's length on the wire.
[[nodiscard]] IpSize ip_size(FrameBytes frame, IpPlace place, std::uint32_t original);

} // namespace heapfit
