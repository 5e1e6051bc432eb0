// SPDX-License-Identifier: Apache-2.0
// Which blocks to keep so that what is freed between them serves nobody.
//
//   | kept |  freed  | kept |   freed   | kept |
//            < hole             < hole
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "adversary/limited_program.hpp"

namespace heapfit {

// Of blocks by ascending address, those of the fewest bytes in all between which no gap of `hole`
// bytes or more comes to be, the last block among them: true for each that is kept. Gaps that are
// there already stay. Linear in the blocks.
[[nodiscard]] std::vector<bool> fewest_kept(std::span<const PlacedBlock> blocks,
                                            std::uint64_t hole);

} // namespace heapfit
