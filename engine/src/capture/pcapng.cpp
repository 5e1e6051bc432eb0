// SPDX-License-Identifier: Apache-2.0
#include "capture/pcapng.hpp"

#include <algorithm>
#include <cstring>

#include "capture/bytes.hpp"
#include "capture/ticks.hpp"

namespace heapfit {

namespace {

enum : std::uint32_t {
    section_header = 0x0a0d0d0a,
    interface_description = 1,
    obsolete_packet = 2,
    simple_packet = 3,
    enhanced_packet = 6,
};

enum : std::uint16_t { option_end = 0, option_resolution = 9, option_time_offset = 14 };

constexpr std::uint32_t byte_order_magic = 0x1a2b3c4d;
constexpr std::uint32_t smallest_block = 12;
constexpr std::size_t block_head = 12;
constexpr std::size_t packet_fields = 16; // of enhanced and obsolete packets, behind the first word
constexpr std::size_t section_fields = 12; // version and section length, behind the magic
constexpr std::size_t largest_description = 1U << 20;
constexpr std::size_t most_interfaces = 1U << 16;

bool is_packet(std::uint32_t type) {
    return type == enhanced_packet || type == simple_packet || type == obsolete_packet;
}

bool has_body(std::uint32_t type) {
    return type == section_header || type == interface_description || is_packet(type);
}

} // namespace

bool PcapngFormat::recognise(const std::uint8_t *magic) {
    return load32(magic, std::endian::little) == section_header;
}

std::uint64_t PcapngFormat::take(FrameBytes piece, CapturePosition &position,
                                 PacketCollector &packets) {
    switch (state_) {
    case State::head:
        take_head(piece, position);
        return 0;
    case State::body:
        take_body(piece, position, packets);
        state_ = State::tail;
        needed_ = 4;
        return body_rest() - piece.size();
    default:
        take_tail(piece, position);
        return 0;
    }
}

void PcapngFormat::take_head(FrameBytes piece, CapturePosition &position) {
    std::memcpy(first_word_, &piece[8], sizeof first_word_);
    type_ = load32(&piece[0], order_);
    if (type_ == section_header) {
        order_ = load32(first_word_, std::endian::big) == byte_order_magic ? std::endian::big
                                                                           : std::endian::little;
        if (load32(first_word_, order_) != byte_order_magic) {
            position.fail("the section header has no byte-order magic (the file is damaged)");
        }
    }
    length_ = load32(&piece[4], order_);
    const std::uint32_t smallest = has_body(type_) ? smallest_block + 4 : smallest_block;
    if (length_ < smallest || length_ % 4 != 0 || length_ > largest_record) {
        position.fail("block length " + std::to_string(length_) + " is not a multiple of 4 from " +
                      std::to_string(smallest) + " to " + std::to_string(largest_record) +
                      " (the file is damaged)");
    }
    if (length_ == smallest_block) { // the word taken for the body's is the tail
        take_tail(FrameBytes{first_word_}, position);
        return;
    }
    state_ = State::body;
    needed_ = body_front();
}

// How much of the body behind its first word is looked at; blocks of other types are skipped.
std::size_t PcapngFormat::body_front() const {
    const std::size_t rest = body_rest();
    switch (type_) {
    case section_header:
        return std::min(rest, section_fields);
    case interface_description:
        return std::min(rest, largest_description);
    case obsolete_packet:
    case enhanced_packet:
        return std::min(rest, packet_fields + frame_prefix);
    case simple_packet:
        return std::min(rest, frame_prefix);
    default:
        return 0;
    }
}

void PcapngFormat::take_body(FrameBytes body, const CapturePosition &position,
                             PacketCollector &packets) {
    switch (type_) {
    case section_header:
        return open_section(body, position);
    case interface_description:
        return add_interface(body, position);
    case enhanced_packet:
        return add_packet(load32(first_word_, order_), body, position, packets);
    case obsolete_packet: // two bytes of interface, two of packets dropped
        return add_packet(load16(first_word_, order_), body, position, packets);
    case simple_packet:
        return add_simple_packet(body, position, packets);
    default:
        return;
    }
}

void PcapngFormat::take_tail(FrameBytes piece, CapturePosition &position) {
    const std::uint32_t repeated = load32(piece.data(), order_);
    if (repeated != length_) {
        position.fail("the block begins with length " + std::to_string(length_) +
                      " and ends with " + std::to_string(repeated) + " (the file is damaged)");
    }
    position.packet += is_packet(type_) ? 1U : 0U;
    state_ = State::head;
    needed_ = block_head;
}

void PcapngFormat::open_section(FrameBytes body, const CapturePosition &position) {
    if (body.size() < section_fields) {
        position.fail("the section header is too short (the file is damaged)");
    }
    const std::uint16_t major = load16(&body[0], order_);
    if (major != 1) {
        position.fail("pcapng version " + std::to_string(major) + " is not supported (1 is)");
    }
    interfaces_.clear();
}

void PcapngFormat::add_interface(FrameBytes body, const CapturePosition &position) {
    if (body.size() < 4) {
        position.fail("an interface description is too short (the file is damaged)");
    }
    if (body.size() != body_rest() || interfaces_.size() == most_interfaces) {
        position.fail("an interface description above 1 MiB, or the 65537th (the file is damaged)");
    }
    Interface interface;
    interface.link_type = load16(first_word_, order_);
    interface.find_ip = ip_finder(interface.link_type);
    interface.snap_length = load32(&body[0], order_);
    read_options(interface, body.subspan(4), position);
    interfaces_.push_back(interface);
}

// Every round takes at least four bytes, so the list ends whatever it says.
void PcapngFormat::read_options(Interface &interface, FrameBytes options,
                                const CapturePosition &position) const {
    while (options.size() >= 4) {
        const std::uint16_t code = load16(&options[0], order_);
        const std::size_t length = load16(&options[2], order_);
        const std::size_t padded = 4 + (length + 3) / 4 * 4;
        if (code == option_end) {
            return;
        }
        if (padded > options.size()) {
            position.fail("an option of the interface runs past its block (the file is damaged)");
        }
        read_option(interface, code, options.subspan(4, length), position);
        options = options.subspan(padded);
    }
}

void PcapngFormat::read_option(Interface &interface, std::uint16_t code, FrameBytes value,
                               const CapturePosition &position) const {
    const std::size_t expected = code == option_resolution ? 1 : code == option_time_offset ? 8 : 0;
    if (expected == 0) {
        return;
    }
    if (value.size() != expected) {
        position.fail("option " + std::to_string(code) + " of the interface has " +
                      std::to_string(value.size()) + " bytes instead of " +
                      std::to_string(expected) + " (the file is damaged)");
    }
    if (code == option_resolution) {
        interface.resolution = value[0];
    } else {
        interface.offset_seconds = static_cast<std::int64_t>(load64(value.data(), order_));
    }
}

const PcapngFormat::Interface &PcapngFormat::interface_at(std::uint32_t index,
                                                          const CapturePosition &position) const {
    if (index >= interfaces_.size()) {
        position.fail("its interface " + std::to_string(index) + " is not described (" +
                      std::to_string(interfaces_.size()) + " are; the file is damaged)");
    }
    return interfaces_[index];
}

void PcapngFormat::add_packet(std::uint32_t interface_index, FrameBytes body,
                              const CapturePosition &position, PacketCollector &packets) {
    const Interface &interface = interface_at(interface_index, position);
    if (body.size() < packet_fields) {
        position.fail("a packet block of " + std::to_string(length_) +
                      " bytes is too short (the file is damaged)");
    }
    CapturedPacket packet{};
    packet.captured = load32(&body[8], order_);
    packet.original = load32(&body[12], order_);
    settle_lengths(position, packet, packets.counts);
    if (packet.captured > body_rest() - packet_fields) {
        position.fail("captured length " + std::to_string(packet.captured) +
                      " runs past its block (the file is damaged)");
    }
    const FrameBytes data = body.subspan(packet_fields);
    packet.frame = data.first(std::min<std::size_t>(packet.captured, data.size()));
    const std::uint64_t ticks =
        std::uint64_t{load32(&body[0], order_)} << 32 | load32(&body[4], order_);
    const auto time = ticks_to_us(ticks, interface.resolution, interface.offset_seconds);
    packet.is_timed = time.has_value();
    packet.time_us = time.value_or(0);
    keep(interface, packet, packets);
}

void PcapngFormat::add_simple_packet(FrameBytes body, const CapturePosition &position,
                                     PacketCollector &packets) {
    const Interface &interface = interface_at(0, position);
    CapturedPacket packet{};
    packet.is_timed = false;
    packet.original = load32(first_word_, order_);
    packet.captured = std::min(packet.original, body_rest());
    if (interface.snap_length != 0) {
        packet.captured = std::min(packet.captured, interface.snap_length);
    }
    packet.frame = body.first(std::min<std::size_t>(packet.captured, body.size()));
    keep(interface, packet, packets);
}

void PcapngFormat::keep(const Interface &interface, const CapturedPacket &packet,
                        PacketCollector &packets) {
    if (interface.find_ip == nullptr && packets.unit == PacketUnit::ip) {
        ++packets.counts.records;
        ++packets.counts.unlisted[interface.link_type];
        return;
    }
    collect(packets, interface.find_ip, packet);
}

} // namespace heapfit
