// SPDX-License-Identifier: Apache-2.0
#include "capture/erf.hpp"

#include <algorithm>

#include "capture/bytes.hpp"

namespace heapfit {

namespace {

constexpr auto big = std::endian::big;
constexpr std::uint8_t has_extension = 0x80;

// What lies behind head and extensions: padding, then a frame of a link type.
struct ErfType {
    std::uint8_t number;
    std::uint8_t padding;
    std::uint16_t link_type;
};

constexpr ErfType types[] = {
    {1, 0, 104}, {2, 2, 1},    {11, 2, 1},   {16, 2, 1},   {20, 2, 1},
    {5, 0, 104}, {22, 0, 228}, {23, 0, 229}, {15, 0, 104}, {19, 0, 104},
};

const ErfType *find_type(std::uint8_t type) {
    const std::uint8_t number = type & static_cast<std::uint8_t>(~has_extension);
    const auto *const found = std::ranges::find(types, number, &ErfType::number);
    return found == std::end(types) ? nullptr : found;
}

// Packet over SONET has PPP where Cisco's HDLC has another address.
std::uint16_t link_of(const ErfType &type, FrameBytes frame) {
    constexpr std::uint8_t all_stations = 0xff;
    return type.link_type == 104 && !frame.empty() && frame[0] == all_stations ? 50
                                                                               : type.link_type;
}

} // namespace

// Without a magic: a known type that no text has there, a length, and a time from 1990 on.
std::optional<ErfFormat> ErfFormat::recognise(const std::uint8_t *record) {
    constexpr std::uint32_t year_1990 = 631'152'000;
    const std::uint32_t seconds = load32(&record[4], std::endian::little);
    const std::uint16_t length = load16(&record[10], big), wire = load16(&record[14], big);
    const bool is_packet = find_type(record[8]) != nullptr && length > head && wire > 0;
    return is_packet && seconds > year_1990 ? std::optional{ErfFormat{}} : std::nullopt;
}

void ErfFormat::take_head(FrameBytes piece, const CapturePosition &position) {
    const std::uint32_t length = load16(&piece[10], big);
    if (length < head) {
        position.fail("record length " + std::to_string(length) +
                      " is below 16 (the file is damaged)");
    }
    body_ = length - static_cast<std::uint32_t>(head);
    type_ = piece[8];
    packet_.original = load16(&piece[14], big);
    const std::uint64_t fraction = load32(&piece[0], std::endian::little);
    packet_.time_us = std::int64_t{load32(&piece[4], std::endian::little)} * 1'000'000 +
                      static_cast<std::int64_t>(fraction * 1'000'000 >> 32);
}

void ErfFormat::take_body(FrameBytes piece, const CapturePosition &position,
                          PacketCollector &packets) {
    const ErfType *const type = find_type(type_);
    std::size_t at = 0;
    for (std::uint8_t more = type_; (more & has_extension) != 0 && at < piece.size(); at += 8) {
        more = piece[at];
    }
    at += type == nullptr ? 0 : type->padding;
    if (at > piece.size()) {
        position.fail("its headers run past its record (the file is damaged)");
    }
    packet_.frame = piece.subspan(at);
    packet_.captured = std::min(body_ - static_cast<std::uint32_t>(at), packet_.original);
    packet_.frame =
        packet_.frame.first(std::min<std::size_t>(packet_.frame.size(), packet_.captured));
    if (type == nullptr) {
        ++packets.counts.records;
        ++packets.counts.no_ip;
        return;
    }
    collect(packets, ip_finder(link_of(*type, packet_.frame)), packet_);
}

std::uint64_t ErfFormat::take(FrameBytes piece, CapturePosition &position,
                              PacketCollector &packets) {
    if (is_between_) {
        take_head(piece, position);
        is_between_ = false;
        needed_ = std::min<std::size_t>(body_, frame_prefix);
        return 0;
    }
    take_body(piece, position, packets);
    ++position.packet;
    is_between_ = true;
    needed_ = head;
    return body_ - piece.size();
}

} // namespace heapfit
