// SPDX-License-Identifier: Apache-2.0
// The two ends of a packet: who sends it and who receives it, by the addresses of its IP header and
// of its Ethernet frame. By them what one device receives is told from what it sends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heapfit/capture/link_layer.hpp"

namespace heapfit {

// Of an Ethernet frame (6 bytes), IPv4 (4) or IPv6 (16).
using Address = std::vector<std::uint8_t>;

// Reads 10.0.0.1, fe80::1 or 02:00:5e:10:00:01. Throws Error if it is none of these.
[[nodiscard]] Address parsed_address(std::string_view text);
[[nodiscard]] std::string address_text(const Address &address);

// Empty where the packet does not tell them.
struct PacketEnds {
    FrameBytes source;
    FrameBytes destination;
};

[[nodiscard]] PacketEnds ip_ends(FrameBytes frame, IpPlace place);
[[nodiscard]] PacketEnds ethernet_ends(FrameBytes frame);

// The packets that count: all, or those that one device receives, to many at once included, or
// those that it sends.
struct DeviceSide {
    Address device; // empty: all
    bool is_sender = false;

    [[nodiscard]] bool takes(const PacketEnds &ip, const PacketEnds &ethernet) const;
};

// The addresses that stand at an end of every packet with one receiver: none, one or two.
class CommonAddresses {
  public:
    void add(const PacketEnds &ends);
    [[nodiscard]] const std::vector<Address> &list() const { return list_; }

  private:
    bool is_begun_ = false;
    std::vector<Address> list_;
};

} // namespace heapfit
