// SPDX-License-Identifier: Apache-2.0
// Bytes to frames, frames to events, events to requests.
#include "heapfit/trace/frames.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

// recorder/target/FRAMES.md
constexpr std::string_view mark = "\xf5\xfd";
constexpr std::size_t length_at = 2;
constexpr std::size_t number_at = 3;
constexpr std::size_t tick_at = 5;
constexpr std::size_t body_at = 9;
constexpr std::size_t crc_size = 2;
constexpr std::uint8_t header_bit = 0x80;
constexpr std::uint32_t version = 1;
constexpr std::uint32_t flag_rounded = 1;
constexpr unsigned system_shift = 1; // of the bits of the flags that name the system, from 1
constexpr std::uint32_t system_mask = 7;
constexpr std::array<std::string_view, 4> systems{"FreeRTOS", "lwIP", "Zephyr", "ESP-IDF"};
constexpr std::uint32_t flag_served = 1 << 4;

// The lowest two bits of an event's first number, or the whole of it.
enum Kind : std::uint32_t { kind_alloc, kind_free, kind_time, kind_other };
enum Other : std::uint32_t {
    other_resize = 0 << 2 | kind_other,
    other_zeroed = 1 << 2 | kind_other,
    other_aligned = 2 << 2 | kind_other,
    other_refused = 3 << 2 | kind_other,
    other_site = 4 << 2 | kind_other,
    other_needs = 5 << 2 | kind_other,
    other_served = 6 << 2 | kind_other,
};

constexpr std::size_t most_waiting = 256;         // frames before a header, which comes each 32nd
constexpr std::uint32_t most_alignment_log2 = 24; // largest_alignment
// A step beyond half of what its bits count is one backwards.
constexpr std::uint32_t half_of_ticks = 1u << 31;
constexpr std::uint32_t half_of_counts = 1u << 31;
constexpr std::uint32_t half_of_numbers = 1u << 15;
constexpr unsigned last_shift = 28; // of the bits in a number's fifth byte, its last
constexpr std::uint64_t us_a_second = 1'000'000;
constexpr std::uint64_t no_address = std::uint64_t{1} << 63;

std::uint8_t byte_at(std::string_view bytes, std::size_t index) {
    return static_cast<std::uint8_t>(bytes[index]);
}

std::uint16_t word_at(std::string_view bytes, std::size_t index) {
    return static_cast<std::uint16_t>(byte_at(bytes, index) | byte_at(bytes, index + 1) << 8);
}

std::uint16_t crc_of(std::string_view bytes) {
    std::uint32_t crc = 0xffff;
    for (const char c : bytes) {
        std::uint32_t x = (crc >> 8 ^ static_cast<std::uint8_t>(c)) & 0xff;
        x ^= x >> 4;
        crc = (crc << 8 ^ x << 12 ^ x << 5 ^ x) & 0xffff;
    }
    return static_cast<std::uint16_t>(crc);
}

// Bytes of the frame that begins here, its CRC right; 0 if none does. `bytes` may go on behind it.
std::size_t frame_size(std::string_view bytes) {
    if (bytes.size() < body_at + crc_size || !bytes.starts_with(mark)) {
        return 0;
    }
    const std::size_t end = length_at + (byte_at(bytes, length_at) & ~header_bit);
    if (end < body_at || end + crc_size > bytes.size()) {
        return 0;
    }
    const std::string_view covered = bytes.substr(length_at, end - length_at);
    return crc_of(covered) == word_at(bytes, end) ? end + crc_size : 0;
}

// True if more bytes may make these a frame.
bool is_cut(std::string_view bytes) {
    if (bytes.size() <= length_at) {
        return mark.starts_with(bytes);
    }
    const std::size_t end = length_at + (byte_at(bytes, length_at) & ~header_bit);
    return bytes.starts_with(mark) && end + crc_size > bytes.size();
}

std::uint32_t tick_of(std::string_view frame) {
    return word_at(frame, tick_at) | std::uint32_t{word_at(frame, tick_at + 2)} << 16;
}

std::uint32_t kind_of(std::uint32_t number) {
    return number & 3;
}

// From the address before to this one, in units of the alignment: above the kind a bit for
// backwards, then the distance.
std::int64_t step_of(std::uint32_t number) {
    const std::int64_t distance = number >> 3;
    return (number & 4) != 0 ? -distance : distance;
}

} // namespace

bool has_frame(std::string_view bytes) {
    for (auto at = bytes.find(mark); at != bytes.npos; at = bytes.find(mark, at + 1)) {
        if (frame_size(bytes.substr(at)) != 0) {
            return true;
        }
    }
    return false;
}

// The body of a frame, number by number. What is not there, or beyond 32 bits, makes it bad.
class FrameTrace::Bytes {
  public:
    explicit Bytes(std::string_view left) : left_(left) {}

    [[nodiscard]] bool is_done() const { return left_.empty(); }
    [[nodiscard]] bool is_bad() const { return is_bad_; }

    // What must hold of a number that was read.
    void require(bool is_true) { is_bad_ = is_bad_ || !is_true; }

    std::uint32_t number() {
        std::uint64_t value = 0;
        std::uint32_t byte = 0x80;
        for (unsigned shift = 0; (byte & 0x80) != 0 && !is_bad_; shift += 7) {
            byte = next();
            value |= std::uint64_t{byte & 0x7f} << shift;
            is_bad_ = is_bad_ || shift > last_shift || value >> 32 != 0;
        }
        return static_cast<std::uint32_t>(value);
    }

    // Of capabilities.
    std::uint8_t bits() {
        const std::uint32_t value = number();
        require(value <= std::numeric_limits<std::uint8_t>::max());
        return static_cast<std::uint8_t>(value);
    }

  private:
    std::uint32_t next() {
        is_bad_ = is_bad_ || left_.empty();
        if (is_bad_) {
            return 0;
        }
        const std::uint32_t byte = byte_at(left_, 0);
        left_.remove_prefix(1);
        return byte;
    }

    std::string_view left_;
    bool is_bad_ = false;
};

// ---- Bytes to frames ----

void FrameTrace::feed(std::string_view chunk) {
    tail_ += chunk;
    scan(false);
}

// Looks at all bytes, at the end or else but for those that a longer tail may make a frame.
void FrameTrace::scan(bool is_end) {
    std::string_view left = tail_;
    while (!is_over_ && !left.empty()) {
        if (const std::size_t size = frame_size(left)) {
            take(left.substr(0, size));
            over_at_ = consumed_ + (tail_.size() - left.size());
            left.remove_prefix(size);
            continue;
        }
        if (!is_end && is_cut(left)) {
            break;
        }
        const std::size_t begins = std::min(left.find(mark[0], 1), left.size());
        other_bytes_ += begins;
        left.remove_prefix(begins);
    }
    consumed_ += tail_.size() - left.size();
    tail_.erase(0, is_over_ ? tail_.size() : tail_.size() - left.size());
}

void FrameTrace::take(std::string_view frame) {
    const std::string_view body = frame.substr(body_at, frame.size() - body_at - crc_size);
    const std::uint16_t number = word_at(frame, number_at);
    frames_++;
    if ((byte_at(frame, length_at) & header_bit) != 0) {
        take_header(number, body);
    } else {
        take_events({number, tick_of(frame), {}}, body);
    }
}

// ---- Frames to events ----

void FrameTrace::take_header(std::uint16_t number, std::string_view body) {
    Bytes bytes(body);
    if (bytes.number() != version) {
        throw Error("frame " + std::to_string(frames_) +
                    ": is of another version than 1 (this program reads version 1)");
    }
    About about;
    for (std::uint32_t *field : {&about.pointer_bits, &about.alignment_log2, &about.tick_rate,
                                 &about.heap_base, &about.heap_size, &about.live, &about.flags}) {
        *field = bytes.number();
    }
    const std::uint32_t offered = bytes.number();
    if (bytes.is_bad() || about.alignment_log2 > most_alignment_log2 ||
        (about.pointer_bits != 32 && about.pointer_bits != 64)) {
        damaged_++;
        return;
    }
    const std::uint32_t before = offered - ((offered - number) & 0xffff);
    if (!about_ && !waiting_.empty() && !continues_waiting(before)) {
        is_over_ = true; // what waited was sent before the device began anew
        begin(About{}, waiting_.front().number);
    } else if (!about_) {
        begin(about, before);
    } else if (about_->pointer_bits != 0) {
        const std::uint32_t ahead = before - static_cast<std::uint32_t>(next_);
        is_over_ = *about_ != about || ahead >= half_of_counts;
        skip_to(is_over_ ? next_ : next_ + ahead);
    }
}

// True if the frames that wait for a header can be of the recording that has had `before` events.
bool FrameTrace::continues_waiting(std::uint32_t before) const {
    const std::uint16_t first = waiting_.front().number;
    const std::size_t waited = static_cast<std::uint16_t>(waiting_.back().number - first);
    const std::uint32_t ahead = (before - first) & 0xffff;
    return ahead <= before && ahead >= waited + waiting_.back().events.size();
}

// From here on frames can be read: those that waited for this header, which `before` events
// precede.
void FrameTrace::begin(const About &about, std::uint32_t before) {
    about_ = about;
    header_.source = "recorder/target";
    if (const std::uint32_t system = about.flags >> system_shift & system_mask;
        system > 0 && system <= systems.size()) {
        header_.source.append(", ").append(systems[system - 1]);
    }
    builder_.tell_needs();
    if ((about.flags & flag_served) != 0) {
        builder_.tell_served();
    }
    header_.pointer_bits = about.pointer_bits;
    next_ = before;
    if (!waiting_.empty()) {
        next_ = before - ((before - waiting_.front().number) & 0xffff);
    }
    cut_ = about.pointer_bits == 0 ? 0 : next_; // or it is known but for its upper bits
    for (const Frame &frame : std::exchange(waiting_, {})) {
        apply(frame);
    }
}

void FrameTrace::skip_to(std::uint64_t number) {
    missing_ += number - next_;
    gaps_ += number > next_;
    next_ = number;
}

void FrameTrace::take_events(Frame frame, std::string_view body) {
    Bytes bytes(body);
    Event event;
    event.tick = frame.tick;
    while (!bytes.is_done()) {
        event = read_event(bytes, event);
        if (bytes.is_bad()) {
            damaged_++;
            return;
        }
        frame.events.push_back(event);
    }
    if (about_) {
        apply(frame);
        return;
    }
    waiting_.push_back(std::move(frame));
    if (waiting_.size() == most_waiting) {
        begin(About{}, waiting_.front().number);
    }
}

// [time] {zeroed | aligned | site | needs | served | resize} alloc or refused, or [time] free. What
// is not so is told by the bytes, which are bad then.
FrameTrace::Event FrameTrace::read_event(Bytes &bytes, const Event &before) {
    Event event;
    event.tick = before.tick;
    event.served = before.served;
    std::uint32_t number = bytes.number();
    if (kind_of(number) == kind_time) {
        event.tick += number >> 2;
        number = bytes.number();
    }
    if (kind_of(number) == kind_free) {
        event.op = Op::free;
        event.step = step_of(number);
        return event;
    }
    while (kind_of(number) == kind_other && number != other_refused && !bytes.is_bad()) {
        read_prefix(bytes, number, event);
        number = bytes.number();
    }
    bytes.require(number == other_refused || kind_of(number) == kind_alloc);
    event.is_refused = number == other_refused;
    event.step = event.is_refused ? 0 : step_of(number);
    event.size = bytes.number();
    return event;
}

void FrameTrace::read_prefix(Bytes &bytes, std::uint32_t what, Event &event) {
    switch (what) {
    case other_zeroed:
        event.op = Op::zeroed;
        return;
    case other_aligned:
        event.op = Op::aligned;
        event.alignment_log2 = bytes.number();
        bytes.require(event.alignment_log2 <= most_alignment_log2);
        return;
    case other_resize:
        event.op = Op::resize;
        event.old_step = step_of(bytes.number());
        return;
    case other_site:
        event.site = bytes.number();
        return;
    case other_needs:
        event.needs = bytes.bits();
        return;
    case other_served:
        event.served = bytes.bits();
        return;
    default:
        bytes.require(false);
    }
}

// ---- Events to requests ----

void FrameTrace::apply(const Frame &frame) {
    const std::uint64_t ahead = (frame.number - next_) & 0xffff;
    if (ahead >= half_of_numbers) {
        repeated_++;
        return;
    }
    skip_to(next_ + ahead);
    std::uint32_t address = about_->heap_base;
    for (const Event &event : frame.events) {
        apply(event, address);
    }
    next_ += frame.events.size();
}

// `address` is that of the event before in the frame, and becomes this one's.
void FrameTrace::apply(const Event &event, std::uint32_t &address) {
    Request request;
    request.op = event.op;
    request.size = event.size;
    request.alignment = event.op == Op::aligned ? std::uint64_t{1} << event.alignment_log2 : 0;
    request.time = time_at(event.tick);
    request.site = event.site;
    request.needs = event.needs;
    request.served = event.served;
    if (event.served != 0) { // of a log without a header
        builder_.tell_served();
    }
    const std::uint32_t old = after(address, event.old_step);
    address = after(old, event.step);
    request.id = address;
    if (event.is_refused) {
        refused_++;
        largest_refused_ = std::max(largest_refused_, event.size);
    } else if (event.op == Op::resize) {
        resize(old, request);
    } else if (event.op == Op::free) {
        live_.erase(request.id);
        builder_.add(request, frames_);
    } else {
        allocate(request);
    }
}

void FrameTrace::allocate(const Request &request) {
    free_overlapped(request);
    add_placed(request);
}

void FrameTrace::add_placed(const Request &request) {
    live_[request.id] = request.size;
    builder_.add(request, frames_);
    if (is_placed_ && request.size != 0) {
        addresses_.push_back(static_cast<std::uint32_t>(request.id));
    }
}

// A block that was not known is known from its resize on.
void FrameTrace::resize(std::uint64_t old, const Request &request) {
    if (live_.erase(old) == 0) {
        Request found = request;
        found.op = Op::alloc;
        unknown_resizes_++;
        allocate(found);
        return;
    }
    const std::uint64_t moving = no_address;
    (void)builder_.rename(old, moving, frames_);
    free_overlapped(request);
    (void)builder_.rename(moving, request.id, frames_);
    add_placed(request);
}

// Blocks that lie where a new one does were freed by events that are missing.
void FrameTrace::free_overlapped(const Request &request) {
    const std::uint64_t end = end_of(request.id, request.size);
    const std::uint64_t before_it = overlapped_;
    auto block = live_.upper_bound(request.id);
    if (block != live_.begin()) {
        const auto before = std::prev(block);
        block = end_of(before->first, before->second) > request.id ? before : block;
    }
    while (block != live_.end() && block->first < end) {
        Request freed;
        freed.op = Op::free;
        freed.id = block->first;
        freed.time = request.time;
        builder_.add(freed, frames_);
        overlapped_++;
        block = live_.erase(block);
    }
    first_overlap_ = before_it == 0 && overlapped_ != 0 ? builder_.events() : first_overlap_;
}

// Of a block. Without a header addresses are in units that are not known, so each is taken as one.
std::uint64_t FrameTrace::end_of(std::uint64_t address, std::uint64_t size) const {
    return address + (about_->pointer_bits == 0 ? 1 : std::max<std::uint64_t>(size, 1));
}

std::uint32_t FrameTrace::after(std::uint32_t address, std::int64_t step) const {
    return address + (static_cast<std::uint32_t>(step) << about_->alignment_log2);
}

// A clock that goes back stands still.
Tick FrameTrace::time_at(std::uint32_t tick) {
    const std::uint32_t step = has_tick_ ? tick - tick_ : 0;
    const bool is_back = step >= half_of_ticks;
    ticks_ += is_back ? 0 : step;
    tick_ = is_back ? tick_ : tick;
    has_tick_ = true;
    const std::uint64_t rate = about_->tick_rate;
    return rate == 0 ? 0 : ticks_ / rate * us_a_second + ticks_ % rate * us_a_second / rate;
}

// ---- The end ----

void FrameTrace::finish() {
    scan(true);
    if (frames_ == 0) {
        throw Error("byte " + std::to_string(other_bytes_) +
                    ": ends without a frame of the recorder (recorder/target/FRAMES.md)");
    }
    if (!about_ && !waiting_.empty()) {
        begin(About{}, waiting_.front().number);
    }
    builder_.finish();
}

bool FrameTrace::is_whole() const {
    return cut_ == 0 && missing_ == 0 && about_ && about_->pointer_bits != 0 && about_->live == 0;
}

std::string FrameTrace::damage() const {
    return is_over_ ? "byte " + std::to_string(over_at_) + ": the device began another recording"
                    : "";
}

std::string FrameTrace::describe_overlaps() const {
    return "Event " + std::to_string(first_overlap_ + 1) +
           " is given memory that a live block covers (" + counted(overlapped_, "block", "blocks") +
           " in all, taken as freed): " +
           (is_whole() ? "frees were recorded late, outside the heap's lock."
                       : "frees are missing.");
}

std::vector<std::string> FrameTrace::notes() const {
    std::vector<std::string> told;
    const auto tell = [&told](std::uint64_t count, const std::string &sentence) {
        if (count != 0) {
            told.push_back(sentence);
        }
    };
    tell(!about_ || about_->pointer_bits == 0,
         "No header frame is in the log: times and the heap's place are unknown.");
    tell(about_ ? about_->live : 0, counted(about_ ? about_->live : 0, "block was", "blocks were") +
                                        " live when the recorder began: unknown here.");
    tell(about_ ? about_->flags & flag_rounded : 0,
         "Sizes are those of blocks, which the heap had rounded up: requests may be less.");
    tell(cut_, "The log begins after " + counted(cut_, "event", "events") + " of the recording.");
    tell(missing_, counted(missing_, "event is", "events are") + " missing in " +
                       counted(gaps_, "place", "places") +
                       ": double HFIT_RECORD_RING_SIZE, unless the line lost frames. A block whose "
                       "free is missing counts as live, one whose request is missing does not.");
    tell(overlapped_, describe_overlaps());
    tell(unknown_resizes_,
         counted(unknown_resizes_, "allocation", "allocations") + " known by a later resize only.");
    tell(refused_, counted(refused_, "request", "requests") +
                       " that the heap refused left out, the largest of " +
                       std::to_string(largest_refused_) + " bytes.");
    tell(repeated_, counted(repeated_, "frame", "frames") + " left out as told before.");
    tell(damaged_, counted(damaged_, "damaged frame", "damaged frames") + " left out.");
    tell(is_over_, "The device began another recording: what follows is left out.");
    tell(other_bytes_, counted(other_bytes_, "byte", "bytes") + " of other text passed over.");
    const std::vector<std::string> dropped = builder_.notes();
    told.insert(told.end(), dropped.begin(), dropped.end());
    return told;
}

} // namespace heapfit
