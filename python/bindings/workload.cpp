// SPDX-License-Identifier: Apache-2.0
// The list of synthetic workloads, and their events as columns of a trace.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "heapfit/workload/workload.hpp"
#include "trace_columns.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

std::vector<const WorkloadParameter *> parameters_of(const WorkloadInfo &info) {
    std::vector<const WorkloadParameter *> parameters;
    for (const WorkloadParameter &parameter : info.parameters) {
        parameters.push_back(&parameter);
    }
    return parameters;
}

std::vector<const WorkloadInfo *> all_workloads() {
    std::vector<const WorkloadInfo *> all;
    for (const WorkloadInfo &info : workloads()) {
        all.push_back(&info);
    }
    return all;
}

Columns take(WorkloadSource &source, std::size_t most) {
    TraceColumns columns;
    {
        const nb::gil_scoped_release release;
        columns = source.take(most);
    }
    return to_dict(std::move(columns));
}

void bind_infos(nb::module_ &module) {
    nb::class_<WorkloadParameter>(module, "WorkloadParameter", "A value a workload depends on.")
        .def_prop_ro("name", [](const WorkloadParameter &parameter) { return parameter.name; })
        .def_prop_ro("meaning",
                     [](const WorkloadParameter &parameter) { return parameter.meaning; })
        .def_ro("lowest", &WorkloadParameter::lowest)
        .def_ro("highest", &WorkloadParameter::highest)
        .def_ro("standard", &WorkloadParameter::standard);
    nb::class_<WorkloadInfo>(module, "WorkloadInfo", "A synthetic workload.")
        .def_prop_ro("name", [](const WorkloadInfo &info) { return info.name; })
        .def_prop_ro("title", [](const WorkloadInfo &info) { return info.title; })
        .def_prop_ro("origin", [](const WorkloadInfo &info) { return info.origin; })
        .def_prop_ro("parameters", &parameters_of, nb::rv_policy::reference);
    module.def("workloads", &all_workloads, nb::rv_policy::reference, "Every synthetic workload.");
}

} // namespace

void bind_workload(nb::module_ &module) {
    bind_infos(module);
    nb::class_<WorkloadSource>(module, "WorkloadSource",
                               "The events of a workload: the same for the same seed, anywhere.")
        .def(nb::init<std::string_view, const WorkloadValues &, std::uint64_t>(), nb::arg("name"),
             nb::arg("parameters"), nb::arg("seed"),
             "Parameters that are not given have their standard values.")
        .def_prop_ro("parameters", &WorkloadSource::values, "The value of every parameter.")
        .def("take", &take, nb::arg("most"),
             "The columns of the next events, at most `most`; empty ones at the end.");
}

} // namespace heapfit::bindings
