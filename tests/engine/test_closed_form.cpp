// SPDX-License-Identifier: Apache-2.0
// Closed forms against values worked out by hand and against each other; tests/python has them
// against exact rationals.
#include <cmath>
#include <limits>

#include "check.hpp"
#include "heapfit/simulate/closed_form.hpp"

using namespace heapfit;

namespace {

bool is_near(double found, double expected) {
    return std::abs(found - expected) <= 1e-12 * std::abs(expected);
}

std::vector<double> refused(std::uint64_t units, const std::vector<std::uint64_t> &demand,
                            const std::vector<double> &offered) {
    return kaufman_roberts(units, demand, offered);
}

TEST(erlang_b_without_servers_refuses_all_and_without_traffic_none) {
    CHECK(erlang_b(0, 3.0) == 1.0);
    CHECK(erlang_b(5, 0.0) == 0.0);
}

TEST(erlang_b_stays_a_share_where_factorials_overflow) {
    const double heavy = erlang_b(1'000, 1e12);
    CHECK(heavy > 0.999'999 && heavy <= 1.0);
    const double light = erlang_b(100'000, 100'000.0);
    CHECK(light > 0 && light < 0.01); // about sqrt(2 / (pi n))
    CHECK(std::abs(light * std::sqrt(100'000.0 * 3.141592653589793 / 2) - 1) < 0.01);
}

TEST(heavy_traffic_neither_overflows_nor_becomes_nan) {
    const auto found = refused(1024, {1, 2, 3, 4}, {1e6, 1e6, 1e6, 1e6});
    for (const double one : found) {
        CHECK(one > 0.99 && one <= 1.0);
    }
    CHECK(found[0] < found[3]);
}

TEST(light_traffic_is_refused_as_rarely_as_it_is) {
    // q(3) / sum with offered a = 1e-6: a^3 / 6 to first order.
    const auto found = refused(3, {1}, {1e-6});
    CHECK(std::abs(found[0] / (1e-18 / 6) - 1) < 1e-5);
}

TEST(a_class_above_all_units_is_refused_and_takes_nothing_from_others) {
    const auto found = refused(10, {1, 11}, {4.0, 100.0});
    CHECK(found[1] == 1.0);
    CHECK(is_near(found[0], erlang_b(10, 4.0)));
}

TEST(bad_traffic_is_refused) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK_ERROR("must be a number", erlang_b(1, nan));
    CHECK_ERROR("-1", erlang_b(1, -1.0));
    CHECK_ERROR("1 unit", refused(2, {0}, {1.0}));
    CHECK_ERROR("one offer", refused(2, {1}, {}));
    CHECK_ERROR("2^26", refused(1ULL << 40, {1}, {1.0}));
}

} // namespace
