// SPDX-License-Identifier: Apache-2.0
// Any bytes, in chunks of any size, give the reader of a target's frames a trace or an Error of one
// line, and the same whatever the chunks. The first byte of an input sets the chunk size. If bit 0
// of the second is set, the rest is frames of 7 to 70 bytes, as a byte before each says, whose
// mark, length and CRC are made here: few inputs would come beyond those.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "heapfit/trace/frames.hpp"
#include "reading.hpp"

namespace {

using namespace heapfit;
using heapfit::fuzz::require;

std::uint16_t crc_of(std::string_view bytes) {
    unsigned crc = 0xffff;
    for (std::size_t i = 0; i < 8 * bytes.size(); i++) {
        const unsigned bit = static_cast<std::uint8_t>(bytes[i / 8]) >> (7 - i % 8) & 1u;
        crc = (crc << 1 ^ ((crc >> 15 ^ bit) & 1u) * 0x1021) & 0xffff;
    }
    return static_cast<std::uint16_t>(crc);
}

std::string frame(std::uint8_t about, std::string_view rest) {
    const bool is_header = (about & 0x80) != 0;
    std::string covered(1, static_cast<char>(rest.size() + 1 + (is_header ? 0x80 : 0)));
    covered += rest;
    const std::uint16_t crc = crc_of(covered);
    return "\xf5\xfd" + covered + static_cast<char>(crc) + static_cast<char>(crc >> 8);
}

std::string framed(std::string_view bodies) {
    std::string log;
    while (!bodies.empty()) {
        const auto about = static_cast<std::uint8_t>(bodies.front());
        bodies.remove_prefix(1);
        const std::size_t size = std::min<std::size_t>(7 + (about & 0x3f), bodies.size());
        log += frame(about, bodies.substr(0, size));
        bodies.remove_prefix(size);
    }
    return log;
}

struct Outcome {
    TraceColumns rows;
    std::vector<std::string> notes;
    std::string error; // empty: read to the end

    bool operator==(const Outcome &) const = default;
};

Outcome outcome(std::string_view bytes, std::size_t chunk) {
    Outcome result;
    FrameTrace reader(OnUnknown::drop);
    result.error = fuzz::error_of_reading(reader, bytes, chunk);
    result.notes = result.error.empty() ? reader.notes() : std::vector<std::string>();
    result.rows = reader.builder().take();
    return result;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const std::string_view rest(reinterpret_cast<const char *>(data) + 2, size - 2);
    const std::string log = (data[1] & 1) != 0 ? framed(rest) : std::string(rest);
    const Outcome whole = outcome(log, log.size() + 1);
    require(!whole.error.empty() || (!whole.rows.op.empty() && has_frame(log)));
    require(whole == outcome(log, data[0] % 64 + 1));
    return 0;
}
