// SPDX-License-Identifier: Apache-2.0
// The one exception of the engine: bad input, told as "what: where: what is wrong (and what to
// do)".
#pragma once

#include <stdexcept>

namespace heapfit {

struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace heapfit
