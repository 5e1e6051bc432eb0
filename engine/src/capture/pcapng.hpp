// SPDX-License-Identifier: Apache-2.0
// The pcapng format, one piece at a time
// (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html). A file is sections of blocks;
// a section header sets the byte order and forgets the interfaces.
//
//   | type 4 | length 4 | body ...                          | length 4 |
//   | head 12: the body's first word included | body's rest | tail 4   |    <- the pieces
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "capture/records.hpp"

namespace heapfit {

class PcapngFormat {
  public:
    // Whether `magic` (the first four bytes) opens a section; the same in both byte orders.
    [[nodiscard]] static bool recognise(const std::uint8_t *magic);

    // Bytes of the next piece.
    [[nodiscard]] std::size_t needed() const { return needed_; }

    // Handles one piece of needed() bytes; gives how many to drop unread after it.
    std::uint64_t take(FrameBytes piece, CapturePosition &position, PacketCollector &packets);

    [[nodiscard]] bool is_between_packets() const { return state_ == State::head; }

  private:
    enum class State : std::uint8_t { head, body, tail };

    struct Interface {
        std::uint16_t link_type = 0;
        IpFinder find_ip = nullptr;
        std::uint32_t snap_length = 0;   // 0: unlimited
        std::uint8_t resolution = 6;     // if_tsresol: a tick is 10^-n s, or 2^-n s if bit 7 is set
        std::int64_t offset_seconds = 0; // if_tsoffset
    };

    void take_head(FrameBytes piece, CapturePosition &position);
    void take_body(FrameBytes body, const CapturePosition &position, PacketCollector &packets);
    void take_tail(FrameBytes piece, CapturePosition &position);

    void open_section(FrameBytes body, const CapturePosition &position);
    void add_interface(FrameBytes body, const CapturePosition &position);
    void read_options(Interface &interface, FrameBytes options,
                      const CapturePosition &position) const;
    void read_option(Interface &interface, std::uint16_t code, FrameBytes value,
                     const CapturePosition &position) const;
    void add_packet(std::uint32_t interface_index, FrameBytes body, const CapturePosition &position,
                    PacketCollector &packets);
    void add_simple_packet(FrameBytes body, const CapturePosition &position,
                           PacketCollector &packets);
    static void keep(const Interface &interface, const CapturedPacket &packet,
                     PacketCollector &packets);
    [[nodiscard]] const Interface &interface_at(std::uint32_t index,
                                                const CapturePosition &position) const;
    [[nodiscard]] std::size_t body_front() const;
    [[nodiscard]] std::uint32_t body_rest() const { return length_ - 16; }

    std::endian order_ = std::endian::little;
    State state_ = State::head;
    std::size_t needed_ = 12;
    std::uint32_t type_ = 0;
    std::uint32_t length_ = 0;     // of the block, its ends included
    std::uint8_t first_word_[4]{}; // of the body
    std::vector<Interface> interfaces_;
};

} // namespace heapfit
