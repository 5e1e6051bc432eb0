// SPDX-License-Identifier: Apache-2.0
// Columns of a trace as numpy arrays that own the engine's vectors: nothing is copied.
#pragma once

#include <string>
#include <utility>

#include "arrays.hpp"
#include "heapfit/trace/builder.hpp"

namespace heapfit::bindings {

using Columns = nanobind::typed<nanobind::dict, nanobind::str, nanobind::any>;

inline Columns to_dict(TraceColumns &&columns) {
    Columns arrays;
    arrays["op"] = to_array(std::move(columns.op));
    arrays["object"] = to_array(std::move(columns.object));
    arrays["size"] = to_array(std::move(columns.size));
    arrays["alignment"] = to_array(std::move(columns.alignment));
    arrays["time"] = to_array(std::move(columns.time));
    arrays["thread"] = to_array(std::move(columns.thread));
    arrays["site"] = to_array(std::move(columns.site));
    if (!columns.needs.empty()) {
        arrays["needs"] = to_array(std::move(columns.needs));
    }
    if (!columns.served.empty()) {
        arrays["served"] = to_array(std::move(columns.served));
    }
    return arrays;
}

} // namespace heapfit::bindings
