// SPDX-License-Identifier: Apache-2.0
// A packet as a heap sees it: when it came and how many bytes it asks for. The readers of captures
// (capture.hpp) and of packet tables (packet_table.hpp) hand their packets to a collector, which
// keeps the time rules and counts every oddity, so that both tell them in the same words.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "heapfit/capture/ends.hpp"
#include "heapfit/event.hpp"

namespace heapfit {

// Absolute times lie within this of their epoch, in microseconds, so no difference of two can wrap.
inline constexpr std::int64_t time_limit_us = std::int64_t{1} << 62;

// A pause above this is told, and counts as one second where a server's rate is modelled.
inline constexpr Tick long_gap_us = 3600ULL * 1000 * 1000;

// The usual MTU. Captures hold larger packets where the network card splits or joins them.
inline constexpr std::uint32_t usual_mtu = 1500;

// Packets in file order, one column each: microseconds since the first packet (never decreasing),
// and bytes of the IP packet, header included.
struct PacketColumns {
    std::vector<Tick> time_us;
    std::vector<std::uint32_t> size;
};

struct PacketCounts {
    std::uint64_t records = 0;         // all packets of the file
    std::uint64_t packets = 0;         // those kept: IP, of a known size
    std::uint64_t other_side = 0;      // skipped: the device does not receive, or send, it
    std::uint64_t no_ip = 0;           // skipped: ARP, beacons, ...
    std::uint64_t encrypted = 0;       // skipped: protected 802.11 frames
    std::uint64_t size_from_frame = 0; // kept: the IP header tells no usable length
    std::uint64_t above_mtu = 0;       // kept: larger than usual_mtu
    std::uint32_t largest = 0;         // bytes
    std::uint64_t time_backwards = 0;  // kept, set to the time before
    std::uint64_t untimed = 0;         // kept, given the time before
    std::uint64_t long_gaps = 0;       // kept as they are
    std::uint64_t short_lengths = 0;   // kept: told shorter than what was captured
    std::map<std::uint16_t, std::uint64_t> unlisted; // skipped: packets of each unknown link type
    std::string
        damage; // where the file is cut or damaged, from where on nothing is read; "": whole

    // What was skipped, set or doubtful: a sentence each, a score at most, none if nothing was.
    [[nodiscard]] std::vector<std::string> notes() const;

    // Why a file without a packet kept is no use.
    [[nodiscard]] std::string no_packets() const;
};

// What of a capture's frame asks for memory: its IP packet, or the frame as it is, of any link.
enum class PacketUnit : std::uint8_t { ip, frame };

class PacketCollector {
  public:
    explicit PacketCollector(PacketUnit unit = PacketUnit::ip, DeviceSide side = {})
        : unit(unit), side(std::move(side)) {}

    // `absolute_us` may be of any epoch; the first packet becomes time 0.
    void add(std::int64_t absolute_us, std::uint32_t size);

    // A packet without a time of its own.
    void add_untimed(std::uint32_t size);

    // The file is cut or damaged here. Throws Error(damage) if no packet was kept before.
    void end_early(const std::string &damage);

    // The packets added since the last call.
    [[nodiscard]] PacketColumns take();

    const PacketUnit unit;
    const DeviceSide side;
    CommonAddresses ip_addresses, ethernet_addresses; // of all packets with IP
    PacketCounts counts;

  private:
    [[nodiscard]] Tick place(std::int64_t absolute_us);

    PacketColumns columns_;
    std::int64_t first_us_ = 0;
    std::int64_t last_us_ = 0;
    bool is_started_ = false; // a packet with a time was seen
};

} // namespace heapfit
