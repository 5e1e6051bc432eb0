// SPDX-License-Identifier: Apache-2.0
// What no text format can ask of a TraceBuilder: objects that change their id, positions in units
// of the source's own, batches. The replay rules themselves are told in
// tests/python/test_trace_rules.py.
#include "check.hpp"
#include "heapfit/trace/builder.hpp"

using namespace heapfit;
using heapfit::test::error_of;

namespace {

Request request(Op op, std::uint64_t id, std::uint64_t size = 0) {
    Request made;
    made.op = op;
    made.id = id;
    made.size = size;
    return made;
}

TEST(a_renamed_object_answers_to_its_new_id_only) {
    TraceBuilder builder(OnUnknown::refuse, "record");
    builder.add(request(Op::alloc, 7, 24), 1);
    CHECK(builder.rename(7, 9, 2));
    CHECK(builder.events() == 1);
    builder.add(request(Op::alloc, 7, 8), 3);
    builder.add(request(Op::resize, 9, 40), 4);
    builder.add(request(Op::free, 7), 5);
    CHECK(builder.take().object == (std::vector<ObjectId>{0, 1, 0, 1}));
    CHECK_ERROR("record 6: ", builder.add(request(Op::free, 7), 6));
}

TEST(renaming_an_unknown_object_is_refused_or_dropped) {
    TraceBuilder refusing(OnUnknown::refuse, "record");
    CHECK(error_of([&] { (void)refusing.rename(1, 2, 5); }) ==
          "record 5: resize of unknown id 1 (heapfit import --drop-unknown drops such events and "
          "counts them)");
    TraceBuilder dropping(OnUnknown::drop);
    CHECK(!dropping.rename(1, 2, 5));
    CHECK(dropping.notes() == std::vector<std::string>{"1 resize of an unknown id dropped."});
}

TEST(renaming_to_a_live_id_frees_what_had_it) {
    TraceBuilder builder(OnUnknown::drop);
    builder.add(request(Op::alloc, 1, 10), 1);
    builder.add(request(Op::alloc, 2, 20), 2);
    CHECK(builder.rename(1, 2, 3));
    builder.add(request(Op::free, 1), 4);
    builder.add(request(Op::free, 2), 5);
    CHECK(builder.take().object == (std::vector<ObjectId>{0, 1, 1, 0}));
}

TEST(batches_join_to_the_whole) {
    TraceBuilder builder(OnUnknown::refuse);
    builder.add(request(Op::alloc, 1, 10), 1);
    CHECK(builder.pending() == 1 && builder.take().size == std::vector<Bytes>{10});
    CHECK(builder.pending() == 0 && builder.take().op.empty());
    builder.add(request(Op::free, 1), 2);
    CHECK(builder.take().object == std::vector<ObjectId>{0});
    CHECK(builder.events() == 2);
}

TEST(a_refused_request_adds_no_event) {
    TraceBuilder builder(OnUnknown::refuse);
    builder.add(request(Op::alloc, 1, largest_request), 1);
    (void)error_of([&] { builder.add(request(Op::alloc, 1, 8), 2); });
    (void)error_of([&] { builder.add(request(Op::resize, 2, 8), 3); });
    (void)error_of([&] { builder.add(request(Op::free, 2), 4); });
    CHECK(builder.events() == 1 && builder.take().op.size() == 1);
}

} // namespace
