// SPDX-License-Identifier: Apache-2.0
// Most live blocks of every range of sizes.
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "heapfit/budget/range_peaks.hpp"
#include "heapfit/trace/event_array.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

Array<std::uint32_t> peaks(const EventArray &events, const std::vector<Bytes> &bounds) {
    std::vector<std::uint32_t> found;
    {
        const nb::gil_scoped_release release;
        found = range_peaks(events.events(), bounds);
    }
    return to_array(std::move(found));
}

} // namespace

void bind_range_peaks(nb::module_ &module) {
    module.def("range_peaks", &peaks, nb::arg("events"), nb::arg("bounds"),
               "Most live blocks of each range of sizes: row i, column j from above bound i - 1 to "
               "bound j.");
}

} // namespace heapfit::bindings
