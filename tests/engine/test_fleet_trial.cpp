// SPDX-License-Identifier: Apache-2.0
// Several traces at once against each by itself, and against one trace of them all.
#include <algorithm>
#include <numeric>

#include "check.hpp"
#include "heapfit/replay/fleet_trial.hpp"
#include "random_trace.hpp"

using namespace heapfit;
using heapfit::test::RandomTrace;

namespace {

using Traces = std::vector<std::vector<Event>>;

constexpr std::size_t events_each = 600;

Traces drawn(std::size_t count) {
    Traces traces;
    for (std::size_t i = 0; i < count; i++) {
        const std::size_t live = 20 + 7 * (i % 5);
        traces.push_back(
            draw(RandomTrace{.seed = i + 1, .events = events_each, .live_limit = live}));
    }
    return traces;
}

std::vector<std::span<const Event>> spans(const Traces &traces) {
    return {traces.begin(), traces.end()};
}

HardestFirst as_they_come(std::size_t count) {
    HardestFirst order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
}

bool is_request(const Event &event) {
    return event.op != Op::free && event.op != Op::resize;
}

// Appends a trace under new numbers, then frees what it leaves live.
void append(std::vector<Event> &joined, std::span<const Event> trace, ObjectId &next) {
    std::vector<bool> is_live;
    for (Event event : trace) {
        is_live.resize(std::max<std::size_t>(is_live.size(), event.object + 1));
        is_live[event.object] = event.op != Op::free && (is_request(event) || event.size != 0);
        event.object += next;
        joined.push_back(event);
    }
    for (std::size_t i = 0; i < is_live.size(); i++) {
        if (is_live[i]) {
            joined.push_back({0, static_cast<ObjectId>(next + i), Op::free, 0, 0});
        }
    }
    next += static_cast<ObjectId>(is_live.size());
}

std::vector<Event> one_after_the_other(const Traces &traces) {
    std::vector<Event> joined;
    ObjectId next = 0;
    for (const auto &trace : traces) {
        append(joined, trace, next);
    }
    return joined;
}

std::vector<Plan> plans() {
    std::vector<Plan> found;
    for (const char *const name : {"tlsf", "best_fit", "tailored", "first_fit"}) {
        found.push_back(Plan(name, {}, {}, {}));
    }
    const Plan::Scalars two_ends = {{"ends", 2}, {"high_0", 0x55555555}, {"hole_limit", 8}};
    found.push_back(Plan("tailored", two_ends, {}, {}));
    return found;
}

TEST(a_region_serves_the_fleet_if_it_serves_each) {
    const Traces traces = drawn(7);
    const auto all = spans(traces);
    for (const Plan &plan : plans()) {
        HardestFirst order = as_they_come(all.size());
        const FleetTrial fleet(plan, all, order);
        for (std::uint64_t size = 1024; size <= 32768; size += 504) {
            const TrialResult found = fleet.run(size);
            std::uint64_t reach = 0, events = 0;
            bool runs = true;
            for (const auto one : all) {
                const TrialResult alone = Trial(plan, one).run(size);
                runs = runs && alone.runs;
                reach = std::max(reach, alone.reach);
                events += alone.events;
            }
            CHECK(found.runs == runs);
            CHECK(!runs || (found.reach == reach && found.events == events));
        }
    }
}

// So that what was learned on joined traces is learned on several.
TEST(the_traces_one_after_the_other_ask_for_as_much) {
    const Traces traces = drawn(5);
    const auto all = spans(traces);
    const std::vector<Event> joined = one_after_the_other(traces);
    for (const Plan &plan : plans()) {
        HardestFirst order = as_they_come(all.size());
        const FleetTrial fleet(plan, all, order);
        const Trial one(plan, joined);
        for (std::uint64_t size = 1024; size <= 32768; size += 504) {
            const TrialResult together = fleet.run(size);
            const TrialResult after = one.run(size);
            CHECK(together.runs == after.runs);
            CHECK(!after.runs || together.reach == after.reach);
        }
    }
}

TEST(what_was_refused_last_is_replayed_first) {
    const Traces traces = drawn(5);
    const auto all = spans(traces);
    const Plan plan("tailored", {}, {}, {});
    HardestFirst order = as_they_come(all.size());
    const FleetTrial fleet(plan, all, order);
    std::uint64_t most = 0;
    for (std::uint64_t needed = 65536; fleet.run(needed).runs; needed -= 64) {
        most = needed;
    }
    const std::size_t hardest = order.front();
    CHECK(!Trial(plan, all[hardest]).run(most - 64).runs);
    CHECK(fleet.run(most - 64).events <= events_each);
    CHECK(order.front() == hardest);
    CHECK(std::is_permutation(order.begin(), order.end(), as_they_come(all.size()).begin()));
}

} // namespace
