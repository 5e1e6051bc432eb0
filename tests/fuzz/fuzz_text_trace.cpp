// SPDX-License-Identifier: Apache-2.0
// Any bytes, in chunks of any size, give the text, .rep, CSV, minimalloc and log readers a trace
// that keeps the rules of docs/trace-schema.md or an Error of one line. The first byte of an input
// sets the chunk size, the second whether events of unknown objects are dropped.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "heapfit/trace/csv.hpp"
#include "heapfit/trace/heap_log.hpp"
#include "heapfit/trace/heaptrack.hpp"
#include "heapfit/trace/lifetime.hpp"
#include "heapfit/trace/rep.hpp"
#include "heapfit/trace/text.hpp"

namespace {

using namespace heapfit;

void require(bool is_true) {
    if (!is_true) {
        std::abort();
    }
}

void require_printable(const std::string &told) {
    require(std::all_of(told.begin(), told.end(), [](char c) { return c >= ' ' && c <= '~'; }));
}

// The rules of a stored trace, with live objects in a map.
void require_sound(const TraceColumns &rows) {
    std::map<ObjectId, Bytes> live;
    ObjectId next = 0;
    for (std::size_t i = 0; i < rows.op.size(); i++) {
        const Op op{rows.op[i]};
        const ObjectId object = rows.object[i];
        require(rows.op[i] < op_count && rows.size[i] <= largest_request);
        require(i == 0 ? rows.time[i] == 0 : rows.time[i] >= rows.time[i - 1]);
        require(rows.alignment[i] == 0 ||
                (op == Op::aligned && std::has_single_bit(rows.alignment[i])));
        if (op == Op::free) {
            require(rows.size[i] == 0 && live.erase(object) == 1);
        } else if (op == Op::resize) {
            require(rows.size[i] > 0 && live.contains(object));
        } else {
            require(object == next++);
            live[object] = rows.size[i];
        }
    }
}

struct Outcome {
    TraceColumns rows;
    std::string error; // empty: read to the end

    bool operator==(const Outcome &) const = default;
};

template <class Reader>
Outcome outcome(std::string_view text, std::size_t chunk, OnUnknown on_unknown) {
    Outcome result;
    Reader reader(on_unknown);
    try {
        for (; !text.empty(); text.remove_prefix(std::min(chunk, text.size()))) {
            reader.feed(text.substr(0, chunk));
        }
        reader.finish();
    } catch (const Error &error) {
        result.error = error.what();
        require_printable(result.error);
    }
    result.rows = reader.builder().take();
    return result;
}

template <class Reader>
void require_promises(std::string_view text, std::size_t chunk, OnUnknown on_unknown) {
    const Outcome whole = outcome<Reader>(text, text.size() + 1, on_unknown);
    require_sound(whole.rows);
    require(!whole.error.empty() || !whole.rows.op.empty());
    require(whole == outcome<Reader>(text, chunk, on_unknown));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const std::string_view text(reinterpret_cast<const char *>(data) + 2, size - 2);
    const std::size_t chunk = data[0] % 64 + 1;
    const OnUnknown on_unknown = data[1] % 2 == 0 ? OnUnknown::refuse : OnUnknown::drop;
    require_promises<TextTrace>(text, chunk, on_unknown);
    require_promises<RepTrace>(text, chunk, on_unknown);
    require_promises<CsvTrace>(text, chunk, on_unknown);
    require_promises<LifetimeTrace>(text, chunk, on_unknown);
    require_promises<HeapLogTrace>(text, chunk, on_unknown);
    require_promises<HeaptrackTrace>(text, chunk, on_unknown);
    return 0;
}
