// SPDX-License-Identifier: Apache-2.0
// Finders of IP in 802.11 frames, bare and behind radiotap (link_layer.cpp lists them).
#pragma once

#include "heapfit/capture/link_layer.hpp"

namespace heapfit {

[[nodiscard]] IpPlace ip_in_80211(FrameBytes frame);
[[nodiscard]] IpPlace ip_in_radiotap(FrameBytes frame);

} // namespace heapfit
