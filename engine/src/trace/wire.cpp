// SPDX-License-Identifier: Apache-2.0
// Records become requests; the pairs of a resize are joined.
#include "heapfit/trace/wire.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <system_error>

#include "heapfit/error.hpp"
#include "wire.h"

namespace heapfit {

namespace {

constexpr std::uint64_t address_limit = std::uint64_t{1} << 63;
constexpr std::size_t most_resizing = 1 << 16; // threads at once
constexpr std::size_t most_left_out = 1 << 16; // blocks at once
constexpr std::size_t most_chains = 1 << 18;   // 16 MiB of them; python has some 5,000
constexpr std::size_t longest_header = 1 << 20;
constexpr std::uint32_t operation_not_permitted = 1; // Linux's EPERM

Op to_op(std::uint8_t wire_op) {
    switch (wire_op) {
    case HFIT_WIRE_ZEROED:
        return Op::zeroed;
    case HFIT_WIRE_ALIGNED:
        return Op::aligned;
    case HFIT_WIRE_FREE:
        return Op::free;
    case HFIT_WIRE_RESIZE_END:
        return Op::resize;
    default:
        return Op::alloc;
    }
}

WireRecord unpacked(const hfit_wire_record_1 &record) {
    WireRecord result;
    result.address = record.address;
    result.size = record.size;
    result.time = std::uint64_t{record.commit >> 16} << 32 | record.time_low;
    result.site = record.site;
    result.thread = record.thread;
    result.op = static_cast<std::uint8_t>(record.commit);
    result.alignment_log2 = static_cast<std::uint8_t>(record.commit >> 8);
    return result;
}

} // namespace

void WireTrace::refuse(const std::string &what) const {
    throw Error("record " + std::to_string(position_) + ": " + what);
}

std::size_t WireTrace::wanted() const {
    return has_header_ ? unit_ : sizeof(hfit_wire_header);
}

void WireTrace::feed(std::string_view chunk) {
    while (!chunk.empty()) {
        if (to_skip_ > 0) {
            const std::size_t skipped = std::min<std::uint64_t>(to_skip_, chunk.size());
            chunk.remove_prefix(skipped);
            to_skip_ -= skipped;
        } else if (partial_.empty() && chunk.size() >= wanted()) {
            const std::size_t taken = wanted();
            take(chunk.data());
            chunk.remove_prefix(taken);
        } else {
            const std::size_t added = std::min(wanted() - partial_.size(), chunk.size());
            partial_.append(chunk.substr(0, added));
            chunk.remove_prefix(added);
            if (partial_.size() == wanted()) {
                take(partial_.data());
                partial_.clear();
            }
        }
    }
}

void WireTrace::take(const char *bytes) {
    if (!has_header_) {
        take_header(bytes);
        return;
    }
    if (version_ == 1) {
        take_old(bytes);
    } else {
        take_chunk(std::string_view(bytes, unit_));
    }
    place_ += unit_;
}

void WireTrace::take_header(const char *bytes) {
    hfit_wire_header header;
    std::memcpy(&header, bytes, sizeof(header));
    check_layout(header);
    const std::string_view program(header.program, sizeof(header.program));
    header_.program = program.substr(0, program.find('\0'));
    header_.source = "heapfit record";
    header_.pointer_bits = header.pointer_bits;
    version_ = header.version;
    unit_ = header.unit_size;
    is_attached_ = (header.flags & HFIT_WIRE_ATTACHED) != 0;
    is_confined_ = (header.flags & HFIT_WIRE_CONFINED) != 0;
    stopped_ = header.stopped;
    runtime_ = header.version == 1 ? 0 : header.runtime;
    unrecorded_ = header.unrecorded;
    to_skip_ = header.header_size - sizeof(header);
    place_ = header.header_size;
    has_header_ = true;
}

void WireTrace::check_layout(const hfit_wire_header &header) const {
    if (std::string_view(header.magic, sizeof(header.magic)) != HFIT_WIRE_MAGIC) {
        throw Error("byte 0: is no recording (it begins otherwise)");
    }
    if (header.version < 1 || header.version > HFIT_WIRE_VERSION) {
        throw Error("byte 8: wire version " + std::to_string(header.version) +
                    "; this program reads 1 to " + std::to_string(HFIT_WIRE_VERSION) +
                    " (record again)");
    }
    const std::uint32_t least = sizeof(hfit_wire_record_1);
    const std::uint32_t most = header.version == 1 ? least : std::uint32_t{HFIT_WIRE_LARGEST_CHUNK};
    if (header.header_size < sizeof(header) || header.header_size > longest_header ||
        header.header_size % least != 0 || header.unit_size < least || header.unit_size > most ||
        header.unit_size % least != 0) {
        throw Error("byte 12: a header of " + std::to_string(header.header_size) +
                    " bytes or units of " + std::to_string(header.unit_size) +
                    " bytes are not of version " + std::to_string(header.version) +
                    " (the file is damaged)");
    }
    if (header.pointer_bits != 32 && header.pointer_bits != 64) {
        throw Error("byte 20: pointers of " + std::to_string(header.pointer_bits) +
                    " bits (the file is damaged)");
    }
}

void WireTrace::take_old(const char *bytes) {
    hfit_wire_record_1 record;
    std::memcpy(&record, bytes, sizeof(record));
    if (record.commit == 0) {
        is_ended_ = true;
        return;
    }
    if (is_ended_) {
        refuse("lies after one that was not committed (the file is damaged)");
    }
    const WireRecord request = unpacked(record);
    take_record(request, request.time);
    position_++;
}

void WireTrace::take_chunk(std::string_view bytes) {
    WireChunk chunk(bytes, place_);
    (void)take_from(chunk, 0);
    is_cut_ = is_cut_ || chunk.is_cut();
}

bool WireTrace::follow(std::string_view bytes, std::uint64_t place, std::uint64_t runtime) {
    runtime_ = runtime;
    WireChunk chunk(bytes, place);
    std::uint64_t &known = followed_[place];
    known = take_from(chunk, known);
    const bool is_full = chunk.is_full() && bytes.size() == unit_;
    if (is_full) {
        followed_.erase(place);
    }
    return is_full;
}

// All but the first `known` records; how many there are. What is known of the blocks of a few of
// them is fetched at once: where many live, or little was read for a while, it is in no cache.
std::uint64_t WireTrace::take_from(WireChunk &chunk, std::uint64_t known) {
    std::array<WireRecord, 16> window;
    std::uint64_t count = 0;
    while (const std::size_t read = chunk.read(window)) {
        const std::span<const WireRecord> records = std::span(window).first(read);
        for (const WireRecord &record : records) {
            builder_.expect(record.address);
        }
        for (const WireRecord &record : records) {
            if (count++ >= known) {
                add(record);
            }
        }
    }
    return count;
}

void WireTrace::add(const WireRecord &record) {
    if (order_.add(record)) {
        take_ordered(record);
    }
    while (const WireRecord *held = order_.release()) {
        take_ordered(*held);
    }
}

// Two threads may take their times in another order than their numbers.
void WireTrace::take_ordered(const WireRecord &record) {
    latest_ = std::max(latest_, record.time);
    threads_ = std::max(threads_, record.thread);
    if (record.callers[0] != 0) {
        take_chain(record);
    }
    take_record(record, latest_);
    position_++;
}

void WireTrace::take_chain(const WireRecord &record) {
    if (chains_.size() == most_chains) {
        refuse("more than " + std::to_string(most_chains) + " chains of callers");
    }
    chains_[record.site] = record.callers;
}

void WireTrace::take_record(const WireRecord &record, std::uint64_t time) {
    if (record.op < HFIT_WIRE_ALLOC || record.op > HFIT_WIRE_RESIZE_END) {
        refuse("operation " + std::to_string(record.op) +
               " is none of 1 to 6 (the file is damaged)");
    }
    if (record.alignment_log2 >= 64 ||
        (record.alignment_log2 != 0 && record.op != HFIT_WIRE_ALIGNED)) {
        refuse("alignment 2^" + std::to_string(record.alignment_log2) + " (the file is damaged)");
    }
    if (record.address >= address_limit) {
        refuse("address " + std::to_string(record.address) + " is no program's");
    }
    Request request;
    request.op = to_op(record.op);
    request.id = record.address;
    request.size = record.size;
    request.alignment = record.alignment_log2 == 0 ? 0 : std::uint64_t{1} << record.alignment_log2;
    request.time = time;
    request.thread = record.thread;
    request.site = record.site;
    take_request(record, request);
}

void WireTrace::take_request(const WireRecord &record, const Request &request) {
    switch (record.op) {
    case HFIT_WIRE_RESIZE_BEGIN:
        begin_resize(record);
        return;
    case HFIT_WIRE_RESIZE_END:
        end_resize(record, request);
        return;
    case HFIT_WIRE_FREE:
        if (left_out_.empty() || left_out_.erase(record.address) == 0) {
            builder_.add(request, position_);
        }
        return;
    default:
        if (record.address == 0) {
            refused_++;
        } else if (!leave_out(record, request)) {
            builder_.add(request, position_);
        }
    }
}

// A request that a device's heap does not see, or that no region can serve: no event, but counted.
bool WireTrace::leave_out(const WireRecord &record, const Request &request) {
    const bool is_runtime = runtime_ != 0 && record.order == runtime_;
    if (!is_runtime && request.alignment <= largest_alignment) {
        return false;
    }
    if (left_out_.size() == most_left_out) {
        refuse("more than " + std::to_string(most_left_out) + " blocks are left out at once");
    }
    left_out_.insert(record.address);
    if (is_runtime) {
        runtime_size_ = record.size;
    } else {
        misaligned_++;
    }
    return true;
}

void WireTrace::begin_resize(const WireRecord &record) {
    if (resizing_.size() == most_resizing) {
        refuse("more than " + std::to_string(most_resizing) + " threads resize at once");
    }
    if (resizing_.contains(record.thread)) {
        refuse("thread " + std::to_string(record.thread) +
               " begins a resize within another (the file is damaged)");
    }
    const std::uint64_t parked = address_limit | position_;
    const bool is_left_out = left_out_.erase(record.address) != 0;
    const bool is_known = !is_left_out && builder_.rename(record.address, parked, position_);
    resizing_.emplace(record.thread, Resizing{record.address, parked, record.size, record.site,
                                              is_known, is_left_out});
}

void WireTrace::end_resize(const WireRecord &record, Request request) {
    const auto found = resizing_.find(record.thread);
    if (found == resizing_.end()) {
        refuse("thread " + std::to_string(record.thread) +
               " ends a resize it did not begin (the file is damaged)");
    }
    const Resizing resizing = found->second;
    resizing_.erase(found);
    request.size = resizing.size;
    request.site = resizing.site;
    const bool has_failed = record.address == 0 && resizing.size != 0;
    refused_ += has_failed;
    if (resizing.is_left_out && (record.address != 0 || has_failed)) {
        left_out_.insert(has_failed ? resizing.address : record.address);
    }
    if (!resizing.is_known) {
        return;
    }
    if (resizing.size == 0) {
        replace_by_empty(resizing.parked, request);
    } else if (has_failed) {
        (void)builder_.rename(resizing.parked, resizing.address, position_);
    } else if (builder_.rename(resizing.parked, record.address, position_)) {
        builder_.add(request, position_);
    }
}

// A resize to 0 frees the block; some heaps return another, empty one, which will be freed too.
void WireTrace::replace_by_empty(std::uint64_t parked, const Request &request) {
    Request freed = request;
    freed.id = parked;
    builder_.add(freed, position_);
    if (request.id != 0) {
        Request empty = request;
        empty.op = Op::alloc;
        builder_.add(empty, position_);
    }
}

void WireTrace::finish() {
    if (!has_header_) {
        throw Error("byte " + std::to_string(partial_.size()) +
                    ": ends within the header of a recording");
    }
    if (version_ == 1) {
        is_cut_ = !partial_.empty();
    } else {
        take_chunk(partial_);
        while (const WireRecord *held = order_.release(true)) {
            take_ordered(*held);
        }
    }
    builder_.finish();
}

std::string WireTrace::damage() const {
    return is_cut_ ? "The file ends within record " + std::to_string(position_) + "." : "";
}

std::vector<std::string> WireTrace::notes() const {
    std::vector<std::string> told;
    if (is_attached_) {
        told.emplace_back("Blocks from before the recording (a parent process's, or while it "
                          "slept) are unknown.");
    }
    if (stopped_ != 0) {
        const std::string reason =
            is_confined_ && stopped_ == operation_not_permitted
                ? "the program confined itself, by seccomp or no_new_privs"
                : std::generic_category().message(static_cast<int>(stopped_ & 0x7fffffff));
        told.push_back(
            "The recording ended early (" + reason +
            "): " + counted(unrecorded_, "later event is missing.", "later events are missing."));
    }
    if (order_.missing() > threads_) { // each thread may have been killed while it wrote one
        told.push_back(counted(order_.missing(), "record is missing.", "records are missing."));
    }
    if (is_cut_) {
        told.push_back(damage());
    }
    if (refused_ != 0) {
        told.push_back(counted(refused_, "request that the program's heap refused left out.",
                               "requests that the program's heap refused left out."));
    }
    if (misaligned_ != 0) {
        told.push_back(counted(misaligned_, "request for an alignment above 16 MiB left out.",
                               "requests for an alignment above 16 MiB left out."));
    }
    if (runtime_size_ != 0) {
        told.push_back(emergency_pool_note(runtime_size_));
    }
    if (!resizing_.empty()) {
        told.push_back(counted(resizing_.size(), "resize that did not return left out.",
                               "resizes that did not return left out."));
    }
    const std::vector<std::string> dropped = builder_.notes();
    told.insert(told.end(), dropped.begin(), dropped.end());
    return told;
}

} // namespace heapfit
