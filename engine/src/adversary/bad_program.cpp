// SPDX-License-Identifier: Apache-2.0
#include "adversary/bad_program.hpp"

#include <algorithm>

#include "adversary/kept_blocks.hpp"

namespace heapfit {

namespace {

constexpr std::size_t most_rounds = 16;

enum class Asked : std::uint8_t { served, refused, not_allowed };

// The largest of the group that the limits allow.
Asked ask_from(const SizeGroup &group, LimitedProgram &program) {
    for (std::uint32_t i = group.last + 1; i-- > group.first;) {
        if (program.may_ask(i)) {
            return program.ask(i) ? Asked::served : Asked::refused;
        }
    }
    return Asked::not_allowed;
}

// One turn of a round: `run` of many, then one. False if nothing was allowed, or one refused.
bool ask_in_turn(const Round &round, const Stage &stage, LimitedProgram &program) {
    bool is_served = false;
    for (unsigned i = 0; i <= round.run && !program.is_refused(); i++) {
        const SizeGroup &group = stage.groups[i < round.run ? round.many : round.one];
        is_served = ask_from(group, program) == Asked::served || is_served;
    }
    return is_served && !program.is_refused();
}

void fill(const Round &round, const Stage &stage, LimitedProgram &program) {
    const Bytes left = program.unused() - program.unused() * round.share / 16;
    while (program.unused() >= left && program.events().size() < stage.events &&
           ask_in_turn(round, stage, program)) {
    }
}

std::vector<bool> kept_of(const Round &round, const Stage &stage,
                          std::span<const PlacedBlock> blocks) {
    std::vector<bool> is_kept(blocks.size(), round.keep == Keep::all);
    if (round.keep == Keep::fewest) {
        const std::uint64_t pitch = stage.groups[round.window].pitch;
        return fewest_kept(blocks, std::max<std::uint64_t>(pitch + pitch * round.slack / 16, 1));
    }
    for (std::size_t i = 0; round.keep == Keep::one_in && i < blocks.size(); i += round.stride) {
        is_kept[i] = true;
    }
    return is_kept;
}

void shuffle(std::vector<ObjectId> &objects, Philox &random) {
    for (std::size_t i = objects.size(); i > 1; i--) {
        std::swap(objects[i - 1], objects[random.below(i)]);
    }
}

void release(const Round &round, const Stage &stage, LimitedProgram &program, Philox &random) {
    const std::vector<PlacedBlock> blocks = program.live_blocks();
    const auto beyond_pools = static_cast<std::size_t>(
        round.empties_pools
            ? std::ranges::lower_bound(blocks, stage.pools_end, {}, &PlacedBlock::begin) -
                  blocks.begin()
            : 0);
    const std::vector<bool> is_kept =
        kept_of(round, stage, std::span(blocks).subspan(beyond_pools));
    std::vector<ObjectId> released;
    for (std::size_t i = 0; i < blocks.size(); i++) {
        if (i < beyond_pools || !is_kept[i - beyond_pools]) {
            released.push_back(blocks[i].object);
        }
    }
    if (round.order == ReleaseOrder::descending) {
        std::ranges::reverse(released);
    } else if (round.order == ReleaseOrder::shuffled) {
        shuffle(released, random);
    }
    for (const ObjectId object : released) {
        program.release(object);
    }
}

Round drawn_round(std::size_t groups, Philox &random) {
    const auto group = [&] { return static_cast<std::uint8_t>(random.below(groups)); };
    const std::uint8_t many = group();
    return {.many = many,
            .one = random.below(2) == 0 ? many : group(),
            .run = static_cast<std::uint8_t>(1 + random.below(8)),
            .share = static_cast<std::uint8_t>(random.below(2) == 0 ? 16 : 1 + random.below(16)),
            .keep = static_cast<Keep>(random.below(8) == 0 ? random.below(4) : 1),
            .window = group(),
            .slack = static_cast<std::uint8_t>(random.below(2) == 0 ? 0 : random.below(17)),
            .stride = static_cast<std::uint8_t>(2 + random.below(15)),
            .order = static_cast<ReleaseOrder>(random.below(3)),
            .empties_pools = random.below(2) == 0};
}

// One number of a round as another draw has it.
void change_round(Round &round, std::size_t groups, Philox &random) {
    const Round drawn = drawn_round(groups, random);
    const auto near = [&](std::uint8_t group) {
        const std::size_t moved = group + random.below(3);
        return static_cast<std::uint8_t>(std::clamp<std::size_t>(moved, 1, groups) - 1);
    };
    switch (random.below(9)) {
    case 0:
        round.many = random.below(2) == 0 ? near(round.many) : drawn.many;
        break;
    case 1:
        round.one = random.below(2) == 0 ? near(round.one) : drawn.one;
        break;
    case 2:
        round.run = drawn.run;
        break;
    case 3:
        round.share = drawn.share;
        break;
    case 4:
        round.keep = static_cast<Keep>(random.below(4));
        break;
    case 5:
        round.window = random.below(2) == 0 ? near(round.window) : drawn.window;
        break;
    case 6:
        round.slack = drawn.slack;
        break;
    case 7:
        round.order = drawn.order;
        break;
    default:
        round.empties_pools = !round.empties_pools;
        break;
    }
}

} // namespace

BadProgram drawn_program(std::size_t groups, Philox &random) {
    BadProgram program;
    for (std::uint64_t rounds = 2 + random.below(7); rounds > 0; rounds--) {
        program.rounds.push_back(drawn_round(groups, random));
    }
    program.seed = random.next();
    return program;
}

BadProgram changed(BadProgram program, std::size_t groups, Philox &random) {
    std::vector<Round> &rounds = program.rounds;
    const auto place = [&](std::size_t bound) {
        return rounds.begin() + static_cast<std::ptrdiff_t>(random.below(bound));
    };
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; changes--) {
        const std::uint64_t choice = random.below(8);
        if (rounds.empty() || (choice == 0 && rounds.size() < most_rounds)) {
            const Round drawn = drawn_round(groups, random);
            rounds.insert(place(rounds.size() + 1), drawn);
        } else if (choice == 1 && rounds.size() > 1) {
            rounds.erase(place(rounds.size()));
        } else if (choice == 2) {
            std::iter_swap(place(rounds.size()), place(rounds.size()));
        } else {
            change_round(*place(rounds.size()), groups, random);
        }
    }
    program.seed = random.next();
    return program;
}

void ask_for_the_rest(const Stage &stage, LimitedProgram &program) {
    for (std::size_t i = stage.groups.size(); i-- > 0 && !program.is_refused();) {
        while (program.events().size() < stage.events &&
               ask_from(stage.groups[i], program) == Asked::served) {
        }
    }
}

void play(const BadProgram &bad, const Stage &stage, LimitedProgram &program) {
    Philox random(bad.seed);
    for (const Round &round : bad.rounds) {
        fill(round, stage, program);
        if (program.is_refused() || program.events().size() >= stage.events) {
            return;
        }
        release(round, stage, program, random);
    }
    ask_for_the_rest(stage, program);
}

} // namespace heapfit
