// SPDX-License-Identifier: Apache-2.0
// What link layers share below their own headers: chains of EtherTypes, PPP, and the version nibble
// that every finder ends with.
#pragma once

#include "heapfit/capture/link_layer.hpp"

namespace heapfit {

// As the `type` of follow_ethertype: an LLC header is next, as behind a length of 802.3.
inline constexpr std::uint16_t llc_follows = 0;

// IP at `offset`, of the kind that its version nibble tells, whatever was announced; none if that
// is neither. A header that was not captured at all is believed: the frame still tells its size.
[[nodiscard]] IpPlace ip_at(FrameBytes frame, std::size_t offset, IpPlace::Kind announced);

// IP at `offset` where nothing announces it but its version.
[[nodiscard]] IpPlace ip_by_version(FrameBytes frame, std::size_t offset);

// Follows the EtherType or 802.3 length `type`, read just before `offset`, through the tags of
// VLANs, switches and service chains, unencrypted MACsec, frames in frames, MPLS, LLC/SNAP and
// PPPoE.
[[nodiscard]] IpPlace follow_ethertype(FrameBytes frame, std::size_t offset, std::uint16_t type);

// A PPP protocol number at `offset`, of two bytes or compressed to one.
[[nodiscard]] IpPlace follow_ppp(FrameBytes frame, std::size_t offset);

} // namespace heapfit
