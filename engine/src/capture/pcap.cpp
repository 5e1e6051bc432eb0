// SPDX-License-Identifier: Apache-2.0
#include "capture/pcap.hpp"

#include <algorithm>

#include "capture/bytes.hpp"

namespace heapfit {

namespace {

constexpr std::uint32_t magic_micro = 0xa1b2c3d4;
constexpr std::uint32_t magic_nano = 0xa1b23c4d;
constexpr std::size_t record_header = 16;
constexpr std::uint16_t supported_major = 2;

} // namespace

std::optional<PcapFormat> PcapFormat::recognise(const std::uint8_t *magic) {
    for (const std::endian order : {std::endian::little, std::endian::big}) {
        const std::uint32_t number = load32(magic, order);
        if (number == magic_micro || number == magic_nano) {
            return PcapFormat{order, number == magic_nano};
        }
    }
    return std::nullopt;
}

void PcapFormat::take_header(FrameBytes piece, PacketUnit unit) {
    const std::uint16_t major = load16(&piece[4], order_);
    if (major != supported_major) {
        throw Error("offset 4: pcap version " + std::to_string(major) + " is not supported (2 is)");
    }
    // The upper half of this word tells about frame check sequences, which the size rule ignores.
    const auto link_type = static_cast<std::uint16_t>(load32(&piece[20], order_));
    find_ip_ = ip_finder(link_type);
    if (find_ip_ == nullptr && unit == PacketUnit::ip) {
        throw Error("offset 20: link type " + link_type_title(link_type) +
                    " is not supported (supported: " + supported_link_types() +
                    "; import --whole-frames takes frames of any as they are)");
    }
}

void PcapFormat::take_record(FrameBytes piece, const CapturePosition &position,
                             PacketCounts &counts) {
    const std::uint32_t seconds = load32(&piece[0], order_);
    const std::uint32_t fraction = load32(&piece[4], order_);
    packet_.time_us = std::int64_t{seconds} * 1'000'000 + (is_nano_ ? fraction / 1000 : fraction);
    packet_.captured = load32(&piece[8], order_);
    packet_.original = load32(&piece[12], order_);
    settle_lengths(position, packet_, counts);
}

std::uint64_t PcapFormat::take_frame(FrameBytes piece, CapturePosition &position,
                                     PacketCollector &packets) {
    packet_.frame = piece;
    collect(packets, find_ip_, packet_);
    ++position.packet;
    return packet_.captured - piece.size();
}

std::uint64_t PcapFormat::take(FrameBytes piece, CapturePosition &position,
                               PacketCollector &packets) {
    if (state_ == State::record) {
        take_record(piece, position, packets.counts);
        state_ = State::frame;
        needed_ = std::min<std::size_t>(packet_.captured, frame_prefix);
        return 0;
    }
    std::uint64_t drop = 0;
    if (state_ == State::header) {
        take_header(piece, packets.unit);
    } else {
        drop = take_frame(piece, position, packets);
    }
    state_ = State::record;
    needed_ = record_header;
    return drop;
}

} // namespace heapfit
