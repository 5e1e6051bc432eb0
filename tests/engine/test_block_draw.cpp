// SPDX-License-Identifier: Apache-2.0
// Drawn blocks against the method written plainly: all objects are looked at, all pairs tried.
#include <algorithm>
#include <random>

#include "check.hpp"
#include "heapfit/workload/block_draw.hpp"

using namespace heapfit;
using heapfit::test::error_of;

namespace {

using Counts = std::vector<std::uint64_t>;

struct Recording {
    std::vector<Bytes> sizes;
    Counts ends;
    std::vector<Bytes> live;
    Counts phases;
    std::uint64_t block;

    [[nodiscard]] BlockDraw blocks() const { return {sizes.size(), phases, block}; }
    [[nodiscard]] RecordedLives lives() const { return {sizes, ends, live}; }
};

// Of few sizes, some of them equal in their lower 32 bits; some objects live on beyond the end.
Recording recorded(std::uint64_t seed) {
    static constexpr Bytes some_sizes[] = {0, 8, 8 + (Bytes{1} << 32), 24, 100, Bytes{1} << 47};
    std::mt19937_64 random(seed);
    Recording made{.sizes = {}, .ends = {}, .live = {}, .phases = {}, .block = 1 + random() % 20};
    const std::uint64_t longest = 1 + random() % 60;
    const std::uint64_t kinds = 1 + random() % std::size(some_sizes);
    for (std::uint64_t phases = 1 + random() % 3; phases > 0; phases--) {
        made.phases.push_back(made.sizes.size());
        for (std::uint64_t left = made.block + random() % 200; left > 0; left--) {
            const std::uint64_t i = made.sizes.size();
            const bool is_left = random() % 40 == 0;
            made.sizes.push_back(some_sizes[random() % kinds]);
            made.ends.push_back(is_left ? std::uint64_t{1} << 40 : i + 1 + random() % longest);
        }
    }
    for (std::uint64_t at = 0; at < made.sizes.size(); at++) {
        Bytes live = 0;
        for (std::uint64_t i = 0; i < at; i++) {
            live += made.ends[i] > at ? made.sizes[i] : 0;
        }
        made.live.push_back(live);
    }
    return made;
}

struct Object {
    std::uint64_t source, end, own_end, freed_as;
};

// The method, phase by phase and seam by seam. `pick` is given the number of places.
struct PlainDraw {
    const Recording &recording;
    std::vector<Object> objects = {};

    template <typename Pick> void draw(Pick pick) {
        const Counts &phases = recording.phases;
        for (std::size_t i = 0; i < phases.size(); i++) {
            const bool is_last = i + 1 == phases.size();
            const std::uint64_t end = is_last ? recording.sizes.size() : phases[i + 1];
            for (std::uint64_t seam = phases[i]; seam < end; seam += recording.block) {
                const Counts nearest = nearest_places(phases[i], end, seam);
                const std::uint64_t begin = nearest[pick(nearest.size())];
                join(seam, begin);
                for (std::uint64_t j = begin;
                     objects.size() < std::min(seam + recording.block, end); j++) {
                    const std::uint64_t ends = seam + recording.ends[j] - begin;
                    objects.push_back({j, ends, ends, j});
                }
            }
        }
    }

    [[nodiscard]] std::vector<std::size_t> live(std::uint64_t seam) const {
        std::vector<std::size_t> live;
        for (std::size_t i = 0; i < objects.size(); i++) {
            if (objects[i].end > seam) {
                live.push_back(i);
            }
        }
        return live;
    }

    [[nodiscard]] Counts nearest_places(std::uint64_t first, std::uint64_t end,
                                        std::uint64_t seam) const {
        Bytes bytes = 0;
        for (const std::size_t i : live(seam)) {
            bytes += recording.sizes[objects[i].source];
        }
        const std::uint64_t last = end - recording.block;
        const std::uint64_t reach = std::max((end - first) / 8, 4 * recording.block);
        std::uint64_t lowest = std::min(seam, last);
        lowest = std::max(first, lowest < reach ? 0 : lowest - reach);
        Counts places;
        for (std::uint64_t place = lowest; place <= std::min(last, seam + reach);
             place += std::max<std::uint64_t>(1, recording.block / 4)) {
            places.push_back(place);
        }
        std::ranges::stable_sort(places, {}, [&](std::uint64_t place) {
            const Bytes there = recording.live[place];
            return there > bytes ? there - bytes : bytes - there;
        });
        return places;
    }

    void join(std::uint64_t seam, std::uint64_t begin) {
        std::vector<bool> is_taken(begin);
        for (const std::size_t i : live(seam)) {
            Object &our = objects[i];
            our.end = std::max(our.own_end, seam);
            our.freed_as = our.source;
            for (std::uint64_t their = 0; their < begin; their++) {
                if (recording.ends[their] > begin && !is_taken[their] &&
                    recording.sizes[their] == recording.sizes[our.source]) {
                    is_taken[their] = true;
                    our.end = seam + recording.ends[their] - begin;
                    our.freed_as = their;
                    break;
                }
            }
        }
    }
};

void blocks_are_drawn_as_the_plain_method_draws_them() {
    for (std::uint64_t seed = 1; seed <= 300; seed++) {
        const Recording recording = recorded(seed);
        std::mt19937_64 random(seed);
        Counts choices, picks;
        PlainDraw plain{recording};
        plain.draw([&](std::uint64_t places) {
            std::uint64_t root = 0;
            while ((root + 1) * (root + 1) <= places) {
                root++;
            }
            choices.push_back(std::min(root + 1, places));
            picks.push_back(random() % choices.back());
            return picks.back();
        });
        CHECK(recording.blocks().choices() == choices);
        const DrawnLives drawn = recording.blocks().draw(recording.lives(), picks);
        CHECK(drawn.source.size() == plain.objects.size());
        for (std::size_t i = 0; i < plain.objects.size(); i++) {
            const Object &object = plain.objects[i];
            CHECK(drawn.source[i] == object.source && drawn.ends[i] == object.end &&
                  drawn.freed_as[i] == object.freed_as);
        }
    }
}

// Three objects of 8 bytes and one of 16, of which the first two live on past object 2.
Recording four_objects() {
    return {.sizes = {8, 8, 8, 16},
            .ends = {4, 3, 3, 4},
            .live = {0, 8, 16, 16},
            .phases = {0},
            .block = 2};
}

void phases_shorter_than_a_block_are_refused() {
    const auto refusal = [](std::uint64_t objects, const Counts &phases, std::uint64_t block) {
        return error_of([&] { BlockDraw(objects, phases, block); });
    };
    for (const Counts &phases : {Counts{0, 3}, Counts{0, 1}, Counts{0, 3, 2}, Counts{0, 5}}) {
        CHECK(refusal(4, phases, 2).find("is shorter than a block") != std::string::npos);
    }
    CHECK(refusal(0, {0}, 1).find("is shorter than a block") != std::string::npos);
    CHECK(refusal(4, {0}, UINT64_MAX).find("is shorter than a block") != std::string::npos);
    CHECK(refusal(4, {0}, 0).find("blocks of one or more") != std::string::npos);
    CHECK(refusal(4, {1}, 2).find("from object 0") != std::string::npos);
    CHECK(refusal(4, {}, 2).find("from object 0") != std::string::npos);
    CHECK(refusal(std::uint64_t{1} << 32, {0}, 1 << 20).find("2^32") != std::string::npos);
}

void arrays_that_do_not_fit_are_refused() {
    const auto refusal = [](const Recording &recording, const Counts &picks) {
        const BlockDraw blocks = four_objects().blocks();
        return error_of([&] { (void)blocks.draw(recording.lives(), picks); });
    };
    for (auto column : {&Recording::sizes, &Recording::ends, &Recording::live}) {
        Recording shorter = four_objects();
        (shorter.*column).pop_back();
        CHECK(refusal(shorter, {0, 0}).find("are not those of 4 objects") != std::string::npos);
    }
    for (const std::uint64_t end : {std::uint64_t{3}, (std::uint64_t{1} << 62) + 1}) {
        Recording other = four_objects();
        other.ends[3] = end;
        CHECK(refusal(other, {0, 0}).find("object 3 ends before") != std::string::npos);
    }
    CHECK(refusal(four_objects(), {0}).find("1 picks for 2 seams") != std::string::npos);
    CHECK(four_objects().blocks().choices() == (Counts{2, 2}));
    CHECK(refusal(four_objects(), {0, 2}).find("pick 2 of seam 1") != std::string::npos);
}

void an_end_may_be_as_late_as_2_to_the_62() {
    Recording recording = four_objects();
    recording.ends[0] = std::uint64_t{1} << 62;
    const DrawnLives drawn = recording.blocks().draw(recording.lives(), Counts{0, 0});
    CHECK(drawn.ends[0] == std::uint64_t{1} << 62);
}

} // namespace

int main() {
    RUN(blocks_are_drawn_as_the_plain_method_draws_them);
    RUN(phases_shorter_than_a_block_are_refused);
    RUN(arrays_that_do_not_fit_are_refused);
    RUN(an_end_may_be_as_late_as_2_to_the_62);
}
