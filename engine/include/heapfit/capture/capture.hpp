// SPDX-License-Identifier: Apache-2.0
// Reads a packet capture, pcap or pcapng of either byte order, from chunks of any size, into the
// packets it holds: IP packets only, sized by their IP header (link_layer.hpp tells the rule), or
// all frames, of any link type, as long as they were on the wire.
// Memory is bounded whatever the file says; only the fronts of frames are looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heapfit/capture/packets.hpp"

namespace heapfit {

// Whether a file that begins with these bytes (at least four) is a capture.
[[nodiscard]] bool is_capture(std::span<const std::uint8_t> front);

class CaptureReader {
  public:
    explicit CaptureReader(PacketUnit unit = PacketUnit::ip, DeviceSide side = {});
    ~CaptureReader();
    CaptureReader(CaptureReader &&) noexcept;
    CaptureReader &operator=(CaptureReader &&) noexcept;

    // Reads the file's next bytes; gives the packets that became complete. Where the file is
    // damaged the packets before are kept, nothing beyond is read, and counts().damage says where.
    // Throws Error, naming packet and offset, if none was kept before, or the link type is not
    // supported.
    [[nodiscard]] PacketColumns feed(std::span<const std::uint8_t> chunk);

    // A file that cannot end here is damaged. Throws Error if no IP packet was kept.
    void finish();

    [[nodiscard]] const PacketCounts &counts() const;

    // The address at an end of every packet so far; both of them where all are between two hosts;
    // none where the packets are of many. By Ethernet where IP's do not tell one.
    [[nodiscard]] std::vector<Address> common_addresses() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace heapfit
