// SPDX-License-Identifier: Apache-2.0
#include "heapfit/capture/packets.hpp"

#include <algorithm>
#include <utility>

#include "heapfit/capture/link_layer.hpp"
#include "heapfit/error.hpp"

namespace heapfit {

namespace {

// A damaged file may claim thousands.
constexpr std::size_t most_link_types_named = 8;

std::string counted(std::uint64_t count, const std::string &text) {
    return std::to_string(count) + (count == 1 ? " packet " : " packets ") + text;
}

} // namespace

std::vector<std::string> PacketCounts::notes() const {
    std::vector<std::string> list;
    const auto note = [&list](std::uint64_t count, const std::string &text) {
        if (count > 0) {
            list.push_back(counted(count, text));
        }
    };
    note(other_side, "left out: of the other direction, or of other devices");
    note(no_ip, "without IP skipped");
    note(encrypted, "of encrypted 802.11 skipped");
    std::size_t named = 0;
    std::uint64_t others = 0;
    for (const auto &[link_type, count] : unlisted) {
        if (++named <= most_link_types_named) {
            note(count, "of link type " + link_type_title(link_type) + " skipped: not supported");
        } else {
            others += count;
        }
    }
    note(others, "of still other link types skipped: not supported");
    note(size_from_frame, "sized by the frame: the IP header tells no usable length");
    note(above_mtu, "above " + std::to_string(usual_mtu) +
                        " B kept (offloads or a large MTU; largest " + std::to_string(largest) +
                        " B)");
    note(time_backwards, "timed before the one ahead: set to its time");
    note(untimed, "without a possible time: set to the time before");
    note(long_gaps, "after a gap above one hour: kept (fifo queues count it as one second)");
    note(short_lengths, "said to be shorter than what was captured: taken as captured");
    if (!damage.empty()) {
        list.push_back("The rest is left out, from " + damage);
    }
    return list;
}

std::string PacketCounts::no_packets() const {
    std::string text = "none of " + std::to_string(records) + " packets is " +
                       (other_side > 0 ? "of that device and direction" : "IP");
    const char *separator = " (";
    for (const std::string &note : notes()) {
        text += separator + note;
        separator = "; ";
    }
    text += records == 0 ? "" : ")";
    return text + (records == 0 || other_side > 0
                       ? ""
                       : "; import --whole-frames takes frames as they are");
}

Tick PacketCollector::place(std::int64_t absolute_us) {
    if (!is_started_) {
        is_started_ = true;
        first_us_ = last_us_ = absolute_us;
    }
    if (absolute_us < last_us_) {
        ++counts.time_backwards;
    } else {
        counts.long_gaps += static_cast<Tick>(absolute_us - last_us_) > long_gap_us ? 1U : 0U;
        last_us_ = absolute_us;
    }
    return static_cast<Tick>(last_us_ - first_us_);
}

void PacketCollector::add(std::int64_t absolute_us, std::uint32_t size) {
    columns_.time_us.push_back(place(absolute_us));
    columns_.size.push_back(size);
    ++counts.packets;
    counts.above_mtu += size > usual_mtu ? 1U : 0U;
    counts.largest = std::max(counts.largest, size);
}

void PacketCollector::add_untimed(std::uint32_t size) {
    ++counts.untimed;
    if (is_started_) {
        add(last_us_, size);
        return;
    }
    add(0, size);
    is_started_ = false; // the first packet with a time still becomes time 0
}

void PacketCollector::end_early(const std::string &damage) {
    if (counts.packets == 0) {
        throw Error(damage);
    }
    counts.damage = damage;
}

PacketColumns PacketCollector::take() {
    PacketColumns taken = std::exchange(columns_, {});
    columns_.time_us.reserve(taken.time_us.size()); // the next chunk has about as many
    columns_.size.reserve(taken.size.size());
    return taken;
}

} // namespace heapfit
