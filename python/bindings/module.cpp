// SPDX-License-Identifier: Apache-2.0
// heapfit._engine: each engine header has one source here with one bind_ function.
#include <nanobind/nanobind.h>

namespace heapfit::bindings {
}

NB_MODULE(_engine, module) {
    module.doc() = "The heapfit engine: replay, search, profile and readers, without any file of its own.";
}
