// SPDX-License-Identifier: Apache-2.0
// The classic pcap format, one fixed piece at a time
// (https://www.tcpdump.org/manpages/pcap-savefile.5.html):
//
//   | header 24 | record 16 | captured bytes | record 16 | captured bytes | ...
//
// and two that differ in the places of their fields: the pcap of old patched Linux systems, and
// snoop (RFC 1761), whose records are padded. AIX's pcap, of version 2.2, counts nanoseconds and
// has link types of its own.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "capture/records.hpp"

namespace heapfit {

// Sizes, and offsets of fields.
struct PcapLayout {
    std::uint8_t header, version, link_type;
    std::uint8_t record, seconds, captured, original, length; // length: of the record; 0 for none
};

class PcapFormat {
  public:
    // Nothing if `magic` (the first four bytes) is none of these, in either byte order.
    [[nodiscard]] static std::optional<PcapFormat> recognise(const std::uint8_t *magic);

    // Bytes of the next piece.
    [[nodiscard]] std::size_t needed() const { return needed_; }

    // Handles one piece of needed() bytes; gives how many to drop unread after it.
    std::uint64_t take(FrameBytes piece, CapturePosition &position, PacketCollector &packets);

    [[nodiscard]] bool is_between_packets() const { return state_ == State::record; }

  private:
    enum class State : std::uint8_t { header, record, frame };

    PcapFormat(const PcapLayout &layout, std::endian order, bool is_nano)
        : layout_(&layout), order_(order), is_nano_(is_nano), needed_(layout.header) {}
    [[nodiscard]] std::uint16_t link_type(FrameBytes header) const;
    void take_header(FrameBytes piece, PacketUnit unit);
    void require_its_records(const CapturePosition &position, std::uint32_t fraction) const;
    void take_record(FrameBytes piece, const CapturePosition &position, PacketCounts &counts);
    std::uint64_t take_frame(FrameBytes piece, CapturePosition &position, PacketCollector &packets);

    const PcapLayout *layout_;
    std::endian order_;
    bool is_nano_;
    bool is_aix_ = false;
    State state_ = State::header;
    std::size_t needed_;
    std::uint32_t padding_ = 0; // behind a record's bytes
    IpFinder find_ip_ = nullptr;
    CapturedPacket packet_{};
};

} // namespace heapfit
