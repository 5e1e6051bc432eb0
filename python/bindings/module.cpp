// SPDX-License-Identifier: Apache-2.0
// heapfit._engine: each engine header has one source here, with one bind_ function listed below.
#include <nanobind/nanobind.h>

#include "heapfit/error.hpp"
#include "hfit/version.h"

namespace nb = nanobind;

namespace heapfit::bindings {

void bind_event(nb::module_ &module);
void bind_trace(nb::module_ &module);
void bind_capture(nb::module_ &module);
void bind_workload(nb::module_ &module);
void bind_plan(nb::module_ &module);
void bind_replay(nb::module_ &module);
void bind_joint_replay(nb::module_ &module);
void bind_call_costs(nb::module_ &module);
void bind_trial(nb::module_ &module);
void bind_profile(nb::module_ &module);
void bind_excerpt(nb::module_ &module);
void bind_budget(nb::module_ &module);
void bind_range_peaks(nb::module_ &module);
void bind_packing(nb::module_ &module);
void bind_adversary(nb::module_ &module);
void bind_slot_buffer(nb::module_ &module);
void bind_closed_form(nb::module_ &module);
void bind_simulation(nb::module_ &module);

namespace {

void translate_error(const std::exception_ptr &pointer, void *) {
    try {
        std::rethrow_exception(pointer);
    } catch (const Error &error) {
        const nb::object family = nb::module_::import_("heapfit.errors").attr("HeapfitError");
        PyErr_SetString(family.ptr(), error.what());
    }
}

} // namespace

} // namespace heapfit::bindings

NB_MODULE(_engine, module) {
    module.doc() = "The heapfit engine: replay, search, profile and readers.";
    module.attr("version") = HFIT_VERSION;
    nb::register_exception_translator(heapfit::bindings::translate_error);
    heapfit::bindings::bind_event(module);
    heapfit::bindings::bind_trace(module);
    heapfit::bindings::bind_capture(module);
    heapfit::bindings::bind_workload(module);
    heapfit::bindings::bind_plan(module);
    heapfit::bindings::bind_replay(module);
    heapfit::bindings::bind_joint_replay(module);
    heapfit::bindings::bind_call_costs(module);
    heapfit::bindings::bind_trial(module);
    heapfit::bindings::bind_profile(module);
    heapfit::bindings::bind_excerpt(module);
    heapfit::bindings::bind_budget(module);
    heapfit::bindings::bind_range_peaks(module);
    heapfit::bindings::bind_packing(module);
    heapfit::bindings::bind_adversary(module);
    heapfit::bindings::bind_slot_buffer(module);
    heapfit::bindings::bind_closed_form(module);
    heapfit::bindings::bind_simulation(module);
}
