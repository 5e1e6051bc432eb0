// SPDX-License-Identifier: Apache-2.0
// Tells what is wrong with an event that breaks the rules of a trace.
#include "heapfit/trace/follow.hpp"

#include <string>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

std::string what_is_wrong(const Event &event, std::uint64_t next) {
    const std::string object = "object " + std::to_string(event.object);
    const bool was_allocated = event.object < next;
    if (event.op < Op::resize) {
        return was_allocated ? object + " is allocated a second time"
                             : object + " is allocated where object " + std::to_string(next) +
                                   " is next (objects are numbered in order of allocation)";
    }
    const std::string verb = event.op == Op::free ? "freed" : "resized";
    return object + " is " + verb +
           (was_allocated ? " after it was freed" : " before it is allocated");
}

} // namespace

void throw_bad_event(std::uint64_t index, const Event &event, std::uint64_t next) {
    throw Error("event " + std::to_string(index) + ": " + what_is_wrong(event, next) +
                " (import the recording again)");
}

} // namespace heapfit
