// SPDX-License-Identifier: Apache-2.0
#include "adversary/event_script.hpp"

#include <algorithm>

namespace heapfit {

namespace {

constexpr ObjectId nobody = UINT32_MAX;

using Place = EventScript::iterator;

Place place_in(EventScript &script, std::uint64_t number) {
    return script.begin() + static_cast<std::ptrdiff_t>(number);
}

ObjectId objects_in(const EventScript &script) {
    ObjectId next = 0;
    for (const ScriptEvent &event : script) {
        next = std::max(next, event.object + 1);
    }
    return next;
}

void leave_out(EventScript &script, ObjectId object) {
    std::erase_if(script, [&](const ScriptEvent &event) { return event.object == object; });
}

void resize(EventScript &script, ObjectId object, std::uint32_t size_number) {
    for (ScriptEvent &event : script) {
        if (event.object == object) {
            event.size_number = size_number;
        }
    }
}

// An event goes anywhere; a release before its request is passed over when played.
void move(EventScript &script, Philox &random) {
    const auto from = place_in(script, random.below(script.size()));
    const auto to = place_in(script, random.below(script.size()));
    if (from < to) {
        std::rotate(from, from + 1, to + 1);
    } else {
        std::rotate(to, from, from + 1);
    }
}

void add(EventScript &script, std::uint32_t size_number, Philox &random) {
    const ObjectId object = objects_in(script);
    const std::uint64_t asked = random.below(script.size() + 1);
    const std::uint64_t released = asked + 1 + random.below(script.size() + 1 - asked);
    script.insert(place_in(script, asked), {object, size_number, false});
    script.insert(place_in(script, released), {object, size_number, true});
}

} // namespace

EventScript script_of(std::span<const Event> events, const Limits &limits) {
    EventScript script;
    std::vector<std::uint32_t> numbers; // of each object's size
    for (const Event &event : events) {
        if (event.op == Op::alloc) {
            const auto found = std::ranges::lower_bound(limits.sizes, event.size);
            numbers.push_back(static_cast<std::uint32_t>(found - limits.sizes.begin()));
        }
        script.push_back({event.object, numbers[event.object], event.op == Op::free});
    }
    return script;
}

EventScript changed(const EventScript &script, const Limits &limits, Philox &random) {
    EventScript other = script;
    for (std::uint64_t changes = 1 + random.below(4); changes > 0 && !other.empty(); changes--) {
        const ObjectId object = other[random.below(other.size())].object;
        const auto size_number = static_cast<std::uint32_t>(random.below(limits.sizes.size()));
        switch (random.below(6)) {
        case 0:
            leave_out(other, object);
            break;
        case 1:
            resize(other, object, size_number);
            break;
        case 2:
            add(other, size_number, random);
            break;
        case 3:
            other.erase(place_in(other, random.below(other.size())));
            break;
        default:
            move(other, random);
            break;
        }
    }
    return other;
}

void play(const EventScript &script, const Stage &stage, LimitedProgram &program) {
    std::vector<ObjectId> played(objects_in(script), nobody); // object of the program
    ObjectId next = 0;
    for (const ScriptEvent &event : script) {
        ObjectId &object = played[event.object];
        if (event.is_release && object != nobody) {
            program.release(object);
            object = nobody;
        } else if (!event.is_release && object == nobody && program.may_ask(event.size_number)) {
            if (!program.ask(event.size_number)) {
                return;
            }
            object = next++;
        }
    }
    ask_for_the_rest(stage, program);
}

} // namespace heapfit
