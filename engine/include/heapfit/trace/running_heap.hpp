// SPDX-License-Identifier: Apache-2.0
// What logs of a running program's heap have in common: blocks are told by their addresses, the
// log may begin late, and lines of it may be lost. So a block that is given again was freed in
// between, whatever the log says.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "heapfit/trace/builder.hpp"

namespace heapfit {

class RunningHeap {
  public:
    explicit RunningHeap(OnUnknown on_unknown) : builder_(on_unknown) {}

    // A request was served at the address `request.id`; 0: refused, which is counted.
    void allocate(const Request &request, std::uint64_t position);

    // A free at that address; 0: none.
    void release(const Request &request, std::uint64_t position);

    // The block at `old` became request.size bytes long, at request.id. One that is not known was
    // served before the log began: the request is an allocation, which is counted.
    void resize(std::uint64_t old, const Request &request, std::uint64_t position);

    // The block last allocated was freed at some time that the log does not tell: it is taken to
    // live until its address is given again, or to the end.
    void free_last_some_time();

    // A list of what is live begins, in which all blocks come anew: those before it are freed.
    void begin_list(std::uint64_t position);

    // Refuses a log without an allocation.
    void finish();

    [[nodiscard]] TraceBuilder &builder() { return builder_; }

    // What was inferred, left out or dropped, one sentence each.
    [[nodiscard]] std::vector<std::string> notes() const;

  private:
    void release_at(std::uint64_t address, std::uint64_t time, std::uint64_t position);
    void make_room(std::uint64_t address, std::uint64_t time, std::uint64_t position);

    TraceBuilder builder_;
    std::set<std::uint64_t> freed_some_time_; // addresses
    std::uint64_t last_ = 0;                  // address given last
    std::uint64_t position_ = 0;              // of the last event
    std::uint64_t time_ = 0;
    std::uint64_t without_time_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t largest_refused_ = 0; // bytes
    std::uint64_t unknown_resizes_ = 0;
};

} // namespace heapfit
