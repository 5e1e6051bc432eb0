// SPDX-License-Identifier: Apache-2.0
// Lifetimes of a trace, and how low they can be packed.
#include <algorithm>
#include <optional>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "heapfit/error.hpp"
#include "heapfit/packing/packing.hpp"
#include "heapfit/packing/picture.hpp"
#include "heapfit/trace/event_array.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

using PythonProgress = std::optional<std::function<void(double)>>;

// The lifetimes of one trace.
struct Lifetimes {
    std::vector<Lifetime> all;

    explicit Lifetimes(const EventArray &events) {
        const nb::gil_scoped_release release;
        all = lifetimes_of(events.events());
    }

    Lifetimes(const Column<std::uint64_t> &starts, const Column<std::uint64_t> &ends,
              const Column<Bytes> &sizes) {
        const auto from = as_span(starts);
        const auto until = as_span(ends);
        const auto size = as_span(sizes);
        for (std::size_t i = 0; i < std::min({from.size(), until.size(), size.size()}); i++) {
            if (from[i] >= until[i] || size[i] == 0 || (i > 0 && from[i] < from[i - 1])) {
                throw Error("lifetimes: each has a size, ends after its start, and the starts "
                            "ascend");
            }
            all.push_back({from[i], until[i], size[i]});
        }
    }

    template <auto Lifetime::*member> Array<std::uint64_t> column() const {
        std::vector<std::uint64_t> values;
        for (const Lifetime &one : all) {
            values.push_back(one.*member);
        }
        return to_array(std::move(values));
    }
};

// An interrupt ends the work and keeps what is best so far.
bool goes_on(const PythonProgress &progress, double done) {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) {
        PyErr_Clear();
        return false;
    }
    if (progress) {
        (*progress)(done);
    }
    return true;
}

Packing pack_all(const Lifetimes &lifetimes, const PackingEffort &effort,
                 const PythonProgress &progress) {
    const nb::gil_scoped_release release;
    return pack(lifetimes.all, effort, [&](double done) { return goes_on(progress, done); });
}

Bytes check(const Lifetimes &lifetimes, const Column<Bytes> &offsets) {
    return check_placement(lifetimes.all, as_span(offsets));
}

Array<std::uint8_t> paint_all(const PictureSize &size, const Lifetimes &lifetimes,
                              const Column<Bytes> &offsets, const Column<std::uint8_t> &colours) {
    std::vector<std::uint8_t> cells;
    {
        const nb::gil_scoped_release release;
        cells = paint(lifetimes.all, as_span(offsets), as_span(colours), size);
    }
    return to_array(std::move(cells));
}

Array<std::uint64_t> offsets_of(const Packing &packing) {
    return to_array(packing.offsets);
}

} // namespace

void bind_packing(nb::module_ &module) {
    constexpr auto fresh = nb::rv_policy::move;
    nb::class_<Lifetimes>(module, "Lifetimes", "When a trace's bytes are live, in events.")
        .def(nb::init<const EventArray &>(), nb::arg("events"))
        .def(nb::init<const Column<std::uint64_t> &, const Column<std::uint64_t> &,
                      const Column<Bytes> &>(),
             nb::arg("starts"), nb::arg("ends"), nb::arg("sizes"), "Starts ascend.")
        .def("__len__", [](const Lifetimes &self) { return self.all.size(); })
        .def_prop_ro("starts", &Lifetimes::column<&Lifetime::from>, fresh, "Ascending.")
        .def_prop_ro("ends", &Lifetimes::column<&Lifetime::until>, fresh, "Not included.")
        .def_prop_ro("sizes", &Lifetimes::column<&Lifetime::size>, fresh, "Bytes, above 0.");
    nb::class_<Packing>(module, "Packing", "An offline placement.")
        .def_prop_ro("offsets", &offsets_of, fresh, "Of each lifetime.")
        .def_ro("height", &Packing::height, "Where the highest lifetime ends.")
        .def_ro("floor", &Packing::floor, "No height is below it: proven.")
        .def_ro("zoned", &Packing::zoned, "Placements begun with zones for common sizes.")
        .def_ro("orders", &Packing::orders, "Placed to their end, beside those in time.")
        .def_ro("pairs", &Packing::pairs, "Overlapping lifetimes looked at.")
        .def_ro("placements", &Packing::placements, "Of one lifetime, by branch and bound.")
        .def_ro("is_stopped", &Packing::is_stopped, "By an interrupt: the best so far.");
    nb::class_<PictureSize>(module, "Picture", "A placement's: events across, addresses up.")
        .def(nb::init<std::uint64_t, std::uint64_t, std::uint64_t, Bytes>(), nb::arg("columns"),
             nb::arg("rows"), nb::arg("events"), nb::arg("height"))
        .def("paint", &paint_all, nb::arg("lifetimes"), nb::arg("offsets"), nb::arg("colours"),
             "The colour, above 0, of what covers each cell's middle, row by row from below; the "
             "first so many lifetimes as there are offsets are painted.");
    nb::class_<PackingEffort>(module, "PackingEffort", "When a search for a placement ends.")
        .def(nb::init<std::uint64_t, std::uint64_t, std::uint64_t, Bytes>(), nb::arg("seed"),
             nb::arg("pairs"), nb::arg("placements") = 0, nb::arg("enough") = 0,
             "A height that is enough ends it, too.");
    module.def("pack", &pack_all, nb::arg("lifetimes"), nb::arg("effort"),
               nb::arg("progress") = nb::none(), "Places all lifetimes as low as can be found.");
    module.def("check_placement", &check, nb::arg("lifetimes"), nb::arg("offsets"),
               "The height of a placement; HeapfitError if two lifetimes overlap.");
}

} // namespace heapfit::bindings
