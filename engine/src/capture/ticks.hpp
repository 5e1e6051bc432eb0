// SPDX-License-Identifier: Apache-2.0
// Ticks of a pcapng interface as microseconds of its epoch.
#pragma once

#include <cstdint>
#include <optional>

namespace heapfit {

// `resolution` is if_tsresol: a tick is 10^-n s, or 2^-n s where bit 7 is set. Ticks count as
// signed, unlike in the specification: there are files with times just before their epoch, and the
// other reading puts them half a million years ahead. Nothing if the result is not within 2^62 us.
[[nodiscard]] std::optional<std::int64_t> ticks_to_us(std::uint64_t ticks, std::uint8_t resolution,
                                                      std::int64_t offset_seconds);

} // namespace heapfit
