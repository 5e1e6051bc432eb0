// SPDX-License-Identifier: Apache-2.0
// Whether what several threads do is over. A std::stop_token without a thread of its own, since
// libc++ has that and std::jthread from version 20 on alone.
#pragma once

#include <atomic>

namespace heapfit {

// A view of a flag that outlives it; one without a flag never asks to stop.
class Stop {
  public:
    Stop() = default;
    explicit Stop(const std::atomic<bool> &flag) : flag_(&flag) {}

    [[nodiscard]] bool is_requested() const {
        return flag_ != nullptr && flag_->load(std::memory_order_relaxed);
    }

  private:
    const std::atomic<bool> *flag_ = nullptr;
};

} // namespace heapfit
