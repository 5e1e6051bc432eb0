// SPDX-License-Identifier: Apache-2.0
// What a trace shows without any allocator: sizes, live bytes U(t), live blocks of each size
// P_i(t), lifetimes.
//
// One pass over the events, in memory that follows the live objects and the different sizes, not
// the length. Live bytes are exact requested bytes; a request of 0 bytes adds 0. A resize leaves
// its old size and enters its new one at the same event.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "heapfit/compiler.hpp"
#include "heapfit/profile/size_index.hpp"
#include "heapfit/trace/follow.hpp"
#include "heapfit/trace/sampling.hpp"

namespace heapfit {

// One request size. `peak` is P_i,max: the most blocks of this size live at once.
struct SizeProfile {
    Bytes size;
    std::uint64_t allocations; // alloc, zeroed and aligned; resizes count in `peak` only
    std::uint64_t peak;
};

// Objects that were freed, by lifetime: bin b holds those that lived 2^b to 2^(b+1) - 1 events.
// Bytes are an object's size when it was freed.
struct Lifetimes {
    std::array<std::uint64_t, 41> objects{};
    std::array<std::uint64_t, 41> bytes{};
};

struct ProfileResult {
    std::uint64_t events;
    std::array<std::uint64_t, op_count> operations; // by number of Op
    Bytes u_max;
    std::uint64_t u_max_event; // the first event after which U(t) is U_max
    std::uint64_t live_blocks_max;
    std::uint64_t never_freed;
    Bytes never_freed_bytes;
    std::vector<SizeProfile> sizes; // ascending, no two equal
    bool is_coarse;                 // over a million different sizes: see size_index.hpp
    Lifetimes lifetimes;
    std::uint64_t bucket_width;       // events a bucket
    std::vector<Extremes> live_bytes; // of each bucket, in order
};

// Live bytes stay below it: no program holds as many.
inline constexpr Bytes live_bytes_limit = Bytes{1} << 63;

// Throws the Error that tells that they reached it at an event.
[[noreturn]] void throw_too_many_live_bytes(std::uint64_t event);

class Profile {
  public:
    // `samples` is how many buckets the series of live bytes shall have at least.
    explicit Profile(std::size_t samples);

    // Throws Error if an event breaks the rules of a trace or live bytes reach 2^63.
    void feed(std::span<const Event> events);

    [[nodiscard]] ProfileResult result() const;

  private:
    // Number of an event, and 24 bits below it: all set in the running one, which so is above any
    // of an object born at that event or before.
    using Stamp = std::uint64_t;
    static constexpr unsigned number_bits = 24;
    static constexpr Stamp one_event = Stamp{1} << number_bits;
    static constexpr Stamp number_mask = one_event - 1;

    // Birth and size class share a word, written at once: 16 bytes an object keep the loop in the
    // cache.
    struct Object {
        Bytes size;
        Stamp birth_and_number; // below the event of its birth, the number of the size in sizes_
    };
    static_assert(SizeIndex::exact_limit < one_event / 2);

    // A number and the most that it was, as how far it is below that: few events raise the most,
    // and all others touch one word.
    template <typename Count> struct Peak {
        Count most = 0;
        Count below = 0;

        void rise() {
            if (subtract(below, Count{1})) [[unlikely]] {
                below = 0;
                most++;
            }
        }
        void fall() { below++; }
    };

    struct SizeCount {
        std::uint64_t allocations = 0;
        Peak<std::uint32_t> live{};
    };

    // Live bytes in a bucket of the series, likewise.
    struct Bucket {
        Bytes highest = 0;
        Bytes below = 0;
        Bytes most_below = 0;

        [[nodiscard]] Bytes live() const { return highest - below; }
        [[nodiscard]] Extremes extremes() const { return {highest - most_below, highest}; }
    };

    // What changes with every event, kept together so that the loop can hold it in registers.
    struct Totals {
        Bucket bucket{};
        Bytes peak = 0;
        std::uint64_t peak_event = 0;
        Peak<std::uint64_t> blocks{};
    };

    struct Visitor;

    [[nodiscard]] std::uint32_t add_size(Bytes size);

    ObjectTable<Object> objects_;
    SizeIndex sizes_;
    std::vector<SizeCount> counts_;                    // by number of the size
    std::array<std::uint64_t, op_count> operations_{}; // frees are the rest
    Lifetimes lifetimes_;
    Totals totals_;
    std::uint64_t events_ = 0;
    Buckets buckets_;
    std::vector<Extremes> series_;
};

} // namespace heapfit
