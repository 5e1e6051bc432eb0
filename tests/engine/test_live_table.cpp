// SPDX-License-Identifier: Apache-2.0
// The table of live ids against an unordered_map, for ids that collide as much as ids can.
#include <random>
#include <unordered_map>

#include "check.hpp"
#include "heapfit/trace/live_table.hpp"

using namespace heapfit;

namespace {

struct Known {
    Bytes size;
    ObjectId object;
};

void require_equal(LiveTable &table, const std::unordered_map<std::uint64_t, Known> &model,
                   std::uint64_t id) {
    const LiveTable::Slot *const slot = table.find(id);
    const auto known = model.find(id);
    CHECK((slot != nullptr) == (known != model.end()));
    CHECK(slot == nullptr || (slot->id == id && slot->size == known->second.size &&
                              slot->object == known->second.object));
}

// Ids in [0, span) times a stride; the table fills, is churned, and empties again.
void churn(std::uint64_t stride, std::uint64_t span, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    LiveTable table;
    std::unordered_map<std::uint64_t, Known> model;
    const int steps = 60000;
    for (int step = 0; step < steps; step++) {
        const std::uint64_t id = random() % span * stride;
        const bool is_filling = random() % 8 < (step < steps / 2 ? 5U : 2U);
        if (is_filling) {
            const Known known{random(), static_cast<ObjectId>(step)};
            CHECK(table.insert(id, known.size, known.object) == model.emplace(id, known).second);
        } else if (LiveTable::Slot *const slot = table.find(id); slot != nullptr) {
            table.erase(slot);
            CHECK(model.erase(id) == 1);
        }
        CHECK(table.size() == model.size());
        require_equal(table, model, id);
        require_equal(table, model, random() % span * stride);
    }
    for (const auto &[id, known] : model) {
        require_equal(table, model, id);
    }
}

TEST(a_table_agrees_with_a_map_at_every_step) {
    for (const std::uint64_t stride : {std::uint64_t{1}, std::uint64_t{16}, std::uint64_t{4096},
                                       std::uint64_t{1} << 32, std::uint64_t{1} << 48}) {
        churn(stride, 400, stride + 1);
        churn(stride, 20000, stride + 2);
    }
}

TEST(any_64_bit_number_is_an_id) {
    LiveTable table;
    const std::uint64_t largest = ~std::uint64_t{0};
    CHECK(table.insert(0, 1, 10) && table.insert(largest, 2, 11));
    CHECK(table.find(0)->object == 10 && table.find(largest)->object == 11);
    table.erase(table.find(0));
    CHECK(table.find(0) == nullptr && table.find(largest)->size == 2);
}

} // namespace
