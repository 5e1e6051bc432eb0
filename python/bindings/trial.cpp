// SPDX-License-Identifier: Apache-2.0
// Trials of regions, and the searches made of them, interruptible from Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "heapfit/replay/fleet_trial.hpp"
#include "heapfit/replay/forked_trials.hpp"
#include "heapfit/replay/host_heap.hpp"
#include "heapfit/replay/region_search.hpp"
#include "heapfit/trace/event_array.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

using PythonProgress = std::optional<nb::typed<nb::callable, void(std::uint64_t, std::uint64_t)>>;

// Takes the lock, lets Ctrl-C in, then tells the callback. What that raises stops the search.
auto reporting_to(const PythonProgress &callback) {
    return [&callback](std::uint64_t first, std::uint64_t second) {
        const nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) {
            throw nb::python_error();
        }
        if (callback) {
            (*callback)(first, second);
        }
    };
}

// Asks the array for its events anew at each call: it may have grown, and moved, since.
struct ArrayTrial {
    Plan plan;
    const EventArray &events;
    std::uint64_t base_alignment;

    [[nodiscard]] Trial trial() const { return {plan, events.events(), base_alignment}; }

    [[nodiscard]] TrialOf running() const {
        return
            [made = trial()](std::uint64_t size, const Stop &stop) { return made.run(size, stop); };
    }
};

// A trial with what it keeps between runs.
struct ForkedArrayTrial {
    Trial trial;
    ForkedTrials forked;

    explicit ForkedArrayTrial(const ArrayTrial &one) : trial(one.trial()), forked(trial) {}
};

// Several traces, and which of them was refused last, whatever the plan.
struct Fleet {
    std::vector<const EventArray *> arrays;
    HardestFirst hardest;

    [[nodiscard]] std::vector<std::span<const Event>> traces() const {
        std::vector<std::span<const Event>> all;
        for (const EventArray *const one : arrays) {
            all.push_back(one->events());
        }
        return all;
    }
};

// A tuple cannot change, so that it keeps its arrays alive.
using Arrays = nb::typed<nb::tuple, EventArray, nb::ellipsis>;

Fleet fleet_of(const Arrays &arrays) {
    if (arrays.size() == 0) {
        throw nb::value_error("arrays: a fleet has one trace at least");
    }
    Fleet fleet{{}, HardestFirst(arrays.size())};
    for (const nb::handle one : arrays) {
        fleet.arrays.push_back(&nb::cast<const EventArray &>(one));
    }
    std::iota(fleet.hardest.begin(), fleet.hardest.end(), std::size_t{0});
    return fleet;
}

// A trial of one after the other; its order is the fleet's.
struct TrialOfFleet {
    Plan plan;
    Fleet &fleet;
    std::uint64_t base_alignment;
    std::vector<std::span<const Event>> traces;

    [[nodiscard]] FleetTrial trial() { return {plan, traces, fleet.hardest, base_alignment}; }

    [[nodiscard]] TrialOf running() {
        return [made = trial()](std::uint64_t size, const Stop &) { return made.run(size); };
    }
};

RegionSearch scan_regions(const ArrayTrial &trial, unsigned threads, const PythonProgress &progress,
                          bool every_size, std::uint64_t also, bool is_safe_alone,
                          std::uint64_t most_events) {
    const SearchOptions options{threads, reporting_to(progress), every_size,
                                also,    is_safe_alone,          most_events};
    const nb::gil_scoped_release release;
    return scan(trial.trial(), options);
}

// Whether a trace runs in so many bytes, then its footprint, height and events.
using PythonTrial =
    nb::typed<nb::callable, std::tuple<bool, std::uint64_t, Bytes, std::uint64_t>(std::uint64_t)>;

RegionSearch search_by(const PythonTrial &trial, std::uint64_t smallest_region, Bytes u_max,
                       const PythonProgress &progress, bool every_size, std::uint64_t most_events) {
    const TrialOf tried = [&trial](std::uint64_t size, const Stop &) {
        const nb::gil_scoped_acquire acquire;
        const auto [runs, footprint, height, events] =
            nb::cast<std::tuple<bool, std::uint64_t, Bytes, std::uint64_t>>(trial(size));
        return TrialResult{
            .runs = runs, .footprint = footprint, .height = height, .events = events};
    };
    const SearchOptions options{.threads = 1,
                                .progress = reporting_to(progress),
                                .every_size = every_size,
                                .most_events = most_events};
    const nb::gil_scoped_release release;
    return search_regions({smallest_region, u_max}, tried, options);
}

template <typename AnyTrial>
TrialSeries find_first(AnyTrial &trial, std::uint64_t from, const PythonProgress &before) {
    const nb::gil_scoped_release release;
    return first_success(trial.running(), from, reporting_to(before));
}

// What one replay in a region of so many bytes came to, perhaps known from before.
using KnownTrial = nb::typed<nb::callable, TrialResult(std::uint64_t)>;

TrialOf asking(const KnownTrial &trial) {
    return [&trial](std::uint64_t size, const Stop &) {
        const nb::gil_scoped_acquire acquire;
        return nb::cast<TrialResult>(trial(size));
    };
}

TrialSeries find_first_by(const KnownTrial &trial, std::uint64_t from,
                          const PythonProgress &before) {
    const nb::gil_scoped_release release;
    return first_success(asking(trial), from, reporting_to(before));
}

template <typename AnyTrial>
TrialSeries find_descending(AnyTrial &trial, std::uint64_t from, std::uint64_t step,
                            std::vector<std::uint64_t> above, const PythonProgress &before) {
    if (step == 0) {
        throw nb::value_error("step: a step of 0 leads nowhere");
    }
    const nb::gil_scoped_release release;
    return descend(trial.running(), {from, step, std::move(above)}, reporting_to(before));
}

TrialSeries find_descending_by(const KnownTrial &trial, std::uint64_t from, std::uint64_t step,
                               std::vector<std::uint64_t> above, const PythonProgress &before) {
    const nb::gil_scoped_release release;
    return descend(asking(trial), {from, step, std::move(above)}, reporting_to(before));
}

Array<std::uint64_t> placement_in(const ArrayTrial &trial, std::uint64_t size) {
    std::vector<Bytes> offsets;
    {
        const nb::gil_scoped_release release;
        offsets = trial.trial().placement(size);
    }
    return to_array(std::move(offsets));
}

void bind_results(nb::module_ &module) {
    nb::class_<RegionSearch>(module, "RegionSearch", "The smallest region of a plan for a trace.")
        .def_ro("r_min", &RegionSearch::r_min, "Bytes; None: no region below 4 GiB works.")
        .def_ro("r_safe", &RegionSearch::r_safe,
                "Bytes; above every size that failed. None: the largest there is did.")
        .def_ro("step", &RegionSearch::step, "Bytes between scanned sizes; 0: none was scanned.")
        .def_ro("searched", &RegionSearch::searched,
                "False if the region follows from the plan, or from one run.")
        .def_prop_ro(
            "sizes", [](const RegionSearch &search) { return to_array(search.sizes); },
            nb::rv_policy::move)
        .def_prop_ro(
            "succeeded", [](const RegionSearch &search) { return to_array(search.succeeded); },
            nb::rv_policy::move)
        .def_ro("events", &RegionSearch::events, "Of all replays.")
        .def_ro("events_left", &RegionSearch::events_left,
                "About what it would take to replay every size left out above R_safe; 0: none was.")
        .def_ro("height", &RegionSearch::height,
                "Of the lowest placement that a replay made of all blocks.")
        .def_ro("height_region", &RegionSearch::height_region, "In which; 0: none was made.")
        .def_ro("u_max", &RegionSearch::u_max, "Exact requested bytes.");
    nb::class_<TrialResult>(module, "TrialResult", "What one replay in one region came to.")
        .def(
            "__init__",
            [](TrialResult *place, bool runs, bool is_region, std::uint64_t reach,
               std::uint64_t events, std::uint64_t known) {
                new (place) TrialResult{.runs = runs,
                                        .is_region = is_region,
                                        .reach = reach,
                                        .events = events,
                                        .known = known};
            },
            nb::kw_only(), nb::arg("runs"), nb::arg("is_region"), nb::arg("reach"),
            nb::arg("events"), nb::arg("known") = 0)
        .def_ro("runs", &TrialResult::runs, "The whole trace, nothing refused.")
        .def_ro("is_region", &TrialResult::is_region, "False: the plan takes none of this size.")
        .def_ro("footprint", &TrialResult::footprint)
        .def_ro("reach", &TrialResult::reach,
                "What it took of the region, where a larger one changes nothing; else 0.")
        .def_ro("events", &TrialResult::events, "Done.")
        .def_ro("known", &TrialResult::known, "Of these, from an earlier run: not replayed.");
    nb::class_<TrialSeries>(module, "TrialSeries", "What a search found, and what it took.")
        .def_ro("region", &TrialSeries::region, "Bytes; None: no size that was tried works.")
        .def_ro("footprint", &TrialSeries::footprint, "Of the trace in it.")
        .def_ro("failing", &TrialSeries::failing, "The last size tried in vain; 0: none.")
        .def_ro("replays", &TrialSeries::replays)
        .def_ro("events", &TrialSeries::events, "Of all replays.");
}

// What a search for a placement asks of a trial, of one trace or of several.
template <typename AnyTrial> void bind_efforts(nb::class_<AnyTrial> &trial) {
    trial
        .def_prop_ro(
            "smallest_region", [](const AnyTrial &one) { return one.plan.smallest_region(); },
            "Bytes; the plan takes no less.")
        .def(
            "region_for",
            [](AnyTrial &one, std::uint64_t reach) { return one.trial().region_for(reach); },
            nb::arg("reach"), "The smallest region above which all have room for such a run.")
        .def(
            "run", [](AnyTrial &one, std::uint64_t size) { return one.trial().run(size); },
            nb::arg("region_size"), nb::call_guard<nb::gil_scoped_release>(),
            "One replay, up to the first refusal.")
        .def("first_success", &find_first<AnyTrial>, nb::arg("start"),
             nb::arg("before") = nb::none(),
             "The start, or the first size of it doubled, doubled again ... in which it runs.")
        .def("descend", &find_descending<AnyTrial>, nb::arg("start"), nb::arg("step"),
             nb::arg("above"), nb::arg("before") = nb::none(),
             "From the start down, by steps that double and then halve to `step`; from there the "
             "least size from which all those so much `above` work. `before(replays, events)` is "
             "called before each replay.");
}

void bind_fleet(nb::module_ &module) {
    nb::class_<Fleet>(module, "Fleet", "Traces that a plan has to serve, each on its own heap.")
        .def(
            "__init__",
            [](Fleet *place, const Arrays &arrays) { new (place) Fleet(fleet_of(arrays)); },
            nb::arg("arrays"), nb::keep_alive<1, 2>())
        .def("__len__", [](const Fleet &fleet) { return fleet.arrays.size(); })
        .def_ro("hardest_first", &Fleet::hardest,
                "Numbers of the traces: the one that was refused last, and so on.");
    nb::class_<TrialOfFleet> trial(
        module, "FleetTrial",
        "Does every trace of a fleet run in a region? The one that was refused last goes first, "
        "and where one is refused the rest is left. One thread.");
    trial.def(
        "__init__",
        [](TrialOfFleet *place, const Plan &plan, Fleet &fleet, std::uint64_t alignment) {
            new (place) TrialOfFleet{plan, fleet, alignment, fleet.traces()};
        },
        nb::arg("plan"), nb::arg("fleet"), nb::arg("base_alignment") = 0, nb::keep_alive<1, 3>());
    bind_efforts(trial);
}

void bind_forked(nb::module_ &module) {
    nb::class_<ForkedArrayTrial>(
        module, "ForkedTrial",
        "As Trial.run; regions go on from where they part from larger ones. One thread.")
        .def(
            "__init__",
            [](ForkedArrayTrial *place, const ArrayTrial &one) {
                new (place) ForkedArrayTrial(one);
            },
            nb::arg("trial"), nb::keep_alive<1, 2>())
        .def(
            "run", [](ForkedArrayTrial &one, std::uint64_t size) { return one.forked.run(size); },
            nb::arg("region_size"), nb::call_guard<nb::gil_scoped_release>(),
            "Up to the first refusal.");
}

void bind_searches(nb::class_<ArrayTrial> &trial) {
    trial.def(
        "scan", &scan_regions, nb::arg("threads") = 0, nb::arg("progress") = nb::none(),
        nb::arg("every_size") = false, nb::arg("also") = 0, nb::arg("is_safe_alone") = false,
        nb::arg("most_events") = 0,
        "R_min and R_safe; of every multiple of 8 bytes if asked for. `also`: a size that "
        "failed elsewhere, tried before all. `is_safe_alone`: R_min only where one run tells "
        "it. `most_events`: of replays of sizes that are not asked for, from R_safe up first. "
        "`progress(done, total)` may raise to stop.");
}

// For any way of trying a size.
void bind_searches_by(nb::module_ &module) {
    module.def("first_success", &find_first_by, nb::arg("trial"), nb::arg("start"),
               nb::arg("before") = nb::none(), "As Trial.first_success, by any `trial(size)`.");
    module.def("descend", &find_descending_by, nb::arg("trial"), nb::arg("start"), nb::arg("step"),
               nb::arg("above"), nb::arg("before") = nb::none(),
               "As Trial.descend, by any `trial(size)`.");
    module.def("search_regions", &search_by, nb::arg("trial"), nb::arg("smallest_region"),
               nb::arg("u_max"), nb::arg("progress") = nb::none(), nb::arg("every_size") = false,
               nb::arg("most_events") = 0,
               "As Trial.scan, of a heap that is not the engine's: `trial(size)` tells whether it "
               "serves all, then footprint, height and events done. One at a time.");
}

} // namespace

void bind_trial(nb::module_ &module) {
    module.attr("HOST_BASE_ALIGNMENT") = host_base_alignment;
    module.attr("REGION_UNIT") = region_unit;
    bind_results(module);
    nb::class_<ArrayTrial> trial(module, "Trial",
                                 "Does a trace run in a region, and in which at least?");
    trial
        .def(
            "__init__",
            [](ArrayTrial *place, const Plan &plan, const EventArray &events,
               std::uint64_t alignment) {
                new (place) ArrayTrial{plan, events, alignment};
            },
            nb::arg("plan"), nb::arg("events"), nb::arg("base_alignment") = 0,
            nb::keep_alive<1, 3>(), "`base_alignment`: what the plan or the trace asks for.")
        .def_prop_ro(
            "tells_reach", [](const ArrayTrial &trial) { return trial.trial().tells_reach(); },
            "Whether R follows from one run, as long as no block is aligned beyond the plan.")
        .def_prop_ro(
            "asks_room", [](const ArrayTrial &trial) { return trial.trial().asks_room(); },
            "Whether serves_from may tell anything.")
        .def_prop_ro(
            "event_count", [](const ArrayTrial &trial) { return trial.events.events().size(); },
            "Of the trace.")
        .def(
            "serves_from",
            [](const ArrayTrial &trial, std::uint64_t size) {
                return trial.trial().serves_from(size);
            },
            nb::arg("region_size"), nb::call_guard<nb::gil_scoped_release>(),
            "A region from which on every one serves, as one replay in this one tells, which is "
            "none of less; None: it does not tell, or is refused.")
        .def("placement", &placement_in, nb::arg("region_size"),
             "Offsets of the trace's lifetimes, in their order; HeapfitError if it does not run.")
        .def(
            "exceeds",
            [](const ArrayTrial &trial, std::uint64_t size, std::uint64_t accesses) {
                return trial.trial().exceeds(size, accesses);
            },
            nb::arg("region_size"), nb::arg("accesses"), nb::call_guard<nb::gil_scoped_release>(),
            "Whether the replay makes more metadata accesses than these.");
    bind_efforts(trial);
    bind_searches(trial);
    bind_forked(module);
    bind_fleet(module);
    bind_searches_by(module);
}

} // namespace heapfit::bindings
