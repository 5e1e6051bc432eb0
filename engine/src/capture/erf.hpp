// SPDX-License-Identifier: Apache-2.0
// Endace's extensible record format, which has no header of its own. A record:
//
//   | time 8 | type 1 | flags 1 | length 2 | lost 2 | on the wire 2 | extensions 8 each | frame |
//   | little-endian               | all else big-endian
#pragma once

#include <optional>

#include "capture/records.hpp"

namespace heapfit {

class ErfFormat {
  public:
    static constexpr std::size_t head = 16;

    // Nothing if these `head` bytes are no record of a packet.
    [[nodiscard]] static std::optional<ErfFormat> recognise(const std::uint8_t *record);

    // Bytes of the next piece.
    [[nodiscard]] std::size_t needed() const { return needed_; }

    // Handles one piece of needed() bytes; gives how many to drop unread after it.
    std::uint64_t take(FrameBytes piece, CapturePosition &position, PacketCollector &packets);

    [[nodiscard]] bool is_between_packets() const { return is_between_; }

  private:
    void take_head(FrameBytes piece, const CapturePosition &position);
    void take_body(FrameBytes piece, const CapturePosition &position, PacketCollector &packets);

    bool is_between_ = true;
    std::size_t needed_ = head;
    std::uint8_t type_ = 0;
    std::uint32_t body_ = 0; // bytes of the record behind its head
    CapturedPacket packet_{};
};

} // namespace heapfit
