// SPDX-License-Identifier: Apache-2.0
// The replay rules of an importer, one function each.
#include "heapfit/trace/builder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <iterator>
#include <limits>
#include <utility>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t most_objects = std::numeric_limits<ObjectId>::max();
constexpr Tick clock_wrap = Tick{1} << 32;       // us: a clock of 32 bits begins again
constexpr Tick least_fall = clock_wrap / 10 * 9; // by as much it falls then
constexpr std::uint64_t signed_limit = std::uint64_t{1} << 63; // sums and times stay below it

// An id as a source may print it: decimal, and hexadecimal where it is as large as an address.
std::string spelled(std::uint64_t id) {
    constexpr std::uint64_t largest_number = 0xFFFF;
    std::array<char, 2 * sizeof id> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), id, 16).ptr;
    const std::string address = " (0x" + std::string(digits.begin(), end) + ")";
    return std::to_string(id) + (id > largest_number ? address : "");
}

} // namespace

std::string grouped(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3;) {
        at -= 3;
        digits.insert(at, 1, ',');
    }
    return digits;
}

std::string counted(std::uint64_t count, const char *one, const char *many) {
    return grouped(count) + " " + (count == 1 ? one : many);
}

std::string emergency_pool_note(Bytes size) {
    return "libstdc++'s emergency pool for exceptions, " + std::to_string(size) +
           " B, left out: the program did not ask for it.";
}

TraceBuilder::TraceBuilder(OnUnknown on_unknown, std::string_view unit)
    : on_unknown_(on_unknown), unit_(unit) {}

void TraceBuilder::refuse(const std::string &what) const {
    throw Error(unit_ + " " + std::to_string(position_) + ": " + what);
}

void TraceBuilder::drop(std::uint64_t &count, const std::string &what) {
    if (on_unknown_ == OnUnknown::refuse) {
        const bool is_given_again = &count == &given_again_;
        refuse(what + " (heapfit import --drop-unknown " +
               (is_given_again ? "takes such blocks as freed before" : "drops such events") +
               " and counts them)");
    }
    count++;
}

void TraceBuilder::add(const Request &request, std::uint64_t position) {
    position_ = position;
    if (request.size > largest_request) { // as of -1
        Request capped = request;
        capped.size = largest_request;
        capped_++;
        add(capped, position);
        return;
    }
    check(request);
    switch (request.op) {
    case Op::alloc:
    case Op::zeroed:
    case Op::aligned:
        allocate(request);
        return;
    case Op::resize:
        resize(request);
        return;
    case Op::free:
        release(request, false);
        return;
    }
}

void TraceBuilder::tell_needs() {
    tells_needs_ = true;
}

void TraceBuilder::tell_served() {
    tells_served_ = true;
}

bool TraceBuilder::rename(std::uint64_t old_id, std::uint64_t new_id, std::uint64_t position) {
    position_ = position;
    LiveTable::Slot *slot = live_.find(old_id);
    if (slot == nullptr) {
        drop(dropped_resizes_, "resize of unknown id " + spelled(old_id));
        return false;
    }
    const LiveTable::Slot moved = *slot;
    if (!live_.insert(new_id, moved.size, moved.object)) {
        drop(given_again_, "resize moves to id " + spelled(new_id) + ", which is live");
        release_unseen(new_id, origin_ + latest_);
        (void)live_.insert(new_id, moved.size, moved.object);
    }
    live_.erase(live_.find(old_id));
    return true;
}

std::vector<std::uint64_t> TraceBuilder::live_ids() const {
    std::vector<LiveTable::Slot> slots = live_.used();
    std::sort(slots.begin(), slots.end(),
              [](const auto &a, const auto &b) { return a.object < b.object; });
    std::vector<std::uint64_t> ids;
    ids.reserve(slots.size());
    for (const LiveTable::Slot &slot : slots) {
        ids.push_back(slot.id);
    }
    return ids;
}

void TraceBuilder::check(const Request &request) const {
    if (request.alignment != 0 && request.op != Op::aligned) {
        refuse("only an aligned allocation has an alignment");
    }
    if (request.alignment != 0 && !std::has_single_bit(request.alignment)) {
        refuse("alignment " + std::to_string(request.alignment) + " is not a power of two");
    }
    if (request.alignment > largest_alignment) {
        refuse("alignment " + std::to_string(request.alignment) + " is above " +
               std::to_string(largest_alignment));
    }
    if (request.time >= signed_limit) {
        refuse("time " + std::to_string(request.time) + " overflows");
    }
}

void TraceBuilder::allocate(const Request &request) {
    if (allocations_ == most_objects) {
        refuse("more than " + std::to_string(most_objects) + " allocations");
    }
    const auto object = static_cast<ObjectId>(allocations_);
    if (!live_.insert(request.id, request.size, object)) {
        drop(given_again_, "id " + spelled(request.id) + " is allocated again");
        release_unseen(request.id, request.time);
        (void)live_.insert(request.id, request.size, object);
    }
    allocations_++;
    charge(0, request.size);
    append(request, object);
}

void TraceBuilder::resize(const Request &request) {
    if (request.size == 0) {
        release(request, true);
        return;
    }
    LiveTable::Slot *slot = live_.find(request.id);
    if (slot == nullptr) {
        drop(dropped_resizes_, "resize of unknown id " + spelled(request.id));
        return;
    }
    charge(slot->size, request.size);
    slot->size = request.size;
    append(request, slot->object);
}

void TraceBuilder::release(const Request &request, bool is_resize) {
    LiveTable::Slot *slot = live_.find(request.id);
    if (slot == nullptr) {
        drop(is_resize ? dropped_resizes_ : dropped_frees_,
             (is_resize ? "resize of unknown id " : "free of unknown or freed id ") +
                 spelled(request.id));
        if (!is_resize && dropped_frees_ == 1) {
            freed_amiss_ = request.id;
        }
        return;
    }
    resizes_to_zero_ += is_resize;
    charge(slot->size, 0);
    Request freed = request;
    freed.op = Op::free;
    freed.size = 0;
    append(freed, slot->object);
    live_.erase(slot);
}

// A live block whose memory another gets: its free was not told.
void TraceBuilder::release_unseen(std::uint64_t id, std::uint64_t time) {
    Request request;
    request.op = Op::free;
    request.id = id;
    request.time = time;
    release(request, false);
}

void TraceBuilder::charge(Bytes old_size, Bytes new_size) {
    live_bytes_ = live_bytes_ - old_size + new_size; // both stay below 2^63: no wrap
    if (live_bytes_ >= signed_limit) {
        refuse("the live bytes overflow");
    }
    live_peak_ = std::max(live_peak_, live_bytes_);
}

Tick TraceBuilder::advance(Tick time) {
    if (events_ == 0) {
        origin_ = time;
    }
    if (time < clock_wrap) {
        const Tick last = origin_ + latest_;
        if (last < wrapped_ + clock_wrap && last >= wrapped_ + time + least_fall) {
            wrapped_ += clock_wrap;
            wraps_++;
        }
        time += wrapped_;
    }
    if (time < origin_ || time - origin_ < latest_) {
        times_raised_++;
        return latest_;
    }
    long_gaps_ += time - origin_ - latest_ > long_gap;
    latest_ = time - origin_;
    return latest_;
}

void TraceBuilder::append(const Request &request, ObjectId object) {
    const bool is_free = request.op == Op::free;
    const auto alignment_log2 =
        static_cast<std::uint8_t>(request.alignment == 0 ? 0 : std::countr_zero(request.alignment));
    rows_.push_back({{request.size, object, request.op, alignment_log2, 0},
                     advance(request.time),
                     request.thread,
                     request.site,
                     static_cast<std::uint32_t>(request.alignment),
                     is_free ? std::uint8_t{0} : request.needs,
                     is_free ? std::uint8_t{0} : request.served});
    events_++;
}

void TraceBuilder::finish() const {
    if (allocations_ == 0) {
        throw Error("no allocation in it");
    }
}

TraceColumns TraceBuilder::take() {
    const auto column = [this](const auto &value) {
        std::vector<decltype(value(rows_.front()))> values;
        values.reserve(rows_.size());
        std::ranges::transform(rows_, std::back_inserter(values), value);
        return values;
    };
    TraceColumns columns;
    columns.op = column([](const Row &row) { return static_cast<std::uint8_t>(row.event.op); });
    columns.object = column([](const Row &row) { return row.event.object; });
    columns.size = column([](const Row &row) { return row.event.size; });
    columns.alignment = column([](const Row &row) { return row.alignment; });
    columns.time = column([](const Row &row) { return row.time; });
    columns.thread = column([](const Row &row) { return row.thread; });
    columns.site = column([](const Row &row) { return row.site; });
    if (tells_needs_) {
        columns.needs = column([](const Row &row) { return row.needs; });
    }
    if (tells_served_) {
        columns.served = column([](const Row &row) { return row.served; });
    }
    rows_.clear();
    return columns;
}

EventArray TraceBuilder::take_events() {
    std::vector<Event> events;
    events.reserve(rows_.size());
    std::ranges::transform(rows_, std::back_inserter(events), &Row::event);
    rows_.clear();
    return EventArray(events_ - events.size(), std::move(events));
}

std::vector<std::string> TraceBuilder::notes() const {
    std::vector<std::string> told;
    const auto tell = [&told](std::uint64_t count, const char *one, const char *many) {
        if (count != 0) {
            told.push_back(counted(count, one, many));
        }
    };
    tell(given_again_, "block taken as freed, in whose place others were given.",
         "blocks taken as freed, in whose place others were given.");
    tell(dropped_resizes_, "resize of an unknown id dropped.", "resizes of unknown ids dropped.");
    // A source without addresses has none to tell.
    const bool is_told = freed_amiss_ < signed_limit;
    const std::string first = is_told ? spelled(freed_amiss_) + "." : ".";
    const std::string one =
        std::string("free of an unknown or freed id dropped") + (is_told ? ": " : "") + first;
    const std::string many = std::string("frees of unknown or freed ids dropped") +
                             (is_told ? ", the first of " : "") + first;
    tell(dropped_frees_, one.c_str(), many.c_str());
    tell(resizes_to_zero_, "resize to 0 bytes taken as a free.",
         "resizes to 0 bytes taken as frees.");
    tell(capped_, "size above 2^47 stored as 2^47.", "sizes above 2^47 stored as 2^47.");
    tell(wraps_, "time a clock of 32 bits, of microseconds, began again; it is counted on.",
         "times a clock of 32 bits, of microseconds, began again; it is counted on.");
    tell(times_raised_, "time below its predecessor set to it.",
         "times below their predecessors set to them.");
    tell(long_gaps_, "gap above one hour (one second in plots).",
         "gaps above one hour (one second each in plots).");
    return told;
}

} // namespace heapfit
