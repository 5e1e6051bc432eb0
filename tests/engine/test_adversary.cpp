// SPDX-License-Identifier: Apache-2.0
// The adversary: what it finds is legal, refused where it says, and as bad as can be where that is
// known.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <span>

#include "adversary/bad_program.hpp"
#include "adversary/kept_blocks.hpp"
#include "check.hpp"
#include "fnv_hash.hpp"
#include "heapfit/adversary/adversary.hpp"
#include "heapfit/replay/replay.hpp"
#include "plans.hpp"

using namespace heapfit;
using heapfit::test::plain;

namespace {

const auto watch_nothing = [](double) { return true; };

bool is_plain(const Event &event) {
    return event.alignment_log2 == 0 && event.tag == 0 && (event.op != Op::free || event.size == 0);
}

// The slow obvious way.
bool is_within(const Limits &limits, const std::vector<Event> &events) {
    std::map<ObjectId, Bytes> live;
    for (const Event &event : events) {
        if (!is_plain(event)) {
            return false;
        }
        if (event.op == Op::free) {
            if (live.erase(event.object) == 0) {
                return false;
            }
            continue;
        }
        live[event.object] = event.size;
        Bytes bytes = 0;
        std::map<Bytes, std::uint64_t> count;
        for (const auto &[object, size] : live) {
            bytes += size;
            count[size]++;
        }
        const auto place = std::ranges::find(limits.sizes, event.size);
        if (place == limits.sizes.end() || bytes > limits.live ||
            count[event.size] >
                limits.peaks[static_cast<std::size_t>(place - limits.sizes.begin())]) {
            return false;
        }
    }
    return true;
}

// Whether a region serves all but the last event, and not that.
bool is_refused_last(const Plan &plan, std::uint64_t region, const std::vector<Event> &events) {
    Replay replay(HostHeap::init(plan, {region}));
    return !replay.feed(events) && replay.result().failure->event == events.size() - 1;
}

const Limits some = {{24, 40, 100, 300, 1000}, {20, 30, 10, 6, 3}, 4000};

TEST(what_is_found_is_within_the_limits_and_refused_at_its_end) {
    for (const char *allocator : {"first_fit", "best_fit", "tlsf", "tailored", "segregated_fit",
                                  "kingsley", "halffit", "lea", "buddy", "partition_pool"}) {
        const Plan plan = plain(allocator);
        const Adversary found = find_adversary(plan, some, {6000, 1, 200'000}, watch_nothing);
        CHECK(found.region >= 6000);
        CHECK(is_within(some, found.events));
        CHECK(is_refused_last(plan, found.region, found.events));
        CHECK(found.replayed <= 200'000 + found.plays);
    }
}

TEST(a_seed_finds_the_same_everywhere) {
    const Adversary found =
        find_adversary(plain("first_fit"), some, {5000, 7, 200'000}, watch_nothing);
    heapfit::test::FnvHash hash;
    for (const Event &event : found.events) {
        hash.mix(event.size);
        hash.mix(event.object);
    }
    CHECK(found.region == 14024 && hash.value() == 0x00acaa6ed087feaa);
}

Plan a_pool_for_each_size(const char *allocator, const Limits &limits, std::uint64_t missing) {
    std::vector<PoolSpec> pools;
    for (std::size_t i = 0; i < limits.sizes.size(); i++) {
        pools.push_back({limits.sizes[i], limits.peaks[i], true});
    }
    pools.back().count -= missing;
    return {allocator, {}, pools, std::nullopt};
}

TEST(nothing_breaks_pools_of_each_size_s_worst_case) {
    for (const char *allocator : {"static_pools", "class_pools", "budgeted"}) {
        const Plan plan = a_pool_for_each_size(allocator, some, 0);
        const Adversary found =
            find_adversary(plan, some, {plan.smallest_region(), 1, 100'000}, watch_nothing);
        CHECK(found.events.empty() && found.region == 0 && !found.breaks_any);
        CHECK(found.plays > 100);
    }
}

TEST(a_pool_with_a_block_too_few_is_broken_in_any_region) {
    const Plan plan = a_pool_for_each_size("budgeted", some, 1);
    const Adversary found =
        find_adversary(plan, some, {plan.smallest_region(), 1, 100'000}, watch_nothing);
    CHECK(found.breaks_any && is_within(some, found.events));
}

constexpr std::uint64_t unit = 16; // bytes; a request takes 4 more for its header

// First fit by address, blocks as (place, units): every state that a program within the limits can
// bring about, and how high the highest reaches.
class EveryProgram {
  public:
    explicit EveryProgram(const Limits &limits) : limits_(limits) {}

    std::uint64_t highest() {
        visit({});
        while (!open_.empty()) {
            const State state = open_.back();
            open_.pop_back();
            for (const Block &block : state) {
                State less = state;
                less.erase(block);
                visit(less);
            }
            for (std::size_t i = 0; i < limits_.sizes.size(); i++) {
                ask(state, i);
            }
        }
        return highest_;
    }

  private:
    using Block = std::pair<std::uint64_t, std::uint64_t>;
    using State = std::set<Block>;

    void visit(const State &state) {
        if (seen_.insert(state).second) {
            open_.push_back(state);
        }
    }

    void ask(const State &state, std::size_t number) {
        const std::uint64_t size = (limits_.sizes[number] + 4) / unit;
        Bytes live = limits_.sizes[number];
        std::uint64_t twins = 1;
        std::uint64_t place = 0;
        bool is_placed = false;
        for (const auto &[begin, length] : state) {
            live += length * unit - 4;
            twins += length == size ? 1 : 0;
            is_placed = is_placed || begin >= place + size;
            place = is_placed ? place : begin + length;
        }
        if (live <= limits_.live && twins <= limits_.peaks[number]) {
            State more = state;
            more.insert({place, size});
            highest_ = std::max(highest_, place + size);
            visit(more);
        }
    }

    const Limits &limits_;
    std::set<State> seen_;
    std::vector<State> open_;
    std::uint64_t highest_ = 0;
};

TEST(the_worst_of_first_fit_with_three_sizes_is_found) {
    const Plan plan = plain("first_fit", {{"list", 1}});
    const std::vector<std::vector<std::uint64_t>> cases = {
        {6, 3, 1}, {4, 4, 1}, {8, 2, 2}, {2, 2, 2}};
    for (const auto &peaks : std::span(cases).first(test::turns(cases.size()))) {
        const Limits limits{{12, 28, 60}, peaks, 110};
        const std::uint64_t needed =
            plan.smallest_region() + unit * (EveryProgram(limits).highest() - 1);
        const Adversary found =
            find_adversary(plan, limits, {plan.smallest_region(), 2, 400'000}, watch_nothing);
        CHECK(found.region < needed);
        CHECK(found.region + unit >= needed);
    }
}

std::uint64_t bytes_kept(const std::vector<PlacedBlock> &blocks, const std::vector<bool> &kept) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < blocks.size(); i++) {
        bytes += kept[i] ? blocks[i].end - blocks[i].begin : 0;
    }
    return bytes;
}

// No gap of `hole` from one kept block to the next but those between neighbours, the last kept.
bool leaves_no_hole(const std::vector<PlacedBlock> &blocks, const std::vector<bool> &kept,
                    std::uint64_t hole) {
    std::uint64_t end = blocks.front().begin;
    bool is_neighbour = true;
    for (std::size_t i = 0; i < blocks.size(); i++) {
        if (kept[i] && !is_neighbour && blocks[i].begin >= end + hole) {
            return false;
        }
        is_neighbour = kept[i];
        end = kept[i] ? blocks[i].end : end;
    }
    return kept.back();
}

TEST(no_choice_keeps_fewer_bytes) {
    std::mt19937_64 random(5);
    for (int turn = 0; turn < 60; turn++) {
        std::vector<PlacedBlock> blocks;
        std::uint64_t place = 8;
        for (ObjectId i = 0; i < 9; i++) {
            const std::uint64_t size = 1 + random() % 9;
            blocks.push_back({place, place + size, i, 0});
            place += size + (random() % 4 == 0 ? random() % 12 : 0);
        }
        const std::uint64_t hole = 1 + random() % 20;
        const std::vector<bool> kept = fewest_kept(blocks, hole);
        CHECK(leaves_no_hole(blocks, kept, hole));
        for (unsigned choice = 0; choice < 1u << blocks.size(); choice++) {
            std::vector<bool> other;
            for (std::size_t i = 0; i < blocks.size(); i++) {
                other.push_back((choice >> i & 1u) != 0);
            }
            CHECK(!leaves_no_hole(blocks, other, hole) ||
                  bytes_kept(blocks, kept) <= bytes_kept(blocks, other));
        }
    }
    CHECK(fewest_kept({}, 8).empty());
}

TEST(a_stop_keeps_the_worst_so_far) {
    int told = 0;
    const Adversary found = find_adversary(plain("tlsf"), some, {5000, 1, 100'000'000},
                                           [&](double) { return ++told < 3; });
    CHECK(told == 3 && found.is_stopped && found.region > 5000);
    CHECK(is_refused_last(plain("tlsf"), found.region, found.events));
}

TEST(what_cannot_be_attacked_is_refused) {
    CHECK_ERROR("adversary: a region of 10 bytes is below the ",
                find_adversary(plain("tlsf"), some, {10, 1, 1000}, watch_nothing));
    CHECK_ERROR("adversary: 2 sizes, but 1 peaks",
                find_adversary(plain("tlsf"), {{8, 16}, {1}, 9}, {5000}, watch_nothing));
    CHECK_ERROR("adversary: the sizes do not ascend",
                find_adversary(plain("tlsf"), {{8, 8}, {1, 1}, 9}, {5000}, watch_nothing));
    const Limits nothing{{8}, {0}, 0};
    CHECK(find_adversary(plain("tlsf"), nothing, {5000}, watch_nothing).plays == 0);
}

std::vector<int> groups_asked_for(const BadProgram &program) {
    std::vector<int> asked;
    for (const Round &round : program.rounds) {
        asked.push_back(round.many);
    }
    return asked;
}

TEST(sizes_that_leave_nothing_to_others_come_in_both_orders) {
    std::set<std::vector<int>> orders;
    for (const BadProgram &known : known_bad_programs(4)) {
        if (known.rounds.front().keep == Keep::none) {
            orders.insert(groups_asked_for(known));
        }
    }
    CHECK(orders.contains({0, 1, 2, 3}) && orders.contains({3, 2, 1, 0}));
}

} // namespace
