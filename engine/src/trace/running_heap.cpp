// SPDX-License-Identifier: Apache-2.0
// A running heap's calls to events, with what its log leaves out.
#include "heapfit/trace/running_heap.hpp"

#include <algorithm>

namespace heapfit {

void RunningHeap::allocate(const Request &request, std::uint64_t position) {
    if (request.id == 0) {
        refused_++;
        largest_refused_ = std::max(largest_refused_, request.size);
        return;
    }
    make_room(request.id, request.time, position);
    builder_.add(request, position);
    last_ = request.id;
    position_ = position;
    time_ = request.time;
}

void RunningHeap::make_room(std::uint64_t address, std::uint64_t time, std::uint64_t position) {
    if (freed_some_time_.contains(address)) {
        release_at(address, time, position);
    }
}

void RunningHeap::release(const Request &request, std::uint64_t position) {
    if (request.id != 0) {
        release_at(request.id, request.time, position);
    }
}

void RunningHeap::release_at(std::uint64_t address, std::uint64_t time, std::uint64_t position) {
    freed_some_time_.erase(address);
    Request request;
    request.op = Op::free;
    request.id = address;
    request.time = time;
    builder_.add(request, position);
    position_ = position;
    time_ = time;
}

void RunningHeap::resize(std::uint64_t old, const Request &request, std::uint64_t position) {
    if (request.id == 0 && request.size == 0) {
        release_at(old, request.time, position);
        return;
    }
    if (request.id == 0 || !builder_.is_live(old)) {
        unknown_resizes_ += request.id != 0 && old != 0;
        Request anew = request;
        anew.op = Op::alloc;
        allocate(anew, position);
        return;
    }
    if (request.id != old) {
        make_room(request.id, request.time, position);
        freed_some_time_.erase(old);
        (void)builder_.rename(old, request.id, position);
    }
    builder_.add(request, position);
    last_ = request.id;
}

void RunningHeap::free_last_some_time() {
    if (builder_.is_live(last_) && freed_some_time_.insert(last_).second) {
        without_time_++;
    }
}

void RunningHeap::begin_list(std::uint64_t position) {
    for (const std::uint64_t address : builder_.live_ids()) {
        release_at(address, time_, position);
    }
}

void RunningHeap::finish() {
    while (!freed_some_time_.empty()) {
        release_at(*freed_some_time_.begin(), time_, position_);
    }
    builder_.finish();
}

std::vector<std::string> RunningHeap::notes() const {
    std::vector<std::string> told;
    if (without_time_ != 0) {
        told.push_back(counted(without_time_, "block was", "blocks were") +
                       " freed at a time that the log does not tell: taken as live until the "
                       "address is given again, or to the end. The peak is at most what is shown.");
    }
    if (refused_ != 0) {
        told.push_back(counted(refused_, "request", "requests") +
                       " that the heap refused left out, the largest of " +
                       grouped(largest_refused_) + " bytes.");
    }
    if (unknown_resizes_ != 0) {
        told.push_back(
            counted(unknown_resizes_, "resize of an unknown block", "resizes of unknown blocks") +
            " taken as an allocation.");
    }
    const std::vector<std::string> dropped = builder_.notes();
    told.insert(told.end(), dropped.begin(), dropped.end());
    return told;
}

} // namespace heapfit
