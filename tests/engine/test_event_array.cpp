// SPDX-License-Identifier: Apache-2.0
// Columns that become events: what an event may carry, and that a bad one leaves nothing behind.
#include <array>

#include "check.hpp"
#include "heapfit/trace/event_array.hpp"

using namespace heapfit;

namespace {

constexpr auto alloc = static_cast<std::uint8_t>(Op::alloc);
constexpr auto aligned = static_cast<std::uint8_t>(Op::aligned);
constexpr auto zeroed = static_cast<std::uint8_t>(Op::zeroed);
constexpr auto resized = static_cast<std::uint8_t>(Op::resize);
constexpr auto freed = static_cast<std::uint8_t>(Op::free);

TEST(only_an_aligned_request_carries_an_alignment) {
    const std::array ops = {alloc, aligned, aligned, zeroed, freed};
    const std::array<ObjectId, 5> objects = {0, 1, 2, 3, 0};
    const std::array<Bytes, 5> sizes = {8, 8, 8, 8, 0};
    const std::array<std::uint32_t, 5> alignments = {64, 64, 0, 0, 32};
    EventArray array;
    array.append({ops, objects, sizes, alignments, {}});
    const std::array<int, 5> expected = {0, 6, 0, 0, 0};
    for (std::size_t i = 0; i < expected.size(); i++) {
        CHECK(array.events()[i].alignment_log2 == expected[i]);
    }
}

TEST(only_what_may_be_tagged_carries_a_tag) {
    const std::array ops = {alloc, zeroed, aligned, resized, freed};
    const std::array<ObjectId, 5> objects = {0, 1, 2, 0, 0};
    const std::array<Bytes, 5> sizes = {8, 8, 8, 9, 0};
    const std::array<std::uint16_t, 5> tags = {1, 2, 3, 4, 5};
    EventArray array;
    array.append({ops, objects, sizes, {}, tags});
    const std::array<int, 5> expected = {1, 2, 0, 0, 0};
    for (std::size_t i = 0; i < expected.size(); i++) {
        CHECK(array.events()[i].tag == expected[i]);
    }
}

TEST(only_a_resize_moves) {
    const std::array ops = {alloc, zeroed, aligned, resized, resized, freed};
    const std::array<ObjectId, 6> objects = {0, 1, 2, 0, 1, 0};
    const std::array<Bytes, 6> sizes = {8, 8, 8, 9, 9, 0};
    const std::array<std::uint16_t, 6> moves = {1, 1, 1, 0, 7, 1};
    EventArray array;
    array.append({ops, objects, sizes, {}, {}});
    const EventArray moving = array.moving(moves);
    const std::array<int, 6> expected = {0, 0, 0, 0, 7, 0};
    for (std::size_t i = 0; i < expected.size(); i++) {
        CHECK(moving.events()[i].tag == expected[i]);
    }
    CHECK_ERROR("events: there must be as many tags as events", array.moving({}));
}

// Events are told by their numbers in the whole trace.
TEST(a_bad_event_is_named_and_nothing_appended) {
    const std::array ops = {alloc, alloc};
    const std::array<ObjectId, 2> objects = {0, 1};
    const std::array<Bytes, 2> large = {8, largest_request + 1};
    const std::array<Bytes, 2> largest = {largest_request, 8};
    const std::array<std::uint8_t, 2> other = {alloc, op_count};
    const std::array<std::uint32_t, 2> odd = {0, 24};
    EventArray array(100);
    array.append({ops, objects, largest, {}, {}});
    CHECK_ERROR("event 103: size 140737488355329 is above 2^47 bytes",
                array.append({ops, objects, large, {}, {}}));
    CHECK_ERROR("event 103: operation 5 is not one of 0 to 4",
                array.append({other, objects, largest, {}, {}}));
    CHECK_ERROR("event 103: alignment 24 is not a power of two",
                array.append({ops, objects, largest, odd, {}}));
    CHECK_ERROR("events: the columns op, object, size, alignment and tag differ in length",
                array.append({ops, objects, {}, {}, {}}));
    CHECK(array.events().size() == 2 && array.events()[0].size == largest_request);
}

} // namespace
