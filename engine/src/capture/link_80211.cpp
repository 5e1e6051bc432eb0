// SPDX-License-Identifier: Apache-2.0
// 802.11 data frames carry LLC/SNAP behind a header whose size its first two bytes tell:
//
//   | control 2 | duration 2 | addresses 18 | sequence 2 | address 4: 6 | QoS 2 | HT 4 | LLC ...
//                                                          to and from DS  subtype  order bit
#include "capture/link_80211.hpp"

#include "capture/bytes.hpp"
#include "capture/network_layer.hpp"

namespace heapfit {

namespace {

enum : std::uint8_t {
    version_and_type_bits = 0x0f,
    data_type = 0x08,      // of version 0
    no_payload_bit = 0x40, // null frames
    qos_bit = 0x80,
    both_ds_bits = 0x03, // a relayed frame with four addresses
    protected_bit = 0x40,
    order_bit = 0x80, // with QoS: an HT control field
};

// Where LLC begins in a data frame at `start` that has a payload.
std::size_t payload_offset(const std::uint8_t *control, std::size_t start, bool is_padded) {
    const bool has_qos = (control[0] & qos_bit) != 0;
    std::size_t header = 24;
    header += (control[1] & both_ds_bits) == both_ds_bits ? 6 : 0;
    header += has_qos ? 2 : 0;
    header += has_qos && (control[1] & order_bit) != 0 ? 4 : 0;
    return start + (is_padded ? (header + 3) & ~std::size_t{3} : header);
}

IpPlace ip_in_data_frame(FrameBytes frame, std::size_t start, bool is_padded) {
    if (frame.size() < start + 2) {
        return {};
    }
    const std::uint8_t *const control = &frame[start];
    if ((control[0] & version_and_type_bits) != data_type || (control[0] & no_payload_bit) != 0) {
        return {};
    }
    if ((control[1] & protected_bit) != 0) {
        return {IpPlace::Kind::encrypted, 0};
    }
    return follow_ethertype(frame, payload_offset(control, start, is_padded), llc_follows);
}

// Whether radiotap's flags field says that the 802.11 header is padded to a multiple of 4. The
// flags follow the words of presence bits (bit 31: another one) and the time stamp of 8 bytes.
bool is_header_padded(FrameBytes radiotap) {
    constexpr std::uint32_t timestamp_bit = 1, flags_bit = 2, another_word = 1U << 31;
    constexpr std::uint8_t data_pad_flag = 0x20;
    const std::uint32_t present = load32(&radiotap[4], std::endian::little);
    std::size_t offset = 4;
    std::uint32_t word = 0;
    do {
        if (radiotap.size() < offset + 4) {
            return false;
        }
        word = load32(&radiotap[offset], std::endian::little);
        offset += 4;
    } while ((word & another_word) != 0);
    if ((present & timestamp_bit) != 0) {
        offset = ((offset + 7) & ~std::size_t{7}) + 8;
    }
    return (present & flags_bit) != 0 && offset < radiotap.size() &&
           (radiotap[offset] & data_pad_flag) != 0;
}

} // namespace

IpPlace ip_in_80211(FrameBytes frame) {
    return ip_in_data_frame(frame, 0, false);
}

IpPlace ip_in_radiotap(FrameBytes frame) {
    if (frame.size() < 8 || frame[0] != 0) {
        return {};
    }
    const std::size_t length = load16(&frame[2], std::endian::little);
    if (length < 8 || length > frame.size()) {
        return {};
    }
    return ip_in_data_frame(frame, length, is_header_padded(frame.first(length)));
}

} // namespace heapfit
