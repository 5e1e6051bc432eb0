// SPDX-License-Identifier: Apache-2.0
// The object table against an unordered_map, and the loop that refuses bad traces.
#include <random>
#include <unordered_map>

#include "check.hpp"
#include "heapfit/trace/follow.hpp"
#include "random_trace.hpp"

using namespace heapfit;
using heapfit::test::error_of;

namespace {

struct Ignore {
    bool allocated(std::size_t, const Event &, int &) { return true; }
    bool resized(std::size_t, const Event &, int &) { return true; }
    bool freed(std::size_t, const Event &, int &) { return true; }
};

std::string error_in(const std::vector<Event> &events) {
    ObjectTable<int> objects;
    Ignore visitor;
    return error_of([&] { follow_all<int>(events, 0, objects, visitor); });
}

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

TEST(a_table_agrees_with_a_map_at_every_step) {
    std::mt19937_64 random(7);
    ObjectTable<std::uint64_t> table;
    std::unordered_map<ObjectId, std::uint64_t> model;
    std::vector<ObjectId> live;
    ObjectId next = 0;
    for (int step = 0; step < 200000; step++) {
        if (live.empty() || random() % 2 == 0) {
            const std::uint64_t value = random();
            table.begin(next).value() = model[next] = value;
            live.push_back(next++);
        } else {
            std::swap(live[random() % live.size()], live.back());
            table.end(table.find(live.back()), live.back());
            model.erase(live.back());
            live.pop_back();
        }
        const auto asked = static_cast<ObjectId>(random() % (next + 2));
        const auto known = model.find(asked);
        const auto found = table.find(asked);
        CHECK(static_cast<bool>(found) == (known != model.end()));
        CHECK(!found || found.value() == known->second);
        CHECK(table.next() == next);
    }
}

TEST(a_copy_goes_on_by_itself) {
    ObjectTable<int> table;
    for (ObjectId object = 0; object < 300; object++) {
        table.begin(object).value() = static_cast<int>(object);
    }
    for (ObjectId object = 0; object < 200; object++) {
        table.end(table.find(object), object);
    }
    ObjectTable<int> copy = table.copied();
    copy.begin(300).value() = 1;
    copy.end(copy.find(299), 299);
    copy.find(250).value() = 2;
    CHECK(copy.next() == 301 && table.next() == 300);
    CHECK(!copy.find(199) && !copy.find(299) && copy.find(298).value() == 298);
    CHECK(table.find(299).value() == 299 && table.find(250).value() == 250 && !table.find(300));
}

TEST(only_the_next_object_may_begin) {
    ObjectTable<int> table;
    CHECK(!table.begin(1));
    CHECK(table.begin(0));
    CHECK(!table.begin(0));
    table.end(table.find(0), 0);
    CHECK(!table.begin(0));
}

TEST(a_page_is_given_back_and_its_objects_stay_dead) {
    ObjectTable<int> table;
    for (ObjectId object = 0; object < 100000; object++) {
        table.end(table.begin(object), object);
        CHECK(!table.find(object));
    }
    CHECK(!table.find(0));
}

TEST(a_free_before_its_alloc_is_told) {
    test::TraceBuilder trace;
    trace.alloc(8);
    trace.free(5);
    CHECK(contains(error_in(trace.events), "event 1: object 5 is freed before it is allocated"));
}

TEST(a_double_free_is_told) {
    test::TraceBuilder trace;
    trace.alloc(8);
    trace.free(0);
    trace.free(0);
    CHECK(contains(error_in(trace.events), "event 2: object 0 is freed after it was freed"));
}

TEST(a_resize_to_zero_is_a_free) {
    test::TraceBuilder trace;
    trace.alloc(8);
    trace.resize(0, 0);
    trace.resize(0, 8);
    CHECK(contains(error_in(trace.events), "event 2: object 0 is resized after it was freed"));
}

TEST(a_second_alloc_is_told) {
    test::TraceBuilder trace;
    trace.alloc(8);
    trace.events.push_back(trace.events[0]);
    CHECK(contains(error_in(trace.events), "event 1: object 0 is allocated a second time"));
}

TEST(an_object_out_of_order_is_told) {
    CHECK(contains(error_in({{8, 3, Op::alloc, 0, 0}}), "object 3 is allocated where object 0"));
}

} // namespace
