// SPDX-License-Identifier: Apache-2.0
// Any bytes, in chunks of any size, give the text, .rep, CSV, minimalloc and log readers a trace
// that keeps the rules of docs/evidence/schemas.md or an Error of one line. The first byte of an
// input sets the chunk size, the second whether events of unknown objects are dropped and, from its
// second bit on, which reader gets it: 0 all, as the corpus has it. What is made from the corpus
// goes to one alone, since five of six refuse it in their first line.
#include <algorithm>
#include <bit>
#include <iterator>
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
#include "reading.hpp"

namespace {

using namespace heapfit;
using heapfit::fuzz::require;

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
    result.error = fuzz::error_of_reading(reader, text, chunk);
    require_printable(result.error);
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

// A log in a form of the user's own: with addresses, or by size.
struct OwnLog : HeapLogTrace {
    explicit OwnLog(OnUnknown on_unknown)
        : HeapLogTrace(on_unknown,
                       {{Op::alloc, "got {size} at {address}"},
                        {Op::free, "gave {address}"},
                        {Op::resize, "moved {old} to {address}, {size}"}},
                       Equal::oldest) {}
};

struct OwnSizes : HeapLogTrace {
    explicit OwnSizes(OnUnknown on_unknown)
        : HeapLogTrace(on_unknown, {{Op::alloc, "got {size}"}, {Op::free, "gave {size}"}},
                       Equal::newest) {}
};

// Any description of a line is taken or refused in words.
void require_described(std::string_view text, std::size_t chunk, OnUnknown on_unknown) {
    try {
        const std::string line(text.substr(0, text.find('\n')));
        HeapLogTrace reader(on_unknown, {{Op::alloc, line}, {Op::free, line}}, Equal::oldest);
        reader.feed(text.substr(std::min(chunk, text.size())));
        reader.finish();
    } catch (const Error &error) {
        require_printable(error.what());
    }
}

constexpr decltype(&require_promises<TextTrace>) readers[] = {
    require_promises<TextTrace>,
    require_promises<RepTrace>,
    require_promises<CsvTrace>,
    require_promises<LifetimeTrace>,
    require_promises<HeapLogTrace>,
    require_promises<HeaptrackTrace>,
    require_promises<OwnLog>,
    require_promises<OwnSizes>,
    require_described,
};

// Which of them, from 1; 0 for all.
std::size_t reader_of(std::uint8_t told) {
    return told / 2 % (std::size(readers) + 1);
}

} // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t *data, std::size_t size, std::size_t most);

// libFuzzer's own changes, for one reader: the one it was for, or any.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t *data, std::size_t size,
                                               std::size_t most, unsigned seed) {
    const std::size_t made = LLVMFuzzerMutate(data, size, most);
    if (made >= 2 && reader_of(data[1]) == 0) {
        data[1] = static_cast<std::uint8_t>(data[1] % 2 + 2 * (seed % std::size(readers) + 1));
    }
    return made;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const std::string_view text(reinterpret_cast<const char *>(data) + 2, size - 2);
    const std::size_t chunk = data[0] % 64 + 1;
    const OnUnknown on_unknown = data[1] % 2 == 0 ? OnUnknown::refuse : OnUnknown::drop;
    for (std::size_t i = 0; i < std::size(readers); i++) {
        if (const std::size_t one = reader_of(data[1]); one == 0 || one == i + 1) {
            readers[i](text, chunk, on_unknown);
        }
    }
    return 0;
}
