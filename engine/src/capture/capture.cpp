// SPDX-License-Identifier: Apache-2.0
// Cuts chunks into the pieces a format asks for. A piece that lies whole in its chunk is not
// copied.
#include "heapfit/capture/capture.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "capture/erf.hpp"
#include "capture/pcap.hpp"
#include "capture/pcapng.hpp"
#include "capture/records.hpp"

namespace heapfit {

namespace {

constexpr std::size_t magic_size = 4;

using Format = std::variant<std::monostate, PcapFormat, PcapngFormat, ErfFormat>;

// By the first bytes; ERF is told by more of them than the others.
Format recognise(FrameBytes front) {
    if (front.size() < magic_size) {
        return {};
    }
    if (const auto pcap = PcapFormat::recognise(front.data())) {
        return *pcap;
    }
    if (PcapngFormat::recognise(front.data())) {
        return PcapngFormat{};
    }
    const auto erf =
        front.size() < ErfFormat::head ? std::nullopt : ErfFormat::recognise(front.data());
    return erf ? Format{*erf} : Format{};
}

} // namespace

struct CaptureReader::State {
    State(PacketUnit unit, DeviceSide side) : packets(unit, std::move(side)) {}

    CapturePosition position;
    PacketCollector packets;
    Format format;
    std::vector<std::uint8_t> pending; // the front of a piece that began in an earlier chunk
    std::uint64_t drop = 0;            // bytes still to be dropped unread

    void open(FrameBytes &chunk);
    [[nodiscard]] std::size_t gather(FrameBytes &chunk, std::size_t needed);
    void drop_from(FrameBytes &chunk);
    template <class Pieces> void take(Pieces &pieces, FrameBytes piece);
    template <class Pieces> void drive(Pieces &pieces, FrameBytes chunk);
    void read(FrameBytes chunk);
    [[nodiscard]] bool is_whole() const;
};

// Moves bytes from the chunk to the pending ones; gives how many are still missing.
std::size_t CaptureReader::State::gather(FrameBytes &chunk, std::size_t needed) {
    const std::size_t count = std::min(needed - pending.size(), chunk.size());
    pending.insert(pending.end(), chunk.begin(),
                   chunk.begin() + static_cast<std::ptrdiff_t>(count));
    chunk = chunk.subspan(count);
    return needed - pending.size();
}

// Tells the format by the first bytes, which stay pending for it.
void CaptureReader::State::open(FrameBytes &chunk) {
    for (const std::size_t size : {magic_size, ErfFormat::head}) {
        if (pending.size() < size && gather(chunk, size) > 0) {
            return;
        }
        format = recognise(pending);
        if (!std::holds_alternative<std::monostate>(format)) {
            return;
        }
    }
    throw Error("offset 0: not a capture (pcap, pcapng, snoop and ERF are)");
}

void CaptureReader::State::drop_from(FrameBytes &chunk) {
    const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(drop, chunk.size()));
    chunk = chunk.subspan(count);
    drop -= count;
    position.offset += count;
}

template <class Pieces> void CaptureReader::State::take(Pieces &pieces, FrameBytes piece) {
    drop = pieces.take(piece, position, packets);
    position.offset += piece.size();
    if (pieces.is_between_packets()) {
        position.record = position.offset + drop;
    }
}

template <class Pieces> void CaptureReader::State::drive(Pieces &pieces, FrameBytes chunk) {
    for (;;) {
        drop_from(chunk);
        if (drop > 0) {
            return;
        }
        const std::size_t needed = pieces.needed();
        if (pending.empty() && chunk.size() >= needed) {
            take(pieces, chunk.first(needed));
            chunk = chunk.subspan(needed);
            continue;
        }
        if (gather(chunk, needed) > 0) {
            return;
        }
        take(pieces, pending);
        pending.clear();
    }
}

void CaptureReader::State::read(FrameBytes chunk) {
    if (std::holds_alternative<std::monostate>(format)) {
        open(chunk);
    }
    std::visit(
        [&](auto &pieces) {
            if constexpr (!std::is_same_v<decltype(pieces), std::monostate &>) {
                drive(pieces, chunk);
            }
        },
        format);
}

bool CaptureReader::State::is_whole() const {
    const auto is_between = [](const auto &pieces) {
        if constexpr (std::is_same_v<decltype(pieces), const std::monostate &>) {
            return false;
        } else {
            return pieces.is_between_packets();
        }
    };
    return pending.empty() && drop == 0 && std::visit(is_between, format);
}

CaptureReader::CaptureReader(PacketUnit unit, DeviceSide side)
    : state_(std::make_unique<State>(unit, std::move(side))) {}

CaptureReader::~CaptureReader() = default;
CaptureReader::CaptureReader(CaptureReader &&) noexcept = default;
CaptureReader &CaptureReader::operator=(CaptureReader &&) noexcept = default;

PacketColumns CaptureReader::feed(std::span<const std::uint8_t> chunk) {
    State &state = *state_;
    if (counts().damage.empty()) {
        try {
            state.read(chunk);
        } catch (const Error &error) {
            state.packets.end_early(error.what());
        }
    }
    return state.packets.take();
}

void CaptureReader::finish() {
    State &state = *state_;
    const PacketCounts &counts = state.packets.counts;
    if (!counts.damage.empty()) {
        return;
    }
    if (std::holds_alternative<std::monostate>(state.format)) {
        throw Error("offset 0: not a capture: only " + std::to_string(state.pending.size()) +
                    " bytes");
    }
    if (!state.is_whole()) {
        const std::uint64_t end = state.position.offset + state.pending.size();
        state.packets.end_early(state.position.text(
            "the file ends at offset " + std::to_string(end) +
            ", inside this record (it was cut short; copy or record it again)"));
    }
    if (counts.packets > 0) {
        return;
    }
    throw Error(counts.no_packets());
}

const PacketCounts &CaptureReader::counts() const {
    return state_->packets.counts;
}

std::vector<Address> CaptureReader::common_addresses() const {
    const std::vector<Address> &ip = state_->packets.ip_addresses.list();
    const std::vector<Address> &ethernet = state_->packets.ethernet_addresses.list();
    return ip.size() == 1 || (ethernet.size() != 1 && !ip.empty()) ? ip : ethernet;
}

bool is_capture(std::span<const std::uint8_t> front) {
    return !std::holds_alternative<std::monostate>(recognise(front));
}

} // namespace heapfit
