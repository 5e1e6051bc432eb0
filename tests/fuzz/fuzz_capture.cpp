// SPDX-License-Identifier: Apache-2.0
// Any bytes, in chunks of any size, give packets that keep the promises of packets.hpp or an Error,
// and the queue models take what the readers give. The first byte of an input sets the chunk size.
#include <optional>
#include <string>
#include <vector>

#include "heapfit/capture/capture.hpp"
#include "heapfit/capture/packet_table.hpp"
#include "heapfit/capture/queue_model.hpp"
#include "reading.hpp"

namespace {

using namespace heapfit;
using heapfit::fuzz::require;

void append(PacketColumns &all, const PacketColumns &more) {
    require(more.time_us.size() == more.size.size());
    all.time_us.insert(all.time_us.end(), more.time_us.begin(), more.time_us.end());
    all.size.insert(all.size.end(), more.size.begin(), more.size.end());
}

struct Outcome {
    PacketColumns packets;
    std::string error; // empty: the file was read to its end

    bool operator==(const Outcome &other) const {
        return packets.time_us == other.packets.time_us && packets.size == other.packets.size &&
               error == other.error;
    }
};

template <class Reader> Outcome outcome(std::span<const std::uint8_t> file, std::size_t chunk) {
    Outcome result;
    Reader reader;
    try {
        for (std::size_t at = 0; at < file.size(); at += chunk) {
            append(result.packets,
                   reader.feed(file.subspan(at, std::min(chunk, file.size() - at))));
        }
        reader.finish();
        require(reader.counts().packets == result.packets.size.size());
    } catch (const Error &error) {
        result.error = error.what();
        result.packets = {}; // how many packets precede an error depends on the chunks
        require(result.error.find('\n') == std::string::npos);
    }
    return result;
}

void check_packets(const PacketColumns &packets) {
    Tick last = 0;
    for (std::size_t i = 0; i < packets.size.size(); ++i) {
        require(packets.size[i] > 0 && packets.time_us[i] >= last);
        last = packets.time_us[i];
    }
}

void check_events(const PacketColumns &packets, const char *queue) {
    QueueModel model{queue};
    const QueueEvents events = model.feed(packets.time_us, packets.size);
    const QueueEvents rest = model.finish();
    std::size_t frees = rest.op.size(), allocations = 0;
    Tick last = 0;
    for (std::size_t i = 0; i < events.op.size(); ++i) {
        require(events.time_us[i] >= last);
        last = events.time_us[i];
        ++(events.op[i] == static_cast<std::uint8_t>(Op::free) ? frees : allocations);
    }
    require(allocations == packets.size.size() && frees <= allocations);
}

template <class Reader> void check(std::span<const std::uint8_t> file, std::size_t chunk) {
    const Outcome whole = outcome<Reader>(file, file.size() + 1);
    require(outcome<Reader>(file, chunk) == whole);
    check_packets(whole.packets);
    for (const char *queue :
         {"fill-drain:3", "fifo:1000", "link:1e6", "hold:exp:1000", "hold:fixed:5"}) {
        check_events(whole.packets, queue);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::span<const std::uint8_t> file{data + 1, size - 1};
    const std::size_t chunk = std::size_t{data[0]} + 1;
    check<CaptureReader>(file, chunk);
    check<PacketTableReader>(file, chunk);
    return 0;
}
