// SPDX-License-Identifier: Apache-2.0
// Sums and quotients of doubles in a fixed order, so that the table is the same on every machine.
#include "heapfit/workload/alias_table.hpp"

#include <cmath>
#include <string>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

double sum_of(std::span<const double> weights, std::string_view what) {
    const auto refuse = [what](const std::string &problem) {
        throw Error(std::string(what) + ": " + problem);
    };
    if (weights.empty() || weights.size() > UINT32_MAX) {
        refuse("there must be 1 to 2^32 - 1 of them");
    }
    double sum = 0;
    for (const double weight : weights) {
        if (!std::isfinite(weight) || weight < 0) {
            refuse(std::to_string(weight) + " is no weight (it must be 0 or more, and finite)");
        }
        sum += weight;
    }
    if (!std::isfinite(sum) || sum <= 0) {
        refuse("the sum of all is " + std::to_string(sum) + " (it must be above 0, and finite)");
    }
    return sum;
}

} // namespace

AliasTable::AliasTable(std::span<const double> weights, std::string_view what) {
    const double sum = sum_of(weights, what);
    const auto count = static_cast<double>(weights.size());
    std::vector<double> share; // of the average
    std::vector<std::uint32_t> below, above;
    for (const double weight : weights) {
        share.push_back(weight / sum * count);
        (share.back() < 1 ? below : above).push_back(static_cast<std::uint32_t>(share.size() - 1));
    }
    for (std::uint32_t i = 0; i < weights.size(); ++i) {
        columns_.push_back({1ULL << 53, i});
    }
    while (!below.empty() && !above.empty()) { // what one lacks another one has to spare
        const std::uint32_t small = below.back();
        const std::uint32_t large = above.back();
        below.pop_back();
        columns_[small] = {static_cast<std::uint64_t>(share[small] * 0x1p53), large};
        share[large] -= 1 - share[small];
        if (share[large] < 1) {
            above.pop_back();
            below.push_back(large);
        }
    }
}

} // namespace heapfit
