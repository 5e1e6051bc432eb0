// SPDX-License-Identifier: Apache-2.0
// numpy arrays in and out: a column read without copying, a vector handed over without copying.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace heapfit::bindings {

// A contiguous one-dimensional array of T that the call only reads.
template <typename T>
using Column =
    nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

template <typename T> std::span<const T> as_span(const Column<T> &column) {
    return {column.data(), column.size()};
}

// A one-dimensional numpy array.
template <typename T> using Array = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;

// A numpy array that owns `values`.
template <typename T> Array<T> to_array(std::vector<T> values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T *data = owned->data();
    const std::size_t count = owned->size();
    const nanobind::capsule owner(owned.release(), [](void *pointer) noexcept {
        delete static_cast<std::vector<T> *>(pointer);
    });
    return Array<T>(data, {count}, owner);
}

} // namespace heapfit::bindings
