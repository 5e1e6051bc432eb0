/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes all of a generated heap of 4 KiB: its handler gives room once, and then there is none.
 * With exceptions ends with 0 once they were thrown, without by std::abort; with an argument the
 * last handler does not return. Any other code names the step that went wrong.
 */
#include "app_heap.hpp"

#include <cstdlib>
#include <vector>

namespace {

void *kept = ::operator new(2000); // before main
int calls;

void give_room() {
    calls++;
    ::operator delete(kept);
    kept = nullptr;
    std::set_new_handler(nullptr);
}

[[noreturn]] void leave() {
    std::_Exit(42);
}

#if defined(__cpp_exceptions)
template <class Work> bool throws(Work work) {
    try {
        work();
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

int end() {
    const bool refuses_overflow =
        throws([] { (void)!app_heap::allocator<long>().allocate(SIZE_MAX / 4); });
    return refuses_overflow && throws([] { ::operator delete(::operator new(3000)); }) ? 0 : 6;
}
#else
int end() {
    ::operator delete(::operator new(3000));
    return 6;
}
#endif

} // namespace

int main(int count, char **) {
    std::vector<char, app_heap::allocator<char>> many;
    if (::operator new(3000, std::nothrow) != nullptr) {
        return 3;
    }
    std::set_new_handler(give_room);
    many.reserve(3000);
    if (calls != 1 || kept != nullptr) {
        return 4;
    }
    if (::operator new[](3000, std::nothrow) != nullptr) {
        return 5;
    }
    if (count > 1) {
        std::set_new_handler(leave);
    }
    return end();
}
