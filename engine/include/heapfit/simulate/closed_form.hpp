// SPDX-License-Identifier: Apache-2.0
// How often pools refuse Poisson arrivals, without simulation. Both formulas hold for every
// distribution of holding times with the mean that `offered` was made of.
//
// Offered traffic is in erlangs: arrivals per unit of time, times the mean holding time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heapfit {

// Erlang's loss formula: the share of requests that find all `servers` busy. One step a server; the
// recurrence has positive terms only, so no precision is lost. Throws Error on a negative or
// infinite offer or NaN.
[[nodiscard]] double erlang_b(std::uint64_t servers, double offered);

// Kaufman 1981, Roberts 1981: requests of class k take demand[k] of `units` together, or are
// refused; the share refused of each class. One step for each unit and class. Throws Error unless
// demands are 1 or more, offers are not negative and finite, and there is one offer for each
// demand; and above 2^26 units.
[[nodiscard]] std::vector<double> kaufman_roberts(std::uint64_t units,
                                                  std::span<const std::uint64_t> demand,
                                                  std::span<const double> offered);

} // namespace heapfit
