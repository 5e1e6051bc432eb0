// SPDX-License-Identifier: Apache-2.0
// What the two capture formats share: where in the file they are, and what they do with a packet.
#pragma once

#include <cstdint>
#include <string>

#include "heapfit/capture/link_layer.hpp"
#include "heapfit/capture/packets.hpp"
#include "heapfit/error.hpp"

namespace heapfit {

// The largest packet or block believed; anything above comes from a damaged length.
inline constexpr std::uint32_t largest_record = 1U << 24;

// Where a reader is, and the errors it raises there.
struct CapturePosition {
    std::uint64_t offset = 0; // of the next byte to be handled
    std::uint64_t record = 0; // of the first byte of the record or block being handled
    std::uint64_t packet = 1; // of the packet being handled, or of the next one; counted from 1

    [[nodiscard]] std::string text(const std::string &what) const {
        return "packet " + std::to_string(packet) + " at offset " + std::to_string(record) + ": " +
               what;
    }

    [[noreturn]] void fail(const std::string &what) const { throw Error(text(what)); }
};

struct CapturedPacket {
    FrameBytes frame;       // its front, frame_prefix bytes at most
    std::uint32_t captured; // bytes in the file
    std::uint32_t original; // bytes on the wire
    std::int64_t time_us;   // of the file's epoch
    bool is_timed = true;
};

// Throws where the lengths of a packet cannot be. Captures are damaged far more often than unusual.
// Throws where the captured length cannot be true; counts and mends an original one below it, which
// some tools write.
void settle_lengths(const CapturePosition &position, CapturedPacket &packet, PacketCounts &counts);

// Keeps the packet if it is IP, else counts why it is not.
void collect(PacketCollector &packets, IpFinder find_ip, const CapturedPacket &packet);

} // namespace heapfit
