// SPDX-License-Identifier: Apache-2.0
// Reads the counters of core around each single event.
#include "heapfit/replay/call_costs.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace heapfit {

namespace {

using Key = std::tuple<Op, std::uint64_t, std::uint64_t>;

Op operation(const Event &event) {
    if (event.op == Op::zeroed) {
        return Op::alloc;
    }
    return event.op == Op::resize && event.size == 0 ? Op::free : event.op;
}

} // namespace

std::vector<CallCost> call_costs(Replay &replay, std::span<const Event> events) {
    std::map<Key, CallCost> tally;
    for (const Event &event : events) {
        const heapfit_access_counts before = heapfit_counts;
        if (!replay.feed({&event, 1})) {
            break;
        }
        const Op op = operation(event);
        const std::uint64_t loads = heapfit_counts.loads - before.loads;
        const std::uint64_t stores = heapfit_counts.stores - before.stores;
        const Bytes payload = heapfit_counts.payload - before.payload;
        CallCost &cost =
            tally.try_emplace({op, loads, stores}, CallCost{op, loads, stores, 0, 0, 0})
                .first->second;
        cost.calls++;
        cost.payload += payload;
        cost.largest_payload = std::max(cost.largest_payload, payload);
    }
    std::vector<CallCost> costs;
    for (const auto &[key, cost] : tally) {
        costs.push_back(cost);
    }
    return costs;
}

} // namespace heapfit
