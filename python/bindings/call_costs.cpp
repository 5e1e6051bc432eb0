// SPDX-License-Identifier: Apache-2.0
// What each call of a replay cost.
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "arrays.hpp"
#include "heapfit/replay/call_costs.hpp"
#include "heapfit/trace/event_array.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

using Columns = nb::typed<nb::dict, nb::str, Array<std::uint64_t>>;

template <typename Value>
Array<std::uint64_t> column(const std::vector<CallCost> &costs, Value CallCost::*member) {
    std::vector<std::uint64_t> values;
    for (const CallCost &cost : costs) {
        values.push_back(static_cast<std::uint64_t>(cost.*member));
    }
    return to_array(std::move(values));
}

Columns tally(const Plan &plan, const EventArray &events, std::uint64_t region_size,
              std::uint64_t base_alignment) {
    std::vector<CallCost> costs;
    {
        const nb::gil_scoped_release release;
        Replay replay(HostHeap::init(plan, {region_size, base_alignment}));
        costs = call_costs(replay, events.events());
    }
    nb::dict columns;
    columns["op"] = column(costs, &CallCost::op);
    columns["loads"] = column(costs, &CallCost::loads);
    columns["stores"] = column(costs, &CallCost::stores);
    columns["calls"] = column(costs, &CallCost::calls);
    columns["payload"] = column(costs, &CallCost::payload);
    columns["largest_payload"] = column(costs, &CallCost::largest_payload);
    return nb::borrow<Columns>(columns);
}

} // namespace

void bind_call_costs(nb::module_ &module) {
    module.def(
        "call_costs", &tally, nb::arg("plan"), nb::arg("events"), nb::arg("region_size"),
        nb::arg("base_alignment") = 0,
        "A row for each operation (as in a trace; zeroed is alloc) and number of metadata "
        "loads and stores: how many calls, and the bytes they copied, together and at most.");
}

} // namespace heapfit::bindings
