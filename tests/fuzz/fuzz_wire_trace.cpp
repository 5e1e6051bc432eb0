// SPDX-License-Identifier: Apache-2.0
// Any bytes, in chunks of any size, give the reader of recordings a trace or an Error of one line,
// and the same whatever the chunks. The first byte of an input sets the chunk size, the second
// whether events of unknown objects are dropped (bit 0) and whether a sound header stands before
// the rest (bit 1), of version 1 or 2 (bit 2).
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "heapfit/trace/wire.hpp"
#include "reading.hpp"
#include "wire.h"

namespace {

using namespace heapfit;
using heapfit::fuzz::require;

std::string sound_header(std::uint32_t version) {
    hfit_wire_header header{};
    std::memcpy(header.magic, HFIT_WIRE_MAGIC, sizeof(header.magic));
    header.version = version;
    header.header_size = sizeof(header);
    header.unit_size = version == 1 ? sizeof(hfit_wire_record_1) : 128;
    header.pointer_bits = 64;
    return std::string(reinterpret_cast<const char *>(&header), sizeof(header));
}

struct Outcome {
    std::vector<std::uint8_t> ops;
    std::vector<Bytes> sizes;
    std::vector<std::string> notes;
    std::string error; // empty: read to the end

    bool operator==(const Outcome &) const = default;
};

Outcome outcome(std::string_view bytes, std::size_t chunk, OnUnknown on_unknown) {
    Outcome result;
    WireTrace reader(on_unknown);
    result.error = fuzz::error_of_reading(reader, bytes, chunk);
    result.notes = result.error.empty() ? reader.notes() : std::vector<std::string>();
    TraceColumns rows = reader.builder().take();
    result.ops = std::move(rows.op);
    result.sizes = std::move(rows.size);
    return result;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    std::string bytes =
        (data[1] & 2) != 0 ? sound_header((data[1] & 4) == 0 ? 1 : 2) : std::string();
    bytes.append(reinterpret_cast<const char *>(data) + 2, size - 2);
    const std::size_t chunk = data[0] % 64 + 1;
    const OnUnknown on_unknown = (data[1] & 1) == 0 ? OnUnknown::refuse : OnUnknown::drop;
    const Outcome whole = outcome(bytes, bytes.size(), on_unknown);
    require(!whole.error.empty() || !whole.ops.empty());
    require(whole == outcome(bytes, chunk, on_unknown));
    return 0;
}
