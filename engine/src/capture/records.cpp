// SPDX-License-Identifier: Apache-2.0
#include "capture/records.hpp"

namespace heapfit {

namespace {

void keep(PacketCollector &packets, const CapturedPacket &packet, std::uint32_t size) {
    if (packet.is_timed) {
        packets.add(packet.time_us, size);
    } else {
        packets.add_untimed(size);
    }
}

} // namespace

void settle_lengths(const CapturePosition &position, CapturedPacket &packet, PacketCounts &counts) {
    if (packet.captured > largest_record) {
        position.fail("captured length " + std::to_string(packet.captured) + " is above " +
                      std::to_string(largest_record) + " (the file is damaged)");
    }
    if (packet.captured > packet.original) {
        packet.original = packet.captured;
        ++counts.short_lengths;
    }
}

void collect(PacketCollector &packets, IpFinder find_ip, const CapturedPacket &packet) {
    PacketCounts &counts = packets.counts;
    ++counts.records;
    if (packets.unit == PacketUnit::frame && packet.original > 0) {
        keep(packets, packet, packet.original);
        return;
    }
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
    keep(packets, packet, size.bytes);
}

} // namespace heapfit
