// SPDX-License-Identifier: Apache-2.0
#include "capture/records.hpp"

namespace heapfit {

namespace {

constexpr std::uint16_t ethernet_link = 1;

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
    const IpPlace place = find_ip == nullptr ? IpPlace{} : find_ip(packet.frame);
    const PacketEnds ip = ip_ends(packet.frame, place);
    const PacketEnds ethernet =
        find_ip == ip_finder(ethernet_link) ? ethernet_ends(packet.frame) : PacketEnds{};
    if (!ip.source.empty()) {
        packets.ip_addresses.add(ip);
        packets.ethernet_addresses.add(ethernet);
    }
    if (!packets.side.takes(ip, ethernet)) {
        ++counts.other_side;
        return;
    }
    if (packets.unit == PacketUnit::frame && packet.original > 0) {
        keep(packets, packet, packet.original);
        return;
    }
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
