// SPDX-License-Identifier: Apache-2.0
// Reads a packet table: the text form of a capture, reduced to sizes and times. The first line is
// "# packet-sizes 1", other lines that begin with # are remarks, and each packet is a line of
//
//   t_us ip_len wire_len proto flow dir tcp_payload [80211]
//
// whole numbers, the last one hexadecimal: byte 0 of the frame control, and a digit that is 1 where
// the frame was encrypted. ip_len 0: no IP was seen (skipped).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "heapfit/capture/packets.hpp"

namespace heapfit {

// Whether a file that begins with these bytes is a packet table, of any version.
[[nodiscard]] bool is_packet_table(std::string_view front);

class PacketTableReader {
  public:
    // Reads the file's next bytes (unpacked); gives the packets of the lines that became complete.
    // Throws Error naming the line.
    [[nodiscard]] PacketColumns feed(std::span<const std::uint8_t> chunk);

    // A last line that is not complete is damage (packets.hpp). Throws Error if no packet had IP.
    void finish();

    [[nodiscard]] const PacketCounts &counts() const { return packets_.counts; }

  private:
    void take_line(std::string_view line);
    void take_first_line(std::string_view line) const;
    void take_packet(std::string_view line);
    [[nodiscard]] bool take_80211(std::string_view line) const;
    void check_length(std::size_t size) const;
    void keep_rest(std::string_view rest);
    [[nodiscard]] std::string text(const std::string &what) const;
    [[noreturn]] void fail(const std::string &what) const;

    std::uint64_t line_ = 1; // number of the line being read
    std::string pending_;    // the front of a line that began in an earlier chunk
    PacketCollector packets_;
};

} // namespace heapfit
