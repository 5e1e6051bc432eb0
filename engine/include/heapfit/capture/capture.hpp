// SPDX-License-Identifier: Apache-2.0
// Reads a packet capture, pcap or pcapng of either byte order, from chunks of any size, into the
// packets it holds: IP packets only, sized by their IP header (link_layer.hpp tells the rule).
// Memory is bounded whatever the file says; only the fronts of frames are looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "heapfit/capture/packets.hpp"

namespace heapfit {

// Whether a file that begins with these bytes (at least four) is a capture.
[[nodiscard]] bool is_capture(std::span<const std::uint8_t> front);

class CaptureReader {
  public:
    CaptureReader();
    ~CaptureReader();
    CaptureReader(CaptureReader &&) noexcept;
    CaptureReader &operator=(CaptureReader &&) noexcept;

    // Reads the file's next bytes; gives the packets that became complete. Throws Error, naming the
    // packet and its offset, where the file is damaged or its link type is not supported; after
    // that the reader is of no more use.
    [[nodiscard]] PacketColumns feed(std::span<const std::uint8_t> chunk);

    // Throws Error if the file cannot end here, or held no IP packet.
    void finish() const;

    [[nodiscard]] const PacketCounts &counts() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace heapfit
