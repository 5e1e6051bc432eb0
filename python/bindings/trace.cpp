// SPDX-License-Identifier: Apache-2.0
// The trace readers (text, .rep, CSV, minimalloc's, wire): fed with bytes in chunks of any split,
// they give the columns of the stored trace as numpy arrays that own the engine's vectors (no
// copy). Parsing releases the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "heapfit/trace/csv.hpp"
#include "heapfit/trace/frames.hpp"
#include "heapfit/trace/heap_log.hpp"
#include "heapfit/trace/heaptrack.hpp"
#include "heapfit/trace/lifetime.hpp"
#include "heapfit/trace/rep.hpp"
#include "heapfit/trace/text.hpp"
#include "heapfit/trace/wire.hpp"
#include "trace_columns.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

using Chains = nb::typed<nb::dict, int, nb::typed<nb::tuple, int, nb::ellipsis>>;

// What Python sees of each reader, compiled once for all of them.
struct AnyReader {
    AnyReader() = default;
    AnyReader(const AnyReader &) = delete;
    AnyReader &operator=(const AnyReader &) = delete;
    virtual ~AnyReader() = default;
    virtual void feed(std::string_view bytes) = 0;
    virtual void finish() = 0;
    virtual TraceBuilder &builder() = 0;
    virtual const TraceHeader &header() = 0;
    virtual std::vector<std::string> notes() = 0;
    virtual std::string damage() = 0;
    virtual Chains chains() = 0;
};

template <class Reader> struct Bound final : AnyReader {
    template <typename... Options>
    explicit Bound(OnUnknown on_unknown, const Options &...options)
        : reader(on_unknown, options...) {}

    void feed(std::string_view bytes) override { reader.feed(bytes); }
    void finish() override { reader.finish(); }
    TraceBuilder &builder() override { return reader.builder(); }
    const TraceHeader &header() override { return reader.header(); }

    // A recording has notes of its own beside those of its events.
    std::vector<std::string> notes() override {
        if constexpr (requires { reader.notes(); }) {
            return reader.notes();
        } else {
            return reader.builder().notes();
        }
    }

    std::string damage() override {
        if constexpr (requires { reader.damage(); }) {
            return reader.damage();
        } else {
            return {};
        }
    }

    // Only recordings name more than the direct caller of a request.
    Chains chains() override {
        nb::dict chains;
        if constexpr (requires { reader.chains(); }) {
            for (const auto &[site, callers] : reader.chains()) {
                chains[nb::int_(site)] =
                    nb::make_tuple(callers[0], callers[1], callers[2], callers[3]);
            }
        }
        return nb::borrow<Chains>(chains);
    }

    Reader reader;
};

void feed(AnyReader &reader, nb::bytes chunk) {
    const std::string_view bytes(chunk.c_str(), chunk.size());
    nb::gil_scoped_release unlocked;
    reader.feed(bytes);
}

// Header values are the file's bytes, in any encoding.
nb::str to_text(const std::string &value) {
    const auto length = static_cast<Py_ssize_t>(value.size());
    return nb::steal<nb::str>(PyUnicode_DecodeUTF8(value.data(), length, "replace"));
}

// The descriptions in a text, one a line; of an allocation there is one at least.
void add_lines(std::vector<OwnLine> &own, Op op, const std::string &text) {
    std::size_t begin = 0;
    while (begin < text.size() || (op == Op::alloc && begin == 0)) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        own.push_back({op, text.substr(begin, end - begin)});
        begin = end + 1;
    }
}

// In Python each is a Reader (heapfit/importers/source.py).
void bind_any_reader(nb::module_ &module) {
    nb::class_<AnyReader>(module, "TraceReader", "What all readers of traces have.")
        .def("feed", &feed, nb::arg("chunk"), "Reads the next bytes of the file.")
        .def("finish", &AnyReader::finish, "Ends the file; refuses one that is cut or empty.")
        .def(
            "take", [](AnyReader &self) { return to_dict(self.builder().take()); },
            "The columns of the events read since the last call.")
        .def(
            "take_events", [](AnyReader &self) { return self.builder().take_events(); },
            "The same events as the engine replays them, without times, threads and sites.")
        .def_prop_ro("pending", [](AnyReader &self) { return self.builder().pending(); })
        .def_prop_ro("events", [](AnyReader &self) { return self.builder().events(); })
        .def_prop_ro("live_bytes", [](AnyReader &self) { return self.builder().live_bytes(); })
        .def_prop_ro("live_peak", [](AnyReader &self) { return self.builder().live_peak(); })
        .def_prop_ro("live_blocks", [](AnyReader &self) { return self.builder().live_blocks(); })
        .def_prop_ro("notes", &AnyReader::notes)
        .def_prop_ro("damage", &AnyReader::damage,
                     "What of the file was not read, where it tells; \"\" if all was.")
        .def_prop_ro("program", [](AnyReader &self) { return to_text(self.header().program); })
        .def_prop_ro("source", [](AnyReader &self) { return to_text(self.header().source); })
        .def_prop_ro("pointer_bits", [](AnyReader &self) { return self.header().pointer_bits; })
        .def_prop_ro("chains", &AnyReader::chains,
                     "The callers of each site that stands for several, innermost first.");
}

// A reader has feed(bytes), finish(), builder() and header().
template <class Reader>
nb::class_<Bound<Reader>, AnyReader> bind_reader(nb::module_ &module, const char *name,
                                                 const char *doc) {
    return nb::class_<Bound<Reader>, AnyReader>(module, name, doc)
        .def(
            "__init__",
            [](Bound<Reader> *self, bool drop_unknown) {
                new (self) Bound<Reader>(drop_unknown ? OnUnknown::drop : OnUnknown::refuse);
            },
            nb::arg("drop_unknown") = false);
}

void bind_wire(nb::module_ &module) {
    bind_reader<WireTrace>(module, "WireTrace", "Reads a recording (recorder/WIRE.md).")
        .def(
            "follow",
            [](Bound<WireTrace> &self, nb::bytes chunk, std::uint64_t place,
               std::uint64_t runtime) {
                return self.reader.follow(std::string_view(chunk.c_str(), chunk.size()), place,
                                          runtime);
            },
            nb::arg("chunk"), nb::arg("place"), nb::arg("runtime") = 0,
            "Reads what is new in a chunk that is still written to; True once it is full.");
}

void bind_heap_log(nb::module_ &module) {
    bind_reader<HeapLogTrace>(module, "HeapLogTrace", "Reads a log of heap calls, line by line.")
        .def(
            "__init__",
            [](Bound<HeapLogTrace> *self, const std::string &line, const std::string &free,
               const std::string &resize, bool frees_newest) {
                std::vector<OwnLine> own;
                add_lines(own, Op::alloc, line);
                add_lines(own, Op::free, free);
                add_lines(own, Op::resize, resize);
                new (self) Bound<HeapLogTrace>(OnUnknown::drop, own,
                                               frees_newest ? Equal::newest : Equal::oldest);
            },
            nb::arg("line"), nb::arg("free"), nb::arg("resize"), nb::arg("frees_newest") = false,
            "Reads lines as their user describes them, such as \"Freed {address}\"; a text has "
            "several, "
            "one a line.")
        .def_prop_ro(
            "times",
            [](const Bound<HeapLogTrace> &self) {
                nb::dict times;
                for (const auto &[line, time] : self.reader.times()) {
                    times[nb::int_(line)] = time;
                }
                return nb::borrow<nb::typed<nb::dict, int, int>>(times);
            },
            "The microseconds of the first lines that tell a time, by the number of the line.");
    module.def(
        "number_of_name",
        [](nb::bytes name) {
            return number_of({name.c_str(), name.size()});
        },
        nb::arg("name"), "The number that stands for a name of a log of calls in its trace.");
    module.def(
        "has_heap_log",
        [](nb::bytes head) {
            return has_heap_log({head.c_str(), head.size()});
        },
        nb::arg("head"), "Whether a line of these bytes is an event of a heap's log.");
}

} // namespace

void bind_trace(nb::module_ &module) {
    module.attr("LARGEST_REQUEST") = largest_request;
    module.attr("LARGEST_ALIGNMENT") = largest_alignment;
    bind_any_reader(module);
    bind_reader<TextTrace>(module, "TextTrace", "Reads the text form of a trace.");
    bind_reader<RepTrace>(module, "RepTrace", "Reads a CS:APP malloc-lab .rep trace.");
    bind_reader<CsvTrace>(module, "CsvTrace", "Reads a trace as comma-separated values.");
    module.def(
        "names_calls",
        [](nb::bytes header) {
            return names_calls({header.c_str(), header.size()});
        },
        nb::arg("header"),
        "Whether a table's first line names the columns of a trace, or of calls that were "
        "printed.");
    bind_reader<LifetimeTrace>(module, "LifetimeTrace", "Reads minimalloc's buffers.");
    bind_wire(module);
    bind_reader<FrameTrace>(module, "FrameTrace",
                            "Reads a log with a target's frames (recorder/target/FRAMES.md).")
        .def(
            "keep_addresses", [](Bound<FrameTrace> &self) { self.reader.keep_addresses(); },
            "Keeps where the target placed blocks; to be called before the first feed.")
        .def_prop_ro(
            "missing", [](Bound<FrameTrace> &self) { return self.reader.missing(); },
            "Events missing between those of the log.")
        .def_prop_ro(
            "is_whole", [](Bound<FrameTrace> &self) { return self.reader.is_whole(); },
            "No event before the log's last is missing, and no block was live before.")
        .def_prop_ro(
            "addresses", [](Bound<FrameTrace> &self) { return to_array(self.reader.addresses()); },
            nb::rv_policy::move,
            "Of all blocks of a byte or more, in the order of Replay.offsets; empty unless kept.");
    bind_heap_log(module);
    bind_reader<HeaptrackTrace>(module, "HeaptrackTrace", "Reads a file of heaptrack.");
    module.def(
        "has_frame",
        [](nb::bytes head) {
            return has_frame({head.c_str(), head.size()});
        },
        nb::arg("head"), "Whether a frame of a target's recorder lies anywhere in these bytes.");
}

} // namespace heapfit::bindings
