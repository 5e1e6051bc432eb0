// SPDX-License-Identifier: Apache-2.0
// The classic pcap format, one fixed piece at a time
// (https://www.tcpdump.org/manpages/pcap-savefile.5.html):
//
//   | header 24 | record 16 | captured bytes | record 16 | captured bytes | ...
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "capture/records.hpp"

namespace heapfit {

class PcapFormat {
  public:
    // Nothing if `magic` (the first four bytes) is not pcap's, in either byte order.
    [[nodiscard]] static std::optional<PcapFormat> recognise(const std::uint8_t *magic);

    // Bytes of the next piece.
    [[nodiscard]] std::size_t needed() const { return needed_; }

    // Handles one piece of needed() bytes; gives how many to drop unread after it.
    std::uint64_t take(FrameBytes piece, CapturePosition &position, PacketCollector &packets);

    [[nodiscard]] bool is_between_packets() const { return state_ == State::record; }

  private:
    enum class State : std::uint8_t { header, record, frame };

    PcapFormat(std::endian order, bool is_nano) : order_(order), is_nano_(is_nano) {}
    void take_header(FrameBytes piece, PacketUnit unit);
    void take_record(FrameBytes piece, const CapturePosition &position, PacketCounts &counts);
    std::uint64_t take_frame(FrameBytes piece, CapturePosition &position, PacketCollector &packets);

    std::endian order_;
    bool is_nano_;
    State state_ = State::header;
    std::size_t needed_ = 24;
    IpFinder find_ip_ = nullptr;
    CapturedPacket packet_{};
};

} // namespace heapfit
