// SPDX-License-Identifier: Apache-2.0
// Laws of traffic, and the simulation of a plan's heap under it.
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "heapfit/error.hpp"
#include "heapfit/simulate/simulation.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

template <typename T> std::vector<T> to_vector(const Column<T> &column) {
    const auto span = as_span(column);
    return {span.begin(), span.end()};
}

void make_markov_modulated(MarkovModulated *place, const std::vector<Nanoseconds> &interval_mean_ns,
                           const std::vector<Nanoseconds> &stay_mean_ns,
                           const std::vector<std::vector<double>> &weights) {
    if (interval_mean_ns.size() != stay_mean_ns.size()) {
        throw Error("MarkovModulated: stay_mean_ns: there must be as many as interval_mean_ns");
    }
    std::vector<MarkovModulated::State> states;
    for (std::size_t i = 0; i < stay_mean_ns.size(); ++i) {
        states.push_back({interval_mean_ns[i], stay_mean_ns[i]});
    }
    new (place) MarkovModulated(std::move(states), weights);
}

void make_recorded(RecordedArrivals *place, const Column<Nanoseconds> &time_ns,
                   const Column<Bytes> &size,
                   const std::optional<Column<Nanoseconds>> &holding_ns) {
    new (place) RecordedArrivals(to_vector(time_ns), to_vector(size),
                                 holding_ns ? to_vector(*holding_ns) : std::vector<Nanoseconds>{});
}

void make_empirical_size(EmpiricalSize *place, const Column<Bytes> &size,
                         const Column<double> &weight) {
    new (place) EmpiricalSize(to_vector(size), to_vector(weight));
}

void make_empirical_holding(EmpiricalHolding *place, const Column<Nanoseconds> &ns,
                            const Column<double> &weight) {
    new (place) EmpiricalHolding(to_vector(ns), to_vector(weight));
}

void make_fifo_service(FifoService *place, std::optional<double> bytes_per_second,
                       std::optional<double> packets_per_second) {
    if (bytes_per_second.has_value() == packets_per_second.has_value()) {
        throw Error("FifoService: give bytes_per_second or packets_per_second, one of the two");
    }
    new (place)
        FifoService(bytes_per_second ? FifoService::bytes_per_second(*bytes_per_second)
                                     : FifoService::packets_per_second(*packets_per_second));
}

void bind_arrivals(nb::module_ &module) {
    nb::class_<Poisson>(module, "Poisson", "Arrivals independent of each other.")
        .def(nb::init<Nanoseconds>(), nb::kw_only(), nb::arg("mean_ns"));
    nb::class_<Periodic>(module, "Periodic", "One arrival each interval.")
        .def(nb::init<Nanoseconds>(), nb::kw_only(), nb::arg("interval_ns"));
    nb::class_<OnOff>(module, "OnOff", "Bursts: Poisson while on, nothing while off; begins on.")
        .def(nb::init<Nanoseconds, Nanoseconds, Nanoseconds>(), nb::kw_only(),
             nb::arg("on_mean_ns"), nb::arg("off_mean_ns"), nb::arg("interval_mean_ns"));
    nb::class_<MarkovModulated>(module, "MarkovModulated",
                                "Poisson of a rate that depends on a state; begins in the first.")
        .def("__init__", &make_markov_modulated, nb::kw_only(), nb::arg("interval_mean_ns"),
             nb::arg("stay_mean_ns"), nb::arg("weights"),
             "An interval of 0: nothing arrives in this state. Weights: a row a state, a column a "
             "state that may follow.");
    nb::class_<RecordedArrivals>(module, "RecordedArrivals", "Requests as they were recorded.")
        .def("__init__", &make_recorded, nb::kw_only(), nb::arg("time_ns"), nb::arg("size"),
             nb::arg("holding_ns") = nb::none(),
             "HELD_FOREVER is the holding of what was never freed.");
}

void bind_sizes(nb::module_ &module) {
    nb::class_<UniformSize>(module, "UniformSize", "Every size of a range alike.")
        .def(nb::init<Bytes, Bytes>(), nb::kw_only(), nb::arg("least"), nb::arg("most"));
    nb::class_<ExponentialSize>(module, "ExponentialSize",
                                "most / e^r, r uniform from 0 to ln(most / least).")
        .def(nb::init<Bytes, Bytes>(), nb::kw_only(), nb::arg("least"), nb::arg("most"));
    nb::class_<BimodalSize>(module, "BimodalSize",
                            "Two frequent sizes, and those between them alike.")
        .def(nb::init<Bytes, std::uint64_t, Bytes, std::uint64_t>(), nb::kw_only(),
             nb::arg("ack_size"), nb::arg("ack_percent"), nb::arg("mtu_size"),
             nb::arg("mtu_percent"));
    nb::class_<EmpiricalSize>(module, "EmpiricalSize", "Sizes by their weights.")
        .def("__init__", &make_empirical_size, nb::kw_only(), nb::arg("size"), nb::arg("weight"));
    nb::class_<ListedSizes>(module, "ListedSizes", "The sizes of a list in turn.")
        .def(
            "__init__",
            [](ListedSizes *place, const Column<Bytes> &size) {
                new (place) ListedSizes(to_vector(size));
            },
            nb::kw_only(), nb::arg("size"));
}

void bind_holdings(nb::module_ &module) {
    module.attr("HELD_FOREVER") = held_forever;
    nb::class_<ExponentialHolding>(module, "ExponentialHolding", "Exponentially distributed.")
        .def(nb::init<Nanoseconds>(), nb::kw_only(), nb::arg("mean_ns"));
    nb::class_<FixedHolding>(module, "FixedHolding", "Always as long.")
        .def(nb::init<Nanoseconds>(), nb::kw_only(), nb::arg("ns"));
    nb::class_<UniformHolding>(module, "UniformHolding", "Every time of a range alike.")
        .def(nb::init<Nanoseconds, Nanoseconds>(), nb::kw_only(), nb::arg("least_ns"),
             nb::arg("most_ns"));
    nb::class_<LognormalHolding>(module, "LognormalHolding",
                                 "Of this mean; sigma is the deviation of the logarithm.")
        .def(nb::init<Nanoseconds, double>(), nb::kw_only(), nb::arg("mean_ns"), nb::arg("sigma"));
    nb::class_<FifoService>(module, "FifoService",
                            "One server, first come first served; what waits stays allocated.")
        .def("__init__", &make_fifo_service, nb::kw_only(),
             nb::arg("bytes_per_second") = nb::none(), nb::arg("packets_per_second") = nb::none());
    nb::class_<EmpiricalHolding>(module, "EmpiricalHolding", "Times by their weights.")
        .def("__init__", &make_empirical_holding, nb::kw_only(), nb::arg("ns"), nb::arg("weight"));
    nb::class_<RecordedHolding>(module, "RecordedHolding", "As recorded with the arrivals.")
        .def(nb::init<>());
}

Array<std::uint64_t> size_bounds() {
    std::vector<std::uint64_t> bounds;
    for (std::size_t bin = 0; bin < size_bins; ++bin) {
        bounds.push_back(size_bin_bound(bin));
    }
    return to_array(std::move(bounds));
}

using SizeHistogram = nb::typed<nb::tuple, Array<std::uint64_t>, Array<std::uint64_t>>;

SizeHistogram histogram_of(const SizeCounts &counts) {
    return nb::borrow<SizeHistogram>(nb::make_tuple(
        size_bounds(), to_array(std::vector<std::uint64_t>(counts.begin(), counts.end()))));
}

void bind_counts(nb::module_ &module) {
    using Counts = SimulationCounts;
    nb::class_<Counts>(module, "SimulationCounts", "Exact sums over a window; sizes in bytes.")
        .def_ro("time_ns", &Counts::time_ns, "Length of the window.")
        .def_ro("events", &Counts::events, "Arrivals and departures.")
        .def_ro("requests", &Counts::requests, "Offered.")
        .def_ro("admitted", &Counts::admitted, "Served; the others were refused.")
        .def_ro("requested_bytes", &Counts::requested_bytes)
        .def_ro("admitted_bytes", &Counts::admitted_bytes)
        .def_ro("live_block_ns", &Counts::live_block_ns,
                "Integral over time of the number of live blocks.")
        .def_ro("live_byte_ns", &Counts::live_byte_ns, "Integral of the bytes asked for and live.")
        .def_ro("used_byte_ns", &Counts::used_byte_ns, "Integral of what live blocks can hold.")
        .def_ro("block_peak", &Counts::block_peak, "Most blocks live at once.")
        .def_ro("live_peak", &Counts::live_peak, "Most bytes live at once.")
        .def_ro("internal_peak", &Counts::internal_peak,
                "Most bytes in live blocks at once that nobody asked for.")
        .def_ro("footprint", &Counts::footprint, "Of the region, since the very start.")
        .def_ro("samples", &Counts::samples, "Walks of the heap, at random times.")
        .def_ro("sampled_ns", &Counts::sampled_ns, "Time the samples stand for.")
        .def_ro("external_byte_ns", &Counts::external_byte_ns,
                "Estimated; by sampled_ns: free bytes beside the largest free block, on average.")
        .def_ro("external_peak", &Counts::external_peak, "Of the samples.")
        .def_prop_ro(
            "offered_by_size",
            [](const Counts &counts) { return histogram_of(counts.offered_by_size); },
            "Upper bounds of 64 bins of sizes, and the requests in each.")
        .def_prop_ro(
            "refused_by_size",
            [](const Counts &counts) { return histogram_of(counts.refused_by_size); },
            "As offered_by_size, of those refused.");
}

void make_simulation(Simulation *place, const Plan &plan, std::uint64_t region_size,
                     const Traffic &traffic, std::uint64_t seed) {
    // No access is counted, so none need be. But pools without used bits search their list for each
    // block of a walk.
    const bool has_pools =
        plan.pools_plan() != nullptr || plan.allocator().limit == HFIT_LIMIT_BLOCKS;
    const Plan &built = has_pools ? plan : plan.for_trials();
    new (place) Simulation(HostHeap::init(built, {region_size}), traffic, seed);
}

std::uint64_t run(Simulation &simulation, std::uint64_t requests) {
    const nb::gil_scoped_release release;
    return simulation.run(requests);
}

std::uint64_t run_without_heap(const Traffic &traffic, std::uint64_t seed, std::uint64_t requests,
                               std::uint64_t most_live) {
    const nb::gil_scoped_release release;
    return simulate_without_heap(traffic, seed, requests, most_live);
}

} // namespace

void bind_simulation(nb::module_ &module) {
    bind_arrivals(module);
    bind_sizes(module);
    bind_holdings(module);
    bind_counts(module);
    nb::class_<Traffic>(module, "Traffic", "When requests arrive, their sizes, and their holding.")
        .def(nb::init<ArrivalLaw, std::optional<SizeLaws>, HoldingLaw, std::vector<Traffic>>(),
             nb::kw_only(), nb::arg("arrivals"), nb::arg("sizes").none(), nb::arg("holding"),
             nb::arg("beside") = std::vector<Traffic>{},
             "Recorded arrivals bring their sizes: then `sizes` is None. `beside`: further streams "
             "that arrive at the same heap.");
    nb::class_<Simulation>(module, "Simulation", "A plan's heap under offered traffic.")
        .def("__init__", &make_simulation, nb::arg("plan"), nb::arg("region_size"),
             nb::arg("traffic"), nb::arg("seed"))
        .def("run", &run, nb::arg("requests"),
             "Offers so many more; how many there were: fewer when a recording ends.")
        .def("reset_counts", &Simulation::reset_counts,
             "Begins a new window; what is live stays so.")
        .def("counts", &Simulation::counts)
        .def_prop_ro("live_blocks", &Simulation::live_blocks)
        .def_prop_ro("live", &Simulation::live, "Bytes asked for and not freed yet.");
    module.def("simulate_without_heap", &run_without_heap, nb::arg("traffic"), nb::arg("seed"),
               nb::arg("requests"), nb::arg("most_live"),
               "The bare event loop, which serves while fewer are live; how many it served.");
}

} // namespace heapfit::bindings
