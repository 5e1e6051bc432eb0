// SPDX-License-Identifier: Apache-2.0
#include "heapfit/capture/ends.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include "capture/bytes.hpp"
#include "heapfit/error.hpp"

namespace heapfit {

namespace {

constexpr std::size_t ipv4_size = 4, mac_size = 6, ipv6_size = 16;

// Numbers of a base between separators, each at most `most`; nullopt if the text is not just that.
std::optional<std::vector<unsigned>> numbers(std::string_view text, char separator, int base,
                                             unsigned most) {
    std::vector<unsigned> list;
    while (!text.empty() || list.empty()) {
        const std::string_view part = text.substr(0, text.find(separator));
        const bool is_last = part.size() == text.size();
        unsigned value = 0;
        const auto [rest, problem] =
            std::from_chars(part.data(), part.data() + part.size(), value, base);
        const bool is_number = problem == std::errc{} && rest == part.data() + part.size();
        if (!is_number || value > most || part.size() + 1 == text.size()) {
            return std::nullopt;
        }
        list.push_back(value);
        text.remove_prefix(is_last ? text.size() : part.size() + 1);
    }
    return list;
}

// Eight groups of two bytes, of which "::" leaves out those that are 0.
std::optional<Address> parsed_ipv6(std::string_view text) {
    const std::size_t gap = text.find("::");
    const std::string_view halves[] = {
        text.substr(0, gap), gap == text.npos ? std::string_view{} : text.substr(gap + 2)};
    std::vector<unsigned> sides[2];
    for (std::size_t i = 0; i < 2; ++i) {
        const auto side =
            halves[i].empty() ? std::vector<unsigned>{} : numbers(halves[i], ':', 16, UINT16_MAX);
        if (!side) {
            return std::nullopt;
        }
        sides[i] = *side;
    }
    const std::size_t told = sides[0].size() + sides[1].size(), groups = ipv6_size / 2;
    if (gap == text.npos ? told != groups : told >= groups) {
        return std::nullopt;
    }
    sides[0].resize(groups - sides[1].size());
    sides[0].insert(sides[0].end(), sides[1].begin(), sides[1].end());
    Address address;
    for (const unsigned group : sides[0]) {
        address.push_back(static_cast<std::uint8_t>(group >> 8));
        address.push_back(static_cast<std::uint8_t>(group & 0xff));
    }
    return address;
}

bool is_address(FrameBytes bytes, const Address &address) {
    return std::ranges::equal(bytes, address);
}

// Multicast and broadcast; nobody (0.0.0.0) where a host has no address yet.
bool is_of_many(FrameBytes address) {
    constexpr std::uint8_t mac_group_bit = 1, all = 0xff, first_multicast = 224;
    switch (address.size()) {
    case ipv4_size:
        return address[0] >= first_multicast;
    case mac_size:
        return (address[0] & mac_group_bit) != 0;
    default:
        return !address.empty() && address[0] == all;
    }
}

bool is_nobody(FrameBytes address) {
    return std::ranges::all_of(address, [](std::uint8_t byte) { return byte == 0; });
}

} // namespace

Address parsed_address(std::string_view text) {
    for (const auto &[separator, base, size] :
         {std::tuple{'.', 10, ipv4_size}, std::tuple{':', 16, mac_size}}) {
        const auto found = numbers(text, separator, base, UINT8_MAX);
        if (found && found->size() == size) {
            return {found->begin(), found->end()};
        }
    }
    if (const auto address = parsed_ipv6(text)) {
        return *address;
    }
    throw Error("\"" + std::string(text.substr(0, 60)) +
                "\" is no address (10.0.0.1, fe80::1 and 02:00:5e:10:00:01 are)");
}

std::string address_text(const Address &address) {
    const bool is_ipv4 = address.size() == ipv4_size;
    const std::size_t step = address.size() == ipv6_size ? 2 : 1;
    std::string text;
    for (std::size_t i = 0; i < address.size(); i += step) {
        const unsigned value =
            step == 2 ? address[i] * 256U + address[i + 1] : unsigned{address[i]};
        char digits[4];
        const auto end = std::to_chars(digits, digits + sizeof digits, value, is_ipv4 ? 10 : 16);
        text += i == 0 ? "" : is_ipv4 ? "." : ":";
        text += address.size() == mac_size && value < 16 ? "0" : "";
        text.append(digits, end.ptr);
    }
    return text;
}

PacketEnds ip_ends(FrameBytes frame, IpPlace place) {
    const bool is_ipv4 = place.kind == IpPlace::Kind::ipv4;
    const std::size_t size = is_ipv4 ? ipv4_size : ipv6_size;
    const std::size_t source = place.offset + (is_ipv4 ? 12 : 8);
    if ((!is_ipv4 && place.kind != IpPlace::Kind::ipv6) || frame.size() < source + 2 * size) {
        return {};
    }
    return {frame.subspan(source, size), frame.subspan(source + size, size)};
}

PacketEnds ethernet_ends(FrameBytes frame) {
    return frame.size() < 2 * mac_size
               ? PacketEnds{}
               : PacketEnds{frame.subspan(mac_size, mac_size), frame.first(mac_size)};
}

bool DeviceSide::takes(const PacketEnds &ip, const PacketEnds &ethernet) const {
    if (device.empty()) {
        return true;
    }
    const PacketEnds &ends = device.size() == mac_size ? ethernet : ip;
    if (is_sender || is_address(ends.source, device)) {
        return is_sender && is_address(ends.source, device);
    }
    return is_address(ends.destination, device) || is_of_many(ends.destination) ||
           is_of_many(ethernet.destination);
}

void CommonAddresses::add(const PacketEnds &ends) {
    if (ends.source.empty() || is_of_many(ends.destination) || is_nobody(ends.source)) {
        return;
    }
    if (!is_begun_) {
        is_begun_ = true;
        list_.assign({{ends.source.begin(), ends.source.end()},
                      {ends.destination.begin(), ends.destination.end()}});
        return;
    }
    std::erase_if(list_, [&](const Address &one) {
        return !is_address(ends.source, one) && !is_address(ends.destination, one);
    });
}

} // namespace heapfit
