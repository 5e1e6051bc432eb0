// SPDX-License-Identifier: Apache-2.0
// Objects drawn from recorded ones, block by block.
#include <tuple>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "heapfit/workload/block_draw.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

using Counts = Column<std::uint64_t>;
using Drawn = std::tuple<Array<std::uint64_t>, Array<std::uint64_t>, Array<std::uint64_t>>;

void make(BlockDraw *place, std::uint64_t objects, const std::vector<std::uint64_t> &phases,
          std::uint64_t block) {
    new (place) BlockDraw(objects, phases, block);
}

Drawn draw(const BlockDraw &blocks, const Counts &sizes, const Counts &ends, const Counts &live,
           const Counts &picks) {
    DrawnLives drawn;
    {
        const nb::gil_scoped_release release;
        drawn = blocks.draw({as_span(sizes), as_span(ends), as_span(live)}, as_span(picks));
    }
    return {to_array(std::move(drawn.source)), to_array(std::move(drawn.ends)),
            to_array(std::move(drawn.freed_as))};
}

} // namespace

void bind_block_draw(nb::module_ &module) {
    nb::class_<BlockDraw>(module, "BlockDraw",
                          "Blocks of consecutive recorded objects, drawn phase by phase.")
        .def("__init__", &make, nb::arg("objects"), nb::arg("phases"), nb::arg("block"),
             "`phases` are the first objects of each; `block` is in objects.")
        .def(
            "choices", [](const BlockDraw &blocks) { return to_array(blocks.choices()); },
            "Of each seam in order: of how many places one is to be picked.")
        .def("draw", &draw, nb::arg("sizes"), nb::arg("ends"), nb::arg("live"), nb::arg("picks"),
             "Of each drawn object: the recorded one that it is, how many objects are born before "
             "it is freed, and the recorded one whose end that is. Of each recorded one are given: "
             "bytes, objects born before its end, and bytes live before it is born; of each seam "
             "the place, from 0, the nearest in live bytes.");
}

} // namespace heapfit::bindings
