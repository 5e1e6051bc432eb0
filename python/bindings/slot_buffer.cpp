// SPDX-License-Identifier: Apache-2.0
// The slot buffer benchmark on a plan's heap.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "heapfit/simulate/slot_buffer.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

void make_slot_buffer(SlotBuffer *place, const Plan &plan, std::uint64_t region_size,
                      const SlotWorkload &workload) {
    new (place) SlotBuffer(HostHeap::init(plan, {region_size}), workload);
}

bool run(SlotBuffer &buffer, std::uint64_t loops) {
    const nb::gil_scoped_release release;
    return buffer.run(loops);
}

void bind_counts(nb::module_ &module) {
    nb::class_<CallAccesses>(module, "CallAccesses",
                             "Metadata words loaded and stored by a kind of call.")
        .def_ro("calls", &CallAccesses::calls)
        .def_ro("accesses", &CallAccesses::accesses)
        .def_ro("worst", &CallAccesses::worst, "Of one call.");
    nb::class_<SlotCounts>(module, "SlotCounts", "What a slot buffer did; sizes in bytes.")
        .def_ro("loops", &SlotCounts::loops, "Done; one whose request was refused is not.")
        .def_ro("alloc", &SlotCounts::alloc)
        .def_ro("free", &SlotCounts::free)
        .def_ro("live_blocks", &SlotCounts::live_blocks)
        .def_ro("live", &SlotCounts::live, "Asked for by the live blocks.")
        .def_ro("live_peak", &SlotCounts::live_peak, "U_max of the run.")
        .def_ro("refused", &SlotCounts::refused, "Size of the request that ended the run.");
}

} // namespace

void bind_slot_buffer(nb::module_ &module) {
    nb::class_<SlotWorkload>(module, "SlotWorkload", "Slots, range of sizes and seed of a walk.")
        .def(nb::init<std::uint64_t, Bytes, Bytes, std::uint64_t>(), nb::arg("slots"),
             nb::arg("least"), nb::arg("most"), nb::arg("seed"));
    bind_counts(module);
    nb::class_<SlotBuffer>(module, "SlotBuffer", "A slot walk done to a real heap.")
        .def("__init__", &make_slot_buffer, nb::arg("plan"), nb::arg("region_size"),
             nb::arg("workload"))
        .def("run", &run, nb::arg("loops"), "False once a request was refused.")
        .def_prop_ro("counts", [](const SlotBuffer &buffer) { return buffer.counts(); })
        .def_prop_ro("footprint", &SlotBuffer::footprint)
        .def_prop_ro("usable", &SlotBuffer::usable, "Bytes that the live blocks could hold.")
        .def(
            "free_sizes", [](const SlotBuffer &buffer) { return to_array(buffer.free_sizes()); },
            "What each free block could serve, in the order of the allocator's search if it has "
            "one, else by address.");
    module.def(
        "draw_sizes",
        [](const SlotWorkload &workload, std::size_t count) {
            return to_array(draw_sizes(workload, count));
        },
        nb::arg("workload"), nb::arg("count"), "Sizes drawn by the workload's law and seed.");
}

} // namespace heapfit::bindings
