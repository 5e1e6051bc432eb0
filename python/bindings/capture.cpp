// SPDX-License-Identifier: Apache-2.0
// Captures, packet tables and queue models: chunks of a file in, numpy columns out.
#include <span>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "heapfit/capture/capture.hpp"
#include "heapfit/capture/packet_table.hpp"
#include "heapfit/capture/queue_model.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

using PacketArrays = nb::typed<nb::tuple, Array<Tick>, Array<std::uint32_t>>;
using EventArrays =
    nb::typed<nb::tuple, Array<std::uint8_t>, Array<ObjectId>, Array<Bytes>, Array<Tick>>;

PacketArrays as_arrays(PacketColumns &&packets) {
    return nb::make_tuple(to_array(std::move(packets.time_us)), to_array(std::move(packets.size)));
}

EventArrays as_arrays(QueueEvents &&events) {
    return nb::make_tuple(to_array(std::move(events.op)), to_array(std::move(events.object)),
                          to_array(std::move(events.size)), to_array(std::move(events.time_us)));
}

std::span<const std::uint8_t> bytes_of(const nb::bytes &chunk) {
    return {static_cast<const std::uint8_t *>(chunk.data()), chunk.size()};
}

template <class Reader> PacketArrays feed(Reader &reader, const nb::bytes &chunk) {
    const std::span<const std::uint8_t> bytes = bytes_of(chunk);
    PacketColumns packets;
    {
        const nb::gil_scoped_release unlocked;
        packets = reader.feed(bytes);
    }
    return as_arrays(std::move(packets));
}

// Both readers look the same from Python.
template <class Reader>
nb::class_<Reader> bind_reader(nb::module_ &module, const char *name, const char *doc) {
    return nb::class_<Reader>(module, name, doc)
        .def("feed", &feed<Reader>, nb::arg("chunk"),
             "Read the next bytes; times (us since the first packet) and sizes of new packets.")
        .def("finish", &Reader::finish, "Raise HeapfitError if no IP packet was kept.")
        .def_prop_ro(
            "packets", [](const Reader &reader) { return reader.counts().packets; },
            "IP packets so far.")
        .def_prop_ro(
            "records", [](const Reader &reader) { return reader.counts().records; },
            "Packets of the file so far, skipped ones included.")
        .def_prop_ro(
            "damage", [](const Reader &reader) { return reader.counts().damage; },
            "Where the file is cut or damaged, from where on nothing is read; \"\" if it is whole.")
        .def_prop_ro(
            "notes", [](const Reader &reader) { return reader.counts().notes(); },
            "What was skipped, set or doubtful so far, counted: one sentence each.");
}

EventArrays feed_queue(QueueModel &model, const Column<Tick> &time,
                       const Column<std::uint32_t> &size) {
    return as_arrays(model.feed(as_span(time), as_span(size)));
}

void bind_queue_model(nb::module_ &module) {
    nb::class_<QueueModel>(module, "QueueModel",
                           "When packets are released: fill-drain:N, fifo:RATE, link:BITS_PER_S, "
                           "hold:fixed:TIME, hold:exp:MEAN[:SEED]; then ,to=ADDRESS "
                           "or ,from=ADDRESS, and ,rate=X.")
        .def(nb::init<std::string_view>(), nb::arg("text"))
        .def("feed", &feed_queue, nb::arg("time"), nb::arg("size"),
             "Let packets arrive; columns op, object, size and time of the events.")
        .def(
            "finish", [](QueueModel &model) { return as_arrays(model.finish()); },
            "The releases after the last arrival, as columns.");
}

} // namespace

void bind_capture(nb::module_ &module) {
    bind_queue_model(module);
    bind_reader<CaptureReader>(module, "CaptureReader", "Reads pcap and pcapng from chunks.")
        .def(
            "__init__",
            [](CaptureReader *self, bool whole_frames, const QueueModel *model) {
                const PacketUnit unit = whole_frames ? PacketUnit::frame : PacketUnit::ip;
                new (self) CaptureReader(unit, model == nullptr ? DeviceSide{} : model->side());
            },
            nb::arg("whole_frames") = false, nb::arg("model") = nb::none())
        .def_prop_ro(
            "addresses",
            [](const CaptureReader &reader) {
                std::vector<std::string> texts;
                for (const Address &one : reader.common_addresses()) {
                    texts.push_back(address_text(one));
                }
                return texts;
            },
            "The address at an end of every packet so far; both of two hosts; none of many.");
    bind_reader<PacketTableReader>(module, "PacketTableReader",
                                   "Reads packet tables (.pkt) from chunks.")
        .def(nb::init<>());
    module.def(
        "is_capture", [](const nb::bytes &front) { return is_capture(bytes_of(front)); },
        nb::arg("front"), "Whether a file that begins with these bytes is pcap or pcapng.");
    module.def(
        "is_packet_table",
        [](const nb::bytes &front) {
            return is_packet_table({front.c_str(), front.size()});
        },
        nb::arg("front"), "Whether a file that begins with these bytes is a packet table.");
}

} // namespace heapfit::bindings
