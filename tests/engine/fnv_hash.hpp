// SPDX-License-Identifier: Apache-2.0
// FNV-1a over numbers, for results that are the same on every machine and are pinned by it.
#pragma once

#include <cstdint>
#include <span>

namespace heapfit::test {

class FnvHash {
  public:
    // The number's lowest `bytes` bytes, the lowest first.
    void mix(std::uint64_t value, int bytes = 8) {
        for (int i = 0; i < bytes; i++) {
            hash_ = (hash_ ^ (value >> (8 * i) & 0xff)) * 0x100000001b3;
        }
    }

    // Numbers as they are, each at once.
    void mix_words(std::span<const std::uint64_t> words) {
        for (const std::uint64_t word : words) {
            hash_ = (hash_ ^ word) * 0x100000001b3;
        }
    }

    [[nodiscard]] std::uint64_t value() const { return hash_; }

  private:
    std::uint64_t hash_ = 0xcbf29ce484222325;
};

} // namespace heapfit::test
