// SPDX-License-Identifier: Apache-2.0
// CHECK tells file, line and statement, and ends the test. TEST(what_holds) { ... } defines a test
// of a file that ends in RUN_TESTS(), which names and runs them in their order.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heapfit/error.hpp"

#define CHECK(statement)                                                                           \
    ((statement) ? (void)0                                                                         \
                 : (std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #statement), \
                    std::abort()))

#define TEST(name)                                                                                 \
    void name();                                                                                   \
    [[maybe_unused]] const bool is_added_##name =                                                  \
        (heapfit::test::all().emplace_back(#name, name), true);                                    \
    void name()

#define RUN_TESTS()                                                                                \
    int main() {                                                                                   \
        for (const auto &[name, run] : heapfit::test::all()) {                                     \
            std::printf("%s\n", name);                                                             \
            std::fflush(stdout);                                                                   \
            run();                                                                                 \
        }                                                                                          \
    }

namespace heapfit::test {

// The tests of a file, by name.
inline std::vector<std::pair<const char *, void (*)()>> &all() {
    static std::vector<std::pair<const char *, void (*)()>> tests;
    return tests;
}

// Of so many turns of what is drawn or goes through all of a kind a tenth, or all of them in
// `make test-long`.
inline std::uint64_t turns(std::uint64_t all) {
    static const bool has_all = std::getenv("HEAPFIT_ALL_TURNS") != nullptr;
    return has_all ? all : (all + 9) / 10;
}

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
