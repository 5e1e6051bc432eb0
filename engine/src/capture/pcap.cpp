// SPDX-License-Identifier: Apache-2.0
#include "capture/pcap.hpp"

#include <algorithm>

#include "capture/bytes.hpp"

namespace heapfit {

namespace {

constexpr PcapLayout plain{24, 4, 20, 16, 0, 8, 12, 0};
constexpr PcapLayout patched{24, 4, 20, 24, 0, 8, 12, 0};
constexpr PcapLayout snoop{16, 10, 12, 24, 16, 4, 0, 8};
constexpr std::uint16_t supported_version = 2;
constexpr std::uint16_t minor_version_of_aix = 2;
constexpr std::uint16_t no_link = 0xffff;

// The link type of an interface's type (RFC 1573), which AIX writes.
constexpr std::uint16_t link_of_interface(std::uint16_t type) {
    return type == 6 ? 1 : type == 9 ? 6 : type == 15 ? 10 : type == 24 ? 0 : type;
}

struct Magic {
    std::uint32_t number;
    const PcapLayout *layout;
    bool is_nano;
};

constexpr Magic magics[] = {
    {0xa1b2c3d4, &plain, false},
    {0xa1b23c4d, &plain, true},
    {0xa1b2cd34, &patched, false},
};
constexpr std::uint32_t snoop_magic = 0x736e6f6f;

} // namespace

std::optional<PcapFormat> PcapFormat::recognise(const std::uint8_t *magic) {
    if (load32(magic, std::endian::big) == snoop_magic) {
        return PcapFormat{snoop, std::endian::big, false};
    }
    for (const std::endian order : {std::endian::little, std::endian::big}) {
        const auto *const found = std::ranges::find(magics, load32(magic, order), &Magic::number);
        if (found != std::end(magics)) {
            return PcapFormat{*found->layout, order, found->is_nano};
        }
    }
    return std::nullopt;
}

// The upper half of pcap's word tells about frame check sequences, which the size rule ignores.
std::uint16_t PcapFormat::link_type(FrameBytes header) const {
    constexpr std::uint16_t of_snoop[] = {1, no_link, 6, no_link, 1, 104, no_link, no_link, 10};
    const auto number = static_cast<std::uint16_t>(load32(&header[layout_->link_type], order_));
    if (layout_ == &snoop) {
        return number < std::size(of_snoop) ? of_snoop[number] : no_link;
    }
    return is_aix_ ? link_of_interface(number) : number;
}

void PcapFormat::take_header(FrameBytes piece, PacketUnit unit) {
    const std::uint16_t version = load16(&piece[layout_->version], order_);
    if (version != supported_version) {
        throw Error("offset " + std::to_string(layout_->version) + ": pcap version " +
                    std::to_string(version) + " is not supported (2 is)");
    }
    is_aix_ =
        layout_ == &plain && load16(&piece[layout_->version + 2U], order_) == minor_version_of_aix;
    is_nano_ = is_nano_ || is_aix_;
    const std::uint16_t link = link_type(piece);
    find_ip_ = ip_finder(link);
    if (find_ip_ == nullptr && unit == PacketUnit::ip) {
        throw Error("offset " + std::to_string(layout_->link_type) + ": link type " +
                    link_type_title(link) +
                    " is not supported (import --whole-frames takes its frames as they are)");
    }
}

// Nokia's firewalls, Red Hat 6.1 and SuSE 6.3 wrote longer records behind the same magics. Read as
// shorter ones, the second has seconds, or bytes of the first frame, for a fraction or a length.
void PcapFormat::require_its_records(const CapturePosition &position,
                                     std::uint32_t fraction) const {
    const bool is_time = fraction < (is_nano_ ? 1'000'000'000U : 1'000'000U);
    const std::uint32_t longest = std::max(packet_.captured, packet_.original);
    if (position.packet == 2 && layout_ != &snoop && (!is_time || longest > largest_record)) {
        position.fail("its time or length is none: a damaged file, or one of Nokia, Red Hat 6.1 "
                      "or SuSE 6.3, whose records are longer (editcap -F pcap converts it)");
    }
}

void PcapFormat::take_record(FrameBytes piece, const CapturePosition &position,
                             PacketCounts &counts) {
    const std::uint32_t seconds = load32(&piece[layout_->seconds], order_);
    const std::uint32_t fraction = load32(&piece[layout_->seconds + 4U], order_);
    packet_.time_us = std::int64_t{seconds} * 1'000'000 + (is_nano_ ? fraction / 1000 : fraction);
    packet_.captured = load32(&piece[layout_->captured], order_);
    packet_.original = load32(&piece[layout_->original], order_);
    require_its_records(position, fraction);
    settle_lengths(position, packet_, counts);
    if (layout_->length != 0) {
        const std::uint32_t used = packet_.captured + layout_->record;
        padding_ = std::max(load32(&piece[layout_->length], order_), used) - used;
    }
}

std::uint64_t PcapFormat::take_frame(FrameBytes piece, CapturePosition &position,
                                     PacketCollector &packets) {
    packet_.frame = piece;
    collect(packets, find_ip_, packet_);
    ++position.packet;
    return packet_.captured - piece.size() + padding_;
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
    needed_ = layout_->record;
    return drop;
}

} // namespace heapfit
