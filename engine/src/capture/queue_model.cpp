// SPDX-License-Identifier: Apache-2.0
#include "heapfit/capture/queue_model.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <locale>
#include <optional>
#include <sstream>
#include <string>

#include "heapfit/capture/packets.hpp"
#include "heapfit/error.hpp"

namespace heapfit {

namespace {

using Model = std::variant<FillAndDrain, FifoServer, LinkServer, HoldingTime>;

constexpr std::uint64_t ns_per_us = 1000;
constexpr Tick long_gap_as_us = 1'000'000;
constexpr Tick time_end_us = Tick{1} << 63;
constexpr double slowest_rate = 0.001, fastest_rate = 1e9;       // packets a second: 1000 s to 1 ns
constexpr double slowest_link = 1e3, fastest_link = 1e12;        // bits a second
constexpr double lowest_scale = 0.001, highest_scale = 1000;     // of the arrivals
constexpr std::uint64_t longest_hold_us = 1'000'000'000'000'000; // 31 years

[[noreturn]] void refuse(std::string_view text) {
    throw Error("queue model: \"" + std::string(text.substr(0, 60)) +
                "\" is none (use fill-drain:N, fifo:RATE with 0.001 to 1e9 packets a second, "
                "link:BITS_PER_S with 1e3 to 1e12, hold:fixed:TIME or hold:exp:MEAN[:SEED] with "
                "at most 1e15 us, as 10ms; behind it ,to=ADDRESS or ,from=ADDRESS of a device; "
                ",rate=2)");
}

template <class Number> std::optional<Number> parsed_number(std::string_view text) {
    Number value{};
    const char *const end = text.data() + text.size();
    const auto [rest, problem] = std::from_chars(text.data(), end, value);
    return problem == std::errc{} && rest == end ? std::optional(value) : std::nullopt;
}

// Not by from_chars, which libc++ has for whole numbers alone; of its forms, with no sign before.
template <> std::optional<double> parsed_number<double>(std::string_view text) {
    double value = 0;
    std::istringstream stream{std::string(text)};
    stream.imbue(std::locale::classic());
    const bool begins = !text.empty() && (text[0] == '.' || (text[0] >= '0' && text[0] <= '9'));
    const bool is_decimal = text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
    return begins && is_decimal && stream >> value && stream.peek() == std::char_traits<char>::eof()
               ? std::optional(value)
               : std::nullopt;
}

// The number that is all of `text`, if it lies in the range.
template <class Number> Number number(std::string_view text, Number lowest, Number highest) {
    const std::optional<Number> value = parsed_number<Number>(text);
    if (!value || !(*value >= lowest && *value <= highest)) {
        refuse(text);
    }
    return *value;
}

// A number whose last letter may multiply it: 10k, 2.5M.
double scaled_number(std::string_view text, double lowest, double highest) {
    constexpr std::string_view letters = "kMG";
    const std::size_t power = text.empty() ? letters.npos : letters.find(text.back());
    const bool is_scaled = power != letters.npos;
    const double factor = is_scaled ? std::pow(1e3, static_cast<double>(power + 1)) : 1;
    text.remove_suffix(is_scaled ? 1 : 0);
    return factor * number(text, lowest / factor, highest / factor);
}

// Whole microseconds: of 500us, 10ms, 0.5s, or of a number without a unit.
std::uint64_t duration_us(std::string_view text) {
    constexpr std::pair<std::string_view, double> units[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}};
    for (const auto &[unit, us] : units) {
        if (text.ends_with(unit)) {
            text.remove_suffix(unit.size());
            return static_cast<std::uint64_t>(
                std::llround(us * number(text, 0.0, static_cast<double>(longest_hold_us) / us)));
        }
    }
    return number<std::uint64_t>(text, 0, longest_hold_us);
}

Model exponential_hold(std::string_view arguments) {
    const std::size_t colon = std::min(arguments.find(':'), arguments.size());
    const auto mean = duration_us(arguments.substr(0, colon));
    const auto seed = colon == arguments.size()
                          ? std::uint64_t{0}
                          : number<std::uint64_t>(arguments.substr(colon + 1), 0, UINT64_MAX);
    return HoldingTime{false, mean, seed};
}

Model parsed(std::string_view text) {
    const auto after = [&](std::string_view name) { return text.substr(name.size()); };
    if (constexpr std::string_view name = "fill-drain:"; text.starts_with(name)) {
        return FillAndDrain{number<std::uint32_t>(after(name), 1, UINT32_MAX)};
    }
    if (constexpr std::string_view name = "fifo:"; text.starts_with(name)) {
        const double rate = scaled_number(after(name), slowest_rate, fastest_rate);
        return FifoServer{static_cast<std::uint64_t>(std::llround(1e9 / rate))};
    }
    if (constexpr std::string_view name = "link:"; text.starts_with(name)) {
        return LinkServer{scaled_number(after(name), slowest_link, fastest_link)};
    }
    if (constexpr std::string_view name = "hold:fixed:"; text.starts_with(name)) {
        return HoldingTime{true, duration_us(after(name))};
    }
    if (constexpr std::string_view name = "hold:exp:"; text.starts_with(name)) {
        return exponential_hold(after(name));
    }
    refuse(text);
}

// A time from the start where `rate` times as many packets come in a second.
Tick scaled_time(Tick time_us, double rate) {
    const double scaled = static_cast<double>(time_us) / rate;
    return rate == 1                                    ? time_us
           : scaled >= static_cast<double>(time_end_us) ? time_end_us
                                                        : static_cast<Tick>(scaled);
}

} // namespace

void QueueEvents::alloc(ObjectId id, Bytes bytes, Tick at_us) {
    op.push_back(static_cast<std::uint8_t>(Op::alloc));
    object.push_back(id);
    size.push_back(bytes);
    time_us.push_back(at_us);
}

void QueueEvents::reserve(std::size_t events) {
    op.reserve(events);
    object.reserve(events);
    size.reserve(events);
    time_us.reserve(events);
}

void QueueEvents::free(ObjectId id, Tick at_us) {
    op.push_back(static_cast<std::uint8_t>(Op::free));
    object.push_back(id);
    size.push_back(0);
    time_us.push_back(at_us);
}

void FillAndDrain::arrive(const Arrival &arrival, QueueEvents &out) {
    out.alloc(arrival.object, arrival.size, arrival.time_us);
    if (++queued_ < count_) {
        return;
    }
    for (ObjectId object = arrival.object - (count_ - 1); queued_ > 0; --queued_) {
        out.free(object++, arrival.time_us);
    }
}

void FifoServer::arrive(const Arrival &arrival, QueueEvents &out) {
    const Tick gap_us = arrival.time_us - last_us_;
    const std::uint64_t served_ns = (gap_us > long_gap_us ? long_gap_as_us : gap_us) * ns_per_us;
    while (oldest_ != next_ && left_ns_ <= served_ns) {
        out.free(oldest_++, last_us_ + left_ns_ / ns_per_us);
        left_ns_ += service_ns_;
    }
    left_ns_ = oldest_ == next_ ? service_ns_ : left_ns_ - served_ns;
    last_us_ = arrival.time_us;
    next_ = arrival.object + 1;
    out.alloc(arrival.object, arrival.size, arrival.time_us);
}

void FifoServer::finish(QueueEvents &out) {
    while (oldest_ != next_) {
        last_us_ += left_ns_ / ns_per_us;
        left_ns_ %= ns_per_us;
        out.free(oldest_++, last_us_);
        left_ns_ += service_ns_;
    }
}

void LinkServer::release_oldest(QueueEvents &out) {
    out.free(queue_.front().second, queue_.front().first);
    queue_.pop();
}

void LinkServer::arrive(const Arrival &arrival, QueueEvents &out) {
    while (!queue_.empty() && queue_.front().first <= arrival.time_us) {
        release_oldest(out);
    }
    out.alloc(arrival.object, arrival.size, arrival.time_us);
    if (idle_us_ < arrival.time_us) {
        idle_us_ = arrival.time_us;
        idle_ns_ = 0;
    }
    idle_ns_ +=
        static_cast<std::uint64_t>(std::llround(static_cast<double>(arrival.size) * ns_per_byte_));
    idle_us_ += idle_ns_ / ns_per_us;
    idle_ns_ %= ns_per_us;
    queue_.emplace(idle_us_, arrival.object);
}

void LinkServer::finish(QueueEvents &out) {
    while (!queue_.empty()) {
        release_oldest(out);
    }
}

void HoldingTime::release_oldest(QueueEvents &out) {
    out.free(queue_.top().second, queue_.top().first);
    queue_.pop();
}

void HoldingTime::arrive(const Arrival &arrival, QueueEvents &out) {
    while (!queue_.empty() && queue_.top().first <= arrival.time_us) {
        release_oldest(out);
    }
    out.alloc(arrival.object, arrival.size, arrival.time_us);
    const std::uint64_t hold_us = is_fixed_ ? mean_us_ : random_.exponential(mean_us_);
    queue_.emplace(arrival.time_us + hold_us, arrival.object);
}

void HoldingTime::finish(QueueEvents &out) {
    while (!queue_.empty()) {
        release_oldest(out);
    }
}

QueueModel::QueueModel(std::string_view text) : model_(parsed(text.substr(0, text.find(',')))) {
    for (std::size_t comma = text.find(','); comma != text.npos;) {
        const std::size_t next = text.find(',', comma + 1);
        take_choice(text.substr(comma + 1, next - comma - 1));
        comma = next;
    }
}

void QueueModel::take_choice(std::string_view choice) {
    const std::size_t sign = std::min(choice.find('='), choice.size());
    const std::string_view name = choice.substr(0, sign);
    const std::string_view value = choice.substr(std::min(sign + 1, choice.size()));
    if (name == "rate") {
        rate_ = number(value, lowest_scale, highest_scale);
    } else if ((name == "to" || name == "from") && side_.device.empty()) {
        side_ = {parsed_address(value), name == "from"};
    } else {
        refuse(choice);
    }
}

QueueEvents QueueModel::feed(std::span<const Tick> time_us, std::span<const std::uint32_t> size) {
    QueueEvents out;
    out.reserve(2 * size.size()); // most are freed before the next chunk
    const auto arrive_all = [&](auto &model) {
        for (std::size_t i = 0; i < time_us.size(); ++i) {
            const Tick at_us = scaled_time(time_us[i], rate_);
            if (at_us < last_us_ || at_us >= time_end_us || arrivals_ == UINT32_MAX) {
                throw Error("queue model: packet " + std::to_string(std::uint64_t{arrivals_} + 1) +
                            ": its time decreases or reaches 2^63, or it is the 2^32nd");
            }
            last_us_ = at_us;
            model.arrive({arrivals_++, size[i], last_us_}, out);
        }
    };
    if (time_us.size() != size.size()) {
        throw Error("queue model: " + std::to_string(time_us.size()) + " times for " +
                    std::to_string(size.size()) + " sizes");
    }
    std::visit(arrive_all, model_);
    return out;
}

QueueEvents QueueModel::finish() {
    QueueEvents out;
    std::visit([&out](auto &model) { model.finish(out); }, model_);
    return out;
}

} // namespace heapfit
