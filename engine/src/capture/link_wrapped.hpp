// SPDX-License-Identifier: Apache-2.0
// Finders of IP behind headers of varying size: of wide-area links, token ring, FDDI, and of what
// captures put before a frame (link_layer.cpp lists them).
#pragma once

#include "heapfit/capture/link_layer.hpp"

namespace heapfit {

[[nodiscard]] IpPlace ip_in_frame_relay(FrameBytes frame);
[[nodiscard]] IpPlace ip_in_token_ring(FrameBytes frame);
[[nodiscard]] IpPlace ip_in_fddi(FrameBytes frame);
[[nodiscard]] IpPlace ip_in_nflog(FrameBytes frame);
[[nodiscard]] IpPlace ip_in_pflog(FrameBytes frame);
[[nodiscard]] IpPlace ip_in_ppi(FrameBytes frame);
[[nodiscard]] IpPlace ip_in_pktap(FrameBytes frame);
[[nodiscard]] IpPlace ip_in_prism(FrameBytes frame); // or AVS, which came to take its place

// The place that a finder gives of what lies behind a header; none if the frame is shorter.
[[nodiscard]] IpPlace ip_behind(FrameBytes frame, std::size_t header, IpFinder find);

} // namespace heapfit
