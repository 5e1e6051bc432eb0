// SPDX-License-Identifier: Apache-2.0
// Erlang-B and Kaufman-Roberts.
#include <nanobind/nanobind.h>

#include "arrays.hpp"
#include "heapfit/simulate/closed_form.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

void bind_closed_form(nb::module_ &module) {
    module.def("erlang_b", &erlang_b, nb::arg("servers"), nb::arg("offered"),
               "Share of requests that find all servers busy; `offered` in erlangs.");
    module.def(
        "kaufman_roberts",
        [](std::uint64_t units, const Column<std::uint64_t> &demand,
           const Column<double> &offered) {
            return to_array(kaufman_roberts(units, as_span(demand), as_span(offered)));
        },
        nb::arg("units"), nb::arg("demand"), nb::arg("offered"),
        "Share refused of each class, whose requests take `demand` of the units together.");
}

} // namespace heapfit::bindings
