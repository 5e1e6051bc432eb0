// SPDX-License-Identifier: Apache-2.0
// Reads a recording (recorder/WIRE.md), fed in chunks of any split: the records up to the first
// that was not committed become requests. A resize is two records with those of other threads
// between them; meanwhile its object answers to an id no address can have.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heapfit/trace/builder.hpp"
#include "heapfit/trace/line.hpp"

struct hfit_wire_record;

namespace heapfit {

// The callers that a site stands for, by its name: innermost first, 0 where the chain has ended.
using Chains = std::map<std::uint32_t, std::array<std::uint32_t, 4>>;

class WireTrace {
  public:
    explicit WireTrace(OnUnknown on_unknown) : builder_(on_unknown, "record") {}

    void feed(std::string_view chunk);

    // Refuses a file cut within its header, and one without an allocation.
    void finish();

    [[nodiscard]] TraceBuilder &builder() { return builder_; }
    [[nodiscard]] const TraceHeader &header() const { return header_; }

    // Of the sites read so far; empty where a site is its direct caller.
    [[nodiscard]] const Chains &chains() const { return chains_; }

    // What is missing, or was changed or dropped, one sentence each.
    [[nodiscard]] std::vector<std::string> notes() const;

  private:
    // A resize between its two records.
    struct Resizing {
        std::uint64_t address; // of the old block
        std::uint64_t parked;  // what its object answers to meanwhile: above all addresses
        bool is_known;
    };

    [[nodiscard]] std::size_t wanted() const;
    void take(const char *bytes);
    void take_header(const char *bytes);
    void take_record(const hfit_wire_record &record);
    void take_chain(const hfit_wire_record &record);
    void take_request(const hfit_wire_record &record, const Request &request);
    void begin_resize(const hfit_wire_record &record);
    void end_resize(const hfit_wire_record &record, const Request &request);
    void replace_by_empty(std::uint64_t parked, const Request &request);
    [[noreturn]] void refuse(const std::string &what) const;

    TraceBuilder builder_;
    TraceHeader header_;
    bool has_header_ = false;
    bool is_ended_ = false;      // an uncommitted record was read
    std::uint64_t to_skip_ = 0;  // bytes between the header and the first record
    std::string partial_;        // of a header or record whose rest is in the next chunk
    std::uint64_t position_ = 0; // records taken
    std::unordered_map<std::uint32_t, Resizing> resizing_; // by thread
    Chains chains_;
    bool is_attached_ = false;
    bool is_confined_ = false;
    std::uint32_t stopped_ = 0;
    std::uint64_t unrecorded_ = 0;
    std::uint64_t refused_ = 0; // requests the program's heap could not serve
};

} // namespace heapfit
