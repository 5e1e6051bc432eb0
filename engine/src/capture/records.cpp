// SPDX-License-Identifier: Apache-2.0
#include "capture/records.hpp"

namespace heapfit {

void check_lengths(const CapturePosition &position, std::uint32_t captured,
                   std::uint32_t original) {
    if (captured > largest_record) {
        position.fail("captured length " + std::to_string(captured) + " is above " +
                      std::to_string(largest_record) + " (the file is damaged)");
    }
    if (captured > original) {
        position.fail("captured length " + std::to_string(captured) +
                      " is above the packet's own length " + std::to_string(original) +
                      " (the file is damaged)");
    }
}

void collect(PacketCollector &packets, IpFinder find_ip, const CapturedPacket &packet) {
    PacketCounts &counts = packets.counts;
    ++counts.records;
    const IpPlace place = find_ip(packet.frame);
    if (place.kind == IpPlace::Kind::encrypted) {
        ++counts.encrypted;
        return;
    }
    const IpSize size = place.kind == IpPlace::Kind::none
                            ? IpSize{}
                            : ip_size(packet.frame, place, packet.original);
    if (size.bytes == 0) {
        ++counts.no_ip;
        return;
    }
    counts.size_from_frame += size.is_from_frame ? 1U : 0U;
    if (packet.is_timed) {
        packets.add(packet.time_us, size.bytes);
    } else {
        packets.add_untimed(size.bytes);
    }
}

} // namespace heapfit
