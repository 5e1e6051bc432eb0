// SPDX-License-Identifier: Apache-2.0
// CHECK tells file, line and statement, and ends the test. TEST(what_holds) { ... } defines a test;
// main.cpp names and runs those of a file in their order.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "heapfit/error.hpp"

#define CHECK(statement)                                                                           \
    ((statement) ? (void)0                                                                         \
                 : (std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #statement), \
                    std::abort()))

// What `__VA_ARGS__`, an expression, throws is an Error whose message has this in it.
#define CHECK_ERROR(message, ...)                                                                  \
    CHECK(heapfit::test::error_of([&] { (void)(__VA_ARGS__); }).find(message) != std::string::npos)

#define TEST(name)                                                                                 \
    void name();                                                                                   \
    [[maybe_unused]] const bool is_added_##name =                                                  \
        (heapfit::test::all().push_back({__FILE__, #name, name}), true);                           \
    void name()

namespace heapfit::test {

struct Test {
    std::string_view file;
    const char *name;
    void (*run)();
};

inline std::vector<Test> &all() {
    static std::vector<Test> tests;
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
