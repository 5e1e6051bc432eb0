// SPDX-License-Identifier: Apache-2.0
// The files of heaptrack (KDE), one record a line, numbers in hexadecimal, in both of its forms:
//   raw           + size path address     - address     t address parent     m path base [at
//   size]... interpreted   + allocation            - allocation  t address parent     s text
//                 a size path             i address module [function file line]...
//   both          v program version       X command     c milliseconds
// Records of one letter count from 1 (those of `a` from 0); a path is its innermost call and the
// path of its callers. Texts have their length ahead from form 3 on. The interpreted form tells a
// free by size and path, not by block.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "heapfit/trace/line.hpp"
#include "heapfit/trace/running_heap.hpp"

namespace heapfit {

class HeaptrackTrace {
  public:
    explicit HeaptrackTrace(OnUnknown on_unknown) : splitter_(longest_record), heap_(on_unknown) {}

    void feed(std::string_view chunk);

    // Refuses a file without an allocation.
    void finish();

    [[nodiscard]] TraceBuilder &builder() { return heap_.builder(); }
    [[nodiscard]] const TraceHeader &header() const { return header_; }

    // Where the file ends inside a line; "" if it does not.
    [[nodiscard]] const std::string &damage() const { return cut_; }

    // What the form leaves out, and what was inferred or dropped, one sentence each.
    [[nodiscard]] std::vector<std::string> notes() const;

  private:
    static constexpr std::size_t longest_record = 1 << 20; // bytes; names of templates are long

    // An id that no block has: its free is unknown, and counted as such.
    static constexpr std::uint64_t no_block = std::uint64_t{1} << 63;

    // What an `a` record says, and the last of the blocks of it that are live: they are numbered
    // from 1, and before_ has the one before each.
    struct Allocation {
        std::uint64_t size = 0;
        std::uint32_t site = 0;
        std::uint32_t last = 0;
    };

    void take(std::string_view line, std::uint64_t number);
    void take_record(char letter, Words &words, std::uint64_t number);
    void begin(Words &words, std::uint64_t number);
    void take_module(Words &words, std::uint64_t number);
    void take_instruction(Words &words, std::uint64_t number);
    void take_path(Words &words, std::uint64_t number);
    void take_allocation(Words &words, std::uint64_t number);
    void allocate(Words &words, std::uint64_t number);
    void release(Words &words, std::uint64_t number);
    [[nodiscard]] std::uint32_t number_block(Allocation &allocation);
    [[nodiscard]] std::uint32_t last_block(Allocation &allocation);
    [[nodiscard]] Allocation &allocation_of(std::uint64_t index, std::uint64_t number);
    [[nodiscard]] std::uint32_t site_at(std::uint64_t address) const;

    LineSplitter splitter_;
    RunningHeap heap_;
    TraceHeader header_;
    std::string cut_;
    bool is_begun_ = false;
    std::uint64_t form_ = 0;
    bool is_interpreted_ = false;
    std::uint64_t time_ = 0;                         // us
    std::map<std::uint64_t, std::uint64_t> modules_; // bytes of each, by its first address
    std::vector<std::uint64_t> texts_;               // hashes
    std::vector<std::uint32_t> instructions_;        // the site of each
    std::vector<std::uint32_t> paths_;               // the site of the innermost call of each
    std::vector<Allocation> allocations_;
    std::vector<std::uint32_t> before_;
    std::uint64_t pool_ = 0; // the block of libstdc++'s emergency pool, asked for before all others
    Bytes pool_size_ = 0;    // 0: there is none
    std::uint32_t unused_ = 0; // the last number that may be given anew
};

} // namespace heapfit
