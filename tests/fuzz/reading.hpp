// SPDX-License-Identifier: Apache-2.0
// What fuzzers of readers share: statements that must hold, and a reader fed in chunks.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "heapfit/error.hpp"

namespace heapfit::fuzz {

inline void require(bool is_true) {
    if (!is_true) {
        std::abort();
    }
}

// Feeds all bytes and ends; the message of the Error, of one line, or nothing.
template <class Reader>
std::string error_of_reading(Reader &reader, std::string_view bytes, std::size_t chunk) {
    try {
        for (; !bytes.empty(); bytes.remove_prefix(std::min(chunk, bytes.size()))) {
            reader.feed(bytes.substr(0, chunk));
        }
        reader.finish();
    } catch (const Error &error) {
        const std::string told = error.what();
        require(!told.empty() && told.find('\n') == std::string::npos);
        return told;
    }
    return {};
}

} // namespace heapfit::fuzz
