// SPDX-License-Identifier: Apache-2.0
// Reads a recording (recorder/WIRE.md, version 1 or 2), fed in pieces of any split: its records
// become requests. A resize is two records with those of other threads between them; meanwhile its
// object answers to an id no address can have.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heapfit/trace/builder.hpp"
#include "heapfit/trace/line.hpp"
#include "heapfit/trace/wire_chunk.hpp"

struct hfit_wire_header;

namespace heapfit {

// The callers that a site stands for, by its name: innermost first, 0 where the chain has ended.
using Chains = std::map<std::uint32_t, std::array<std::uint32_t, 4>>;

class WireTrace {
  public:
    explicit WireTrace(OnUnknown on_unknown) : builder_(on_unknown, "record") {}

    void feed(std::string_view chunk);

    // Reads what is new in a chunk that a program still writes to, by its offset in the file, up to
    // where `bytes` end; the header was fed before, but for `runtime`, its field as it is since
    // they were read. True once nothing more will come there.
    bool follow(std::string_view bytes, std::uint64_t place, std::uint64_t runtime);

    // Refuses a file cut within its header, and one without an allocation.
    void finish();

    [[nodiscard]] TraceBuilder &builder() { return builder_; }
    [[nodiscard]] const TraceHeader &header() const { return header_; }

    // Of the sites read so far; empty where a site is its direct caller.
    [[nodiscard]] const Chains &chains() const { return chains_; }

    // Where the file is cut; "" if it is whole.
    [[nodiscard]] std::string damage() const;

    // What is missing, or was changed or dropped, one sentence each.
    [[nodiscard]] std::vector<std::string> notes() const;

  private:
    // A resize between its two records.
    struct Resizing {
        std::uint64_t address; // of the old block
        std::uint64_t parked;  // what its object answers to meanwhile: above all addresses
        std::uint64_t size;    // asked for
        std::uint32_t site;
        bool is_known;
        bool is_left_out;
    };

    [[nodiscard]] std::size_t wanted() const;
    void take(const char *bytes);
    void take_header(const char *bytes);
    void check_layout(const hfit_wire_header &header) const;
    void take_old(const char *bytes);
    void take_chunk(std::string_view bytes);
    std::uint64_t take_from(WireChunk &chunk, std::uint64_t known);
    void add(const WireRecord &record);
    void take_ordered(const WireRecord &record);
    void take_record(const WireRecord &record, std::uint64_t time);
    void take_chain(const WireRecord &record);
    void take_request(const WireRecord &record, const Request &request);
    [[nodiscard]] bool leave_out(const WireRecord &record, const Request &request);
    void begin_resize(const WireRecord &record);
    void end_resize(const WireRecord &record, Request request);
    void replace_by_empty(std::uint64_t parked, const Request &request);
    [[noreturn]] void refuse(const std::string &what) const;

    TraceBuilder builder_;
    TraceHeader header_;
    bool has_header_ = false;
    std::uint32_t version_ = 0;
    std::size_t unit_ = 0;       // bytes of a chunk, or of a record of version 1
    bool is_ended_ = false;      // an uncommitted record of version 1 was read
    bool is_cut_ = false;        // the file ends within a record
    std::uint64_t to_skip_ = 0;  // bytes between the header and the first unit
    std::uint64_t place_ = 0;    // of the next unit in the file, in bytes
    std::string partial_;        // of a header or unit whose rest is in the next piece
    std::uint64_t position_ = 0; // records taken
    WireOrder order_;            // of version 2
    std::unordered_map<std::uint64_t, std::uint64_t> followed_; // records read, by chunk
    std::uint64_t latest_ = 0;                                  // time of the latest record
    std::uint32_t threads_ = 0;                                 // the highest number
    std::unordered_map<std::uint32_t, Resizing> resizing_;      // by thread
    Chains chains_;
    std::set<std::uint64_t> left_out_; // addresses of live blocks that are no objects
    std::uint64_t misaligned_ = 0;     // requests left out for an alignment that no region has
    std::uint64_t runtime_ = 0;        // order of the request for the emergency pool; 0: none
    Bytes runtime_size_ = 0;           // of that pool
    bool is_attached_ = false;
    bool is_confined_ = false;
    std::uint32_t stopped_ = 0;
    std::uint64_t unrecorded_ = 0;
    std::uint64_t refused_ = 0; // requests the program's heap could not serve
};

} // namespace heapfit
