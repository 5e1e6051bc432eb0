// SPDX-License-Identifier: Apache-2.0
// EventArray: columns of a stored trace in, events for the engine out.
#include <optional>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "heapfit/trace/event_array.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

void append(EventArray &array, const Column<std::uint8_t> &ops, const Column<ObjectId> &objects,
            const Column<Bytes> &sizes, const std::optional<Column<std::uint32_t>> &alignments,
            const std::optional<Column<std::uint16_t>> &tags) {
    const EventColumns columns{as_span(ops), as_span(objects), as_span(sizes),
                               alignments ? as_span(*alignments) : std::span<const std::uint32_t>{},
                               tags ? as_span(*tags) : std::span<const std::uint16_t>{}};
    const nb::gil_scoped_release release;
    array.append(columns);
}

// One member of every event as a numpy array of its own.
template <typename Value, auto member> Array<Value> column(const EventArray &array) {
    std::vector<Value> values;
    values.reserve(array.events().size());
    for (const Event &event : array.events()) {
        values.push_back(static_cast<Value>(event.*member));
    }
    return to_array(std::move(values));
}

Array<std::uint32_t> alignments(const EventArray &array) {
    std::vector<std::uint32_t> values;
    values.reserve(array.events().size());
    for (const Event &event : array.events()) {
        values.push_back(event.alignment_log2 == 0 ? 0U : 1U << event.alignment_log2);
    }
    return to_array(std::move(values));
}

EventArray tagged(const EventArray &array, const Column<std::uint16_t> &tags) {
    const nb::gil_scoped_release release;
    return array.tagged(as_span(tags));
}

EventArray moving(const EventArray &array, const Column<std::uint16_t> &moves) {
    const nb::gil_scoped_release release;
    return array.moving(as_span(moves));
}

} // namespace

void bind_event(nb::module_ &module) {
    nb::class_<EventArray>(module, "EventArray", "Events of a trace in memory, 16 bytes each.")
        .def(nb::init<std::uint64_t>(), nb::arg("first_event") = 0,
             "Events are numbered from `first_event` in error messages.")
        .def("reserve", &EventArray::reserve, nb::arg("events"),
             "Takes memory for so many in all, where they are counted before.")
        .def("append", &append, nb::arg("op"), nb::arg("object"), nb::arg("size"),
             nb::arg("alignment") = nb::none(), nb::arg("tag") = nb::none(),
             "Appends columns of equal length; no alignments, or no tags, means that all are 0.")
        .def("tagged", &tagged, nb::arg("tag"), "The same events, the requests with these tags.")
        .def("moving", &moving, nb::arg("moves"),
             "The same without tags, the resizes with a 1 served by a new block, a copy, a free; "
             "with "
             "more unless their chunk is just so large, or loses as many bytes as the low byte "
             "says; the high byte: the least new block.")
        .def("ops", &column<std::uint8_t, &Event::op>, "As in a trace; a copy.")
        .def("objects", &column<ObjectId, &Event::object>, "A copy.")
        .def("sizes", &column<Bytes, &Event::size>, "Bytes; a copy.")
        .def("alignments", &alignments, "Bytes; 0 where a request asks for none; a copy.")
        .def("__len__", [](const EventArray &array) { return array.events().size(); })
        .def_prop_ro("nbytes", [](const EventArray &array) { return array.events().size_bytes(); });
}

} // namespace heapfit::bindings
