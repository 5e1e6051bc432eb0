// SPDX-License-Identifier: Apache-2.0
// CHECK tells file, line and statement, and ends the test; RUN names the test that runs.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "heapfit/error.hpp"

#define CHECK(statement)                                                                           \
    ((statement) ? (void)0                                                                         \
                 : (std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #statement), \
                    std::abort()))

#define RUN(test) (std::printf("%s\n", #test), std::fflush(stdout), test())

namespace heapfit::test {

// The message of the Error that `action` throws; fails if it throws none.
template <typename Action> std::string error_of(Action action) {
    try {
        action();
    } catch (const Error &error) {
        return error.what();
    }
    std::fprintf(stderr, "no Error was thrown\n");
    std::abort();
}

} // namespace heapfit::test
